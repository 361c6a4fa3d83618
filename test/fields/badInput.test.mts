import type { ICredentialDataDecryptedObject } from 'n8n-workflow';
import { useBench } from '../../testbed/jest.mts';
import { jsonOf, pairedItemsOf } from '../../testbed/output.mts';


const bench = useBench();

const bySerialNumber = (value: unknown) => ({ __rl: true, mode: 'sn', value });
const get = { resource: 'device', operation: 'get', device: bySerialNumber('RT1') };
const getMany = { resource: 'device', operation: 'getAll' };
const count = { resource: 'device', operation: 'count' };
const request = { resource: 'api', operation: 'request', path: '/api/version' };

/** In an expression, the field `bad` of the item; no item has a field `nothing`. */
const HALF_A_CHARACTER = '\ud83d';

interface BadField {
	field: string;
	parameters: Record<string, unknown>;
	message: string;
}

const withFilters = (filters: Record<string, unknown>) => ({ ...getMany, filters });
const attribute = (key: unknown, value: unknown) => withFilters({ attributes: { pair: [{ key, value }] } });
const parameter = (name: unknown, value: unknown = '1') => withFilters({ query: { parameter: [{ name, value }] } });
const sortedBy = (rule: Record<string, unknown>) => ({ ...getMany, sort: { rule: [rule] } });

/** Whole numbers that became others before the node saw them: nobody asks for the device that they name. */
const LONG_NUMBERS = ['89882110000003456789', '9007199254740992', '-9007199254740993', '8.98e+21'];

const WRONG_KIND = 'holds a value of the wrong kind';
const COMPOSITE_STATUS = "'Composite Status' is not a whole number from -2147483648 to 2147483647";
const LIMIT = "'Limit' is not a whole number of 1 or more";

const BAD_FIELDS: readonly BadField[] = [
	...[' ', '={{ $json.nothing }}', '={{ null }}', '={{ "\\n" }}'].map((value) => ({
		field: `Device ${JSON.stringify(value)}`,
		parameters: { ...get, device: bySerialNumber(value) },
		message: "The serial number in 'Device' is empty",
	})),
	...['.', '..', ' .. ', '../../version', '..\\..\\x', 'a/../b', '%252e%252e'].map((value) => ({
		field: `Device ${JSON.stringify(value)}`,
		parameters: { ...get, device: bySerialNumber(value) },
		message: `The serial number "${value.trim()}" in 'Device' can't be part of an address`,
	})),
	...['={{ {} }}', '={{ ["RT1"] }}'].map((value) => ({
		field: `Device ${value}`,
		parameters: { ...get, device: bySerialNumber(value) },
		message: `'Device' ${WRONG_KIND}`,
	})),
	{
		field: 'Device with half a character',
		parameters: { ...get, device: bySerialNumber(`RT${HALF_A_CHARACTER}`) },
		message: "The text of 'Device' ends or begins in the middle of a character",
	},
	{ field: 'If Not Found', parameters: { ...get, options: { ifNotFound: 'ignore' } }, message: `'If Not Found' ${WRONG_KIND}` },

	{ field: 'Return All', parameters: { ...getMany, returnAll: '={{ "yes" }}' }, message: `'Return All' ${WRONG_KIND}` },
	...[0, -1, 1.5, '={{ "many" }}', '={{ "" }}', '={{ null }}', '={{ $json.nothing }}', '={{ [5] }}', '={{ Infinity }}', '={{ NaN }}'].map(
		(limit) => ({ field: `Limit ${limit}`, parameters: { ...getMany, limit }, message: LIMIT }),
	),
	...[get, getMany].flatMap((operation) => [
		{ field: `Output of ${operation.operation}`, parameters: { ...operation, output: 'everything' }, message: `'Output' ${WRONG_KIND}` },
		{
			field: `Fields of ${operation.operation}`,
			parameters: { ...operation, output: 'selected', fields: '={{ "sn" }}' },
			message: `'Fields' ${WRONG_KIND}`,
		},
	]),

	...[1.5, 2 ** 31, -(2 ** 31) - 1, '={{ "online" }}', '={{ true }}', '={{ [1] }}'].map((compositeStatus) => ({
		field: `Composite Status ${compositeStatus}`,
		parameters: withFilters({ compositeStatus }),
		message: COMPOSITE_STATUS,
	})),
	{ field: 'Composite Status of a count', parameters: { ...count, filters: { compositeStatus: 0.1 } }, message: COMPOSITE_STATUS },
	...[getMany, count].flatMap((operation) =>
		[
			['compositeStatus', 'Composite Status'],
			['name', 'Name'],
			['tags', 'Tags'],
			['body', 'Search Criteria (JSON)'],
		].flatMap(([name = '', label]) =>
			['={{ $json.nothing }}', '={{ null }}', '', ' ', '={{ $json.nothing ?? "" }}', '={{ [] }}'].map((value) => ({
				field: `${label} ${JSON.stringify(value)} of ${operation.operation}`,
				parameters: { ...operation, filters: { [name]: value } },
				message: `'${label}' under 'Filters' has no value`,
			})),
		),
	),
	...(
		[
			['tags', '={{ [""] }}', 'Tags'],
			['tags', '={{ ["a", $json.nothing] }}', 'Tags'],
			['tags', ' , ,', 'Tags'],
			['attributes', {}, 'Attributes'],
			['attributes', { pair: [] }, 'Attributes'],
			['query', { parameter: [] }, 'Query Parameters'],
		] as const
	).map(([name, value, label]) => ({
		field: `${label} ${JSON.stringify(value)}`,
		parameters: withFilters({ [name]: value }),
		message: `'${label}' under 'Filters' has no value`,
	})),
	{
		field: 'Query Parameters without a value',
		parameters: withFilters({ query: { parameter: [{ name: 'site', value: '={{ $json.nothing }}' }] } }),
		message: 'The parameter "site" under \'Query Parameters\' has no value',
	},
	{ field: 'Name from an object', parameters: withFilters({ name: '={{ {} }}' }), message: `'Name' ${WRONG_KIND}` },
	{
		field: 'Name with half a character',
		parameters: withFilters({ name: HALF_A_CHARACTER }),
		message: "The text of 'Name' ends or begins in the middle of a character",
	},
	...['={{ {} }}', '={{ [{}] }}'].map((tags) => ({
		field: `Tags ${tags}`,
		parameters: withFilters({ tags }),
		message: `'Tags' ${WRONG_KIND}`,
	})),
	{
		field: 'Tags from a list, one with a comma',
		parameters: withFilters({ tags: '={{ ["a", "b,c"] }}' }),
		message: 'The tag "b,c" under \'Tags\' contains a comma',
	},
	{
		field: 'Tags with half a character',
		parameters: withFilters({ tags: HALF_A_CHARACTER }),
		message: "The text of 'Tags' ends or begins in the middle of a character",
	},
	{
		field: 'Attributes: a comma in the value',
		parameters: attribute('site', 'Hamburg, hall 3'),
		message: 'The value of the attribute "site" under \'Attributes\' contains a comma',
	},
	...['', ' ', '={{ $json.nothing }}'].map((value) => ({
		field: `Attributes: the value ${JSON.stringify(value)}`,
		parameters: attribute('site', value),
		message: 'The attribute "site" under \'Attributes\' has no value',
	})),
	{
		field: 'Attributes: a space in the key',
		parameters: attribute('my site', 'x'),
		message: '"my site", a key under \'Attributes\', contains a space',
	},
	{
		field: 'Attributes: a comma in the key',
		parameters: attribute('site,floor', 'x'),
		message: '"site,floor", a key under \'Attributes\', contains a comma',
	},
	{ field: 'Attributes: no key', parameters: attribute(' ', 'x'), message: "There is a key under 'Attributes' that is empty" },
	{ field: 'Attributes: an object as key', parameters: attribute('={{ {} }}', 'x'), message: `'Attributes' ${WRONG_KIND}` },
	{
		field: 'Attributes: half a character',
		parameters: attribute('site', HALF_A_CHARACTER),
		message: 'The text of the attribute "site" ends or begins in the middle of a character',
	},
	...[
		['{"a": }', 'is not valid JSON'],
		["{'a': 1}", 'is not valid JSON'],
		['={{ "x" }}', 'is not valid JSON'],
		['[1]', 'is not a JSON object'],
		['5', 'is not a JSON object'],
		['null', 'is not a JSON object'],
		['"text"', 'is not a JSON object'],
		['={{ [1] }}', 'is not a JSON object'],
	].map(([body = '', what = '']) => ({
		field: `Search Criteria ${body}`,
		parameters: withFilters({ body }),
		message: `'Search Criteria (JSON)' ${what}`,
	})),
	...['page', 'size', 'sort', ' page '].map((name) => ({
		field: `Query Parameters: ${JSON.stringify(name)}`,
		parameters: parameter(name),
		message: `The parameter "${name.trim()}" under 'Query Parameters' is set by the node itself`,
	})),
	{ field: 'Query Parameters: no name', parameters: parameter(' '), message: "A parameter under 'Query Parameters' has no name" },
	{ field: 'Query Parameters: an object', parameters: parameter('x', '={{ {} }}'), message: `'Query Parameters' ${WRONG_KIND}` },
	{
		field: 'Query Parameters: half a character',
		parameters: parameter('x', HALF_A_CHARACTER),
		message: 'The text of the parameter "x" ends or begins in the middle of a character',
	},

	...['attributes', 'custom'].map((field) => ({
		field: `Sort by ${field} without a name`,
		parameters: sortedBy({ field, attribute: ' ' }),
		message: "There is a field name under 'Sort' that is empty",
	})),
	{
		field: 'Sort by a name with a space',
		parameters: sortedBy({ field: 'custom', attribute: 'sn asc' }),
		message: '"sn asc", a field name under \'Sort\', contains a space',
	},
	{
		field: 'Sort by an attribute with a comma',
		parameters: sortedBy({ field: 'attributes', attribute: 'a,b' }),
		message: '"attributes.a,b", a field name under \'Sort\', contains a comma',
	},
	{ field: 'Sort in no direction', parameters: sortedBy({ field: 'sn', direction: 'up' }), message: `'Sort' ${WRONG_KIND}` },
	{ field: 'Sort by nothing', parameters: sortedBy({ field: '={{ $json.nothing }}' }), message: `'Sort' ${WRONG_KIND}` },

	...(
		[
			[getMany, 'pageSize', 'Page Size', 1, 10_000],
			[getMany, 'parallelRequests', 'Parallel Requests', 1, 16],
			[getMany, 'timeout', 'Timeout', 1, 3_600_000],
			[getMany, 'maxRetries', 'Max Retries', 0, 10],
			[get, 'parallelRequests', 'Parallel Requests', 1, 16],
			[get, 'timeout', 'Timeout', 1, 3_600_000],
			[get, 'maxRetries', 'Max Retries', 0, 10],
			[count, 'timeout', 'Timeout', 1, 3_600_000],
			[request, 'timeout', 'Timeout', 1, 3_600_000],
		] as const
	).flatMap(([operation, name, label, least, most]) =>
		[least - 1, most + 1, least + 0.5, '={{ "some" }}', '={{ null }}', '={{ [1] }}'].map((value) => ({
			field: `${label} ${value} of ${operation.operation}`,
			parameters: { ...operation, options: { [name]: value } },
			message: `'${label}' is not a whole number from ${least} to ${most}`,
		})),
	),

	...[-1, 0.5, 2 ** 53, '={{ "some" }}', '={{ null }}', '={{ [1] }}'].map((value) => ({
		field: `Skip ${value}`,
		parameters: { ...getMany, options: { skip: value } },
		message: "'Skip' is not a whole number of 0 or more",
	})),

	...['https://elsewhere.example/api/version', '//elsewhere.example/api', 'api/version', '/version', '/apis', '={{ $json.nothing }}'].map((path) => ({
		field: `Path ${path}`,
		parameters: { ...request, path },
		message: "'Path' does not begin with /api",
	})),
	...['/api/../admin', '/api/./x', '/api/%2e%2E/x', '/api/..'].map((path) => ({
		field: `Path ${path}`,
		parameters: { ...request, path },
		message: "'Path' contains a segment '.' or '..'",
	})),
	{ field: 'Path with a query', parameters: { ...request, path: '/api/x?a=1' }, message: "'Path' contains a ? or a #" },
	{
		field: 'Path with a space',
		parameters: { ...request, path: '/api/a b' },
		message: "'Path' contains a space, a backslash or a control character",
	},
	{ field: 'Path with a bare %', parameters: { ...request, path: '/api/100%' }, message: "'Path' contains a % that is not an encoding" },
	{ field: 'Path from an object', parameters: { ...request, path: '={{ {} }}' }, message: `'Path' ${WRONG_KIND}` },
	{ field: 'Method', parameters: { ...request, method: 'HEAD' }, message: `'Method' ${WRONG_KIND}` },
	{ field: 'Body', parameters: { ...request, method: 'POST', body: '{' }, message: "'Body' is not valid JSON" },
	...LONG_NUMBERS.flatMap((number) => {
		const given = `={{ ${number} }}`;
		const fields = [
			['Device', { ...get, device: bySerialNumber(given), options: { ifNotFound: 'empty' } }],
			['Name', withFilters({ name: given })],
			['Tags', withFilters({ tags: given })],
			['Tags', withFilters({ tags: `={{ ["a", ${number}] }}` })],
			['Attributes', attribute('iccid', given)],
			['Attributes', attribute(given, 'x')],
			['Query Parameters', parameter('iccid', given)],
			['Query Parameters', parameter(given)],
			['Sort', sortedBy({ field: 'custom', attribute: given })],
			['Search Criteria (JSON)', withFilters({ body: `={{ ({ a: [{ iccid: ${number} }] }) }}` })],
			['Search Criteria (JSON)', withFilters({ body: `{"iccid": ${number}}` })],
			['Path', { ...request, path: given }],
			['Query Parameters', { ...request, query: { parameter: [{ name: 'iccid', value: given }] } }],
			['Body', { ...request, method: 'POST', body: `={{ ({ iccid: ${number} }) }}` }],
		] as const;
		return fields.map(([label, parameters], index) => ({
			field: `${label} (${index}) from the number ${number}`,
			parameters,
			message: `The number in '${label}' has more digits than n8n can keep`,
		}));
	}),
	{
		field: 'Query Parameters of a request: no name',
		parameters: { ...request, query: { parameter: [{ name: '', value: '1' }] } },
		message: "A parameter under 'Query Parameters' has no name",
	},
];

describe('a field that holds what can’t be meant is refused before any request', () => {
	it.each(BAD_FIELDS)('$field: $message', async ({ parameters, message }) => {
		const one = await bench.run(parameters);
		expect(one.error?.message).toBe(message);
		expect(one.error?.description).toMatch(/^[A-Z].{10,}\.$/s);
		expect(bench.platform.requests).toEqual([]);

		const several = await bench.run(parameters, { input: [{}, {}] });
		expect(several.error?.message).toBe(`${message} [item 0]`);
		expect(several.error).toMatchObject({ context: expect.objectContaining({ itemIndex: 0 }) });
		expect(bench.platform.requests).toEqual([]);
	});

	it.each([
		{ field: 'Device', parameters: { ...get, device: bySerialNumber('') } },
		{ field: 'Path', parameters: { ...request, path: '' } },
	])('n8n itself asks for an empty $field before it runs anything', async ({ field, parameters }) => {
		await expect(bench.run(parameters)).rejects.toThrow(`Parameter "${field}" is required`);
	});
});

it('a number whose digits all arrive is taken, and so is a longer one as text', async () => {
	for (const [name, value, arrives] of [
		['number', '={{ 9007199254740991 }}', '9007199254740991'],
		['number', '={{ -9007199254740991 }}', '-9007199254740991'],
		['fraction', '={{ 0.5 }}', '0.5'],
		['text', '={{ "89882110000003456789" }}', '89882110000003456789'],
		['text', '89882110000003456789', '89882110000003456789'],
	] as const) {
		bench.platform.forget();
		const { error } = await bench.run(parameter(name, value));
		expect(error).toBeUndefined();
		expect(bench.platform.requests[0]?.query[name]).toBe(arrives);
	}
	bench.platform.forget();
	await bench.run({ ...request, method: 'POST', path: '/api/echo', body: '{"iccid": "89882110000003456789", "n": [9007199254740991, 1e-9, 1.5]}' });
	expect(bench.platform.requests[0]?.body).toEqual({ iccid: '89882110000003456789', n: [9007199254740991, 1e-9, 1.5] });
});

describe('under “continue” a bad item costs no other one', () => {
	const cases: ReadonlyArray<{ field: string; parameters: Record<string, unknown>; good: unknown; bad: unknown }> = [
		{ field: 'Device', parameters: { ...get, device: bySerialNumber('={{ $json.value }}') }, good: 'RT99046419', bad: '..' },
		{ field: 'Limit', parameters: { ...getMany, limit: '={{ $json.value }}' }, good: 1, bad: 0 },
		{ field: 'Composite Status', parameters: { ...count, filters: { compositeStatus: '={{ $json.value }}' } }, good: 2, bad: 'x' },
		{ field: 'Search Criteria (JSON)', parameters: { ...count, filters: { body: '={{ $json.value }}' } }, good: '{"compositeStatus": 2}', bad: '{' },
		{ field: 'Page Size', parameters: { ...getMany, limit: 1, options: { pageSize: '={{ $json.value }}' } }, good: 10, bad: 0 },
		{ field: 'Parallel Requests', parameters: { ...count, options: { parallelRequests: '={{ $json.value }}' } }, good: 2, bad: 99 },
		{ field: 'Path', parameters: { ...request, path: '={{ $json.value }}' }, good: '/api/version', bad: '/other' },
	];

	it.each(cases)('$field, wherever the bad item stands', async ({ field, parameters, good, bad }) => {
		for (const position of [0, 1, 2]) {
			const input = [0, 1, 2].map((index) => ({ value: index === position ? bad : good }));
			bench.platform.forget();
			const result = await bench.run(
				parameters,
				{ input: input.map(({ value }) => ({ value: value as string })), onError: 'continueRegularOutput' },
			);
			expect(pairedItemsOf(result)).toEqual([0, 1, 2]);
			expect(jsonOf(result).map(({ error }) => error)).toEqual(
				[0, 1, 2].map((index) => (index === position ? expect.stringMatching(new RegExp(`'${field.replace(/[()]/g, '\\$&')}'.* \\[item ${position}\\]$`)) : undefined)),
			);
			expect(bench.platform.requests.length).toBe(good === 'RT99046419' ? 1 : 2);
		}
	});

	it('options that are wrong for an item are said for it even where its device is known from another item', async () => {
		const result = await bench.run(
			{ ...get, device: bySerialNumber('RT99046419'), options: { timeout: '={{ $json.timeout }}' } },
			{ input: [{ timeout: 1000 }, { timeout: 0 }], onError: 'continueRegularOutput' },
		);
		expect(jsonOf(result)).toEqual([
			expect.objectContaining({ sn: 'RT99046419' }),
			expect.objectContaining({ error: "'Timeout' is not a whole number from 1 to 3600000 [item 1]" }),
		]);
	});

	it('a credential that can’t be used says so for every item and sends nothing', async () => {
		const credential = await save({ apiKey: ' ' });
		const result = await bench.run(getMany, { credential, input: [{}, {}], onError: 'continueRegularOutput' });
		expect(jsonOf(result).map(({ error }) => error)).toEqual([
			"'API Key' in the Device Management API credential is empty [item 0]",
			"'API Key' in the Device Management API credential is empty [item 1]",
		]);
		expect(bench.platform.requests).toEqual([]);
	});
});

const save = async (data: ICredentialDataDecryptedObject) =>
	await bench.engine.saveCredential({
		name: 'Tried out',
		type: 'deviceManagementApi',
		data: { baseUrl: bench.platform.baseUrl, authentication: 'apiKey', apiKey: bench.platform.apiKey, ...data },
	});
const signIn = (data: ICredentialDataDecryptedObject): ICredentialDataDecryptedObject => ({
	authentication: 'login',
	loginName: bench.platform.loginName,
	password: bench.platform.password,
	...data,
});

describe('the base URL', () => {
	it.each([
		{ form: 'a slash at the end', prefix: '', entered: (origin: string) => `${origin}/` },
		{ form: 'several slashes at the end', prefix: '', entered: (origin: string) => `${origin}///` },
		{ form: 'spaces around it', prefix: '', entered: (origin: string) => `  ${origin}\n` },
		{ form: 'a scheme in capitals', prefix: '', entered: (origin: string) => origin.replace('http', 'HTTP') },
		{ form: 'a path in front of /api', prefix: '/iot/eu', entered: (origin: string) => `${origin}/iot/eu` },
		{ form: 'such a path and a slash at the end', prefix: '/iot/eu', entered: (origin: string) => `${origin}/iot/eu/` },
	])('works with $form, for both ways to sign in', async ({ prefix, entered }) => {
		const origin = bench.platform.baseUrl;
		bench.platform.settings.pathPrefix = prefix;
		for (const data of [{}, signIn({})]) {
			const credential = await save({ ...data, baseUrl: entered(origin) });
			expect(jsonOf(await bench.run(count, { credential }))).toEqual([{ count: 250 }]);
		}
		expect(bench.platform.requests.every(({ url }) => url.startsWith(`${prefix}/api/`))).toBe(true);
	});

	it.each([
		{ entered: '', message: "'Base URL' in the credential is empty" },
		{ entered: '   ', message: "'Base URL' in the credential is empty" },
		{ entered: 'devices.example.com', message: "'Base URL' in the credential does not start with https:// or http://" },
		{ entered: 'ftp://devices.example.com', message: "'Base URL' in the credential does not start with https:// or http://" },
		{ entered: '//devices.example.com', message: "'Base URL' in the credential does not start with https:// or http://" },
		{ entered: 'https://', message: "'Base URL' in the credential is not an address" },
		{ entered: 'https://devices example.com', message: "'Base URL' in the credential is not an address" },
		{ entered: 'https://host:99999', message: "'Base URL' in the credential is not an address" },
		{ entered: 'https://demo:hidden-word@devices.example.com', message: "'Base URL' in the credential contains a user name or password" },
		{ entered: 'https://devices.example.com?tenant=1', message: "'Base URL' in the credential contains a ? or a #" },
		{ entered: 'https://devices.example.com/#/login', message: "'Base URL' in the credential contains a ? or a #" },
	])('$entered is refused: $message', async ({ entered, message }) => {
		for (const data of [{}, signIn({})]) {
			const result = await bench.run(count, { credential: await save({ ...data, baseUrl: entered }) });
			expect(result.error?.message).toBe(message);
			expect(JSON.stringify(result.raw)).not.toContain('hidden-word');
		}
		expect(bench.platform.requests).toEqual([]);
	});

	it('with /api at its end says that it belongs before /api', async () => {
		const result = await bench.run(count, { credential: await save({ baseUrl: `${bench.platform.baseUrl}/api` }) });
		expect(result.error?.message).toBe('There is nothing at this address (HTTP 404)');
		expect(result.error?.description).toContain("Check 'Base URL' in the credential");
	});
});

describe('the sign-in', () => {
	it.each([
		{ field: 'no key', data: () => ({ apiKey: '' }), message: "'API Key' in the Device Management API credential is empty" },
		{ field: 'no name for the key', data: () => ({ apiKeyName: ' ' }), message: "'Name' of the API key in the Device Management API credential is empty" },
		{
			field: 'a name no header can have',
			data: () => ({ apiKeyName: 'X Key:' }),
			message: "'Name' of the API key in the Device Management API credential can't be the name of a header",
		},
		{
			field: 'a key no header can carry',
			data: () => ({ apiKey: 'secret-key\nX: y' }),
			message: "'API Key' or 'Prefix' in the Device Management API credential holds a character that a header can't carry",
		},
		{ field: 'no login name', data: () => signIn({ loginName: ' ' }), message: "'Login Name' in the Device Management API credential is empty" },
		{ field: 'no password', data: () => signIn({ password: '' }), message: "'Password' in the Device Management API credential is empty" },
		{
			field: 'a plain password said to be MD5',
			data: () => signIn({ passwordFormat: 'md5' }),
			message: "'Password' in the Device Management API credential is not an MD5 value",
		},
		...['api/user/login', '//elsewhere.example/login', 'https://elsewhere.example', '/', '/login?x=1', ''].map((loginPath) => ({
			field: `the login path ${JSON.stringify(loginPath)}`,
			data: () => signIn({ loginPath }),
			message: "'Login Path' in the Device Management API credential is not a path",
		})),
	])('$field is refused before any request', async ({ data, message }) => {
		const result = await bench.run(count, { credential: await save(data()) });
		expect(result.error?.message).toBe(message);
		expect(result.error?.description).toMatch(/^[A-Z].{10,}\.$/s);
		expect(JSON.stringify(result.raw)).not.toMatch(/secret-key|demo-password/);
		expect(bench.platform.requests).toEqual([]);
	});
});

it('an operation that the node does not have is refused by name', async () => {
	const result = await bench.run({ resource: 'device', operation: 'reboot' });
	expect(result.error?.message).toBe('The node has no operation "reboot" for the resource "device"');
	expect(bench.platform.requests).toEqual([]);
});
