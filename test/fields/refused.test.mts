import { COLLECTIONS, refusalOf } from './refusal.mts';

/**
 * What each field refuses, in one table: invalid values, and every filter or sort rule that would be ignored.
 * `badInput.test.mts` and `nothingDropped.test.mts` show the same in n8n.
 */

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

/** Whole numbers that JavaScript rounded before the node saw them: they would name another device. */
const LONG_NUMBERS = ['89882110000003456789', '9007199254740992', '-9007199254740993', '8.98e+21'];

const WRONG_KIND = 'has a value of the wrong type';
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
		message: "The text of 'Device' is cut in the middle of a character",
	},
	{
		field: 'If Not Found',
		parameters: { ...get, options: { ifNotFound: 'ignore' } },
		message: `'If Not Found' ${WRONG_KIND}`,
	},

	{ field: 'Return All', parameters: { ...getMany, returnAll: '={{ "yes" }}' }, message: `'Return All' ${WRONG_KIND}` },
	...[
		0,
		-1,
		1.5,
		'={{ "many" }}',
		'={{ "" }}',
		'={{ null }}',
		'={{ $json.nothing }}',
		'={{ [5] }}',
		'={{ Infinity }}',
		'={{ NaN }}',
	].map((limit) => ({ field: `Limit ${limit}`, parameters: { ...getMany, limit }, message: LIMIT })),
	...[get, getMany].flatMap((operation) => [
		{
			field: `Output of ${operation.operation}`,
			parameters: { ...operation, output: 'everything' },
			message: `'Output' ${WRONG_KIND}`,
		},
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
	{
		field: 'Composite Status of a count',
		parameters: { ...count, filters: { compositeStatus: 0.1 } },
		message: COMPOSITE_STATUS,
	},
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
		message: "The text of 'Name' is cut in the middle of a character",
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
		message: "The text of 'Tags' is cut in the middle of a character",
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
		message: '"my site", a key under \'Attributes\', contains a space or a comma',
	},
	{
		field: 'Attributes: a comma in the key',
		parameters: attribute('site,floor', 'x'),
		message: '"site,floor", a key under \'Attributes\', contains a space or a comma',
	},
	{
		field: 'Attributes: no key',
		parameters: attribute(' ', 'x'),
		message: "A key under 'Attributes' is empty",
	},
	{
		field: 'Attributes: an object as key',
		parameters: attribute('={{ {} }}', 'x'),
		message: `'Attributes' ${WRONG_KIND}`,
	},
	{
		field: 'Attributes: half a character',
		parameters: attribute('site', HALF_A_CHARACTER),
		message: 'The text of the attribute "site" is cut in the middle of a character',
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
		message: `The node already sets the parameter "${name.trim()}" under 'Query Parameters'`,
	})),
	{
		field: 'Query Parameters: no name',
		parameters: parameter(' '),
		message: "A parameter under 'Query Parameters' has no name",
	},
	{
		field: 'Query Parameters: an object',
		parameters: parameter('x', '={{ {} }}'),
		message: `'Query Parameters' ${WRONG_KIND}`,
	},
	{
		field: 'Query Parameters: half a character',
		parameters: parameter('x', HALF_A_CHARACTER),
		message: 'The text of the parameter "x" is cut in the middle of a character',
	},

	...['attributes', 'custom'].map((field) => ({
		field: `Sort by ${field} without a name`,
		parameters: sortedBy({ field, attribute: ' ' }),
		message: "A field name under 'Sort' is empty",
	})),
	{
		field: 'Sort by a name with a space',
		parameters: sortedBy({ field: 'custom', attribute: 'sn asc' }),
		message: '"sn asc", a field name under \'Sort\', contains a space or a comma',
	},
	{
		field: 'Sort by an attribute with a comma',
		parameters: sortedBy({ field: 'attributes', attribute: 'a,b' }),
		message: '"attributes.a,b", a field name under \'Sort\', contains a space or a comma',
	},
	{
		field: 'Sort in no direction',
		parameters: sortedBy({ field: 'sn', direction: 'up' }),
		message: `'Sort' ${WRONG_KIND}`,
	},
	{
		field: 'Sort by nothing',
		parameters: sortedBy({ field: '={{ $json.nothing }}' }),
		message: `'Sort' ${WRONG_KIND}`,
	},

	...(
		[
			[getMany, 'pageSize', 'Page Size', 1, 10_000],
			[getMany, 'parallelRequests', 'Parallel Requests', 1, 16],
			[getMany, 'timeout', 'Timeout (Milliseconds)', 1, 3_600_000],
			[getMany, 'maxRetries', 'Max Retries', 0, 10],
			[get, 'parallelRequests', 'Parallel Requests', 1, 16],
			[get, 'timeout', 'Timeout (Milliseconds)', 1, 3_600_000],
			[get, 'maxRetries', 'Max Retries', 0, 10],
			[count, 'timeout', 'Timeout (Milliseconds)', 1, 3_600_000],
			[request, 'timeout', 'Timeout (Milliseconds)', 1, 3_600_000],
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

	...[
		'https://elsewhere.example/api/version',
		'//elsewhere.example/api',
		'api/version',
		'/version',
		'/apis',
		'={{ $json.nothing }}',
	].map((path) => ({
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
	{
		field: 'Path with a bare %',
		parameters: { ...request, path: '/api/100%' },
		message: "'Path' contains a % that is not an encoding",
	},
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

test('a filter by an attribute without a value says what to do about an expression', async () => {
	const { details } = await refusalOf(attribute('site', '={{ $json.nothing }}'));
	expect(details.remedy).toContain('If it is an expression, it gave no value for this item.');
});

test.each(BAD_FIELDS)('$field: $message', async ({ parameters, message }) => {
	const { details } = await refusalOf(parameters);
	expect(details).toMatchObject({ kind: 'input', message, remedy: expect.stringMatching(/^[A-Z].{10,}\.$/s) });
});

/** Wrong results of an expression instead of an object, and their names in messages. */
const GIVEN: ReadonlyArray<readonly [string, string]> = [
	['={{ $json.nothing }}', 'nothing'],
	['={{ undefined }}', 'nothing'],
	['={{ null }}', 'null'],
	['={{ "" }}', 'text of 0 characters'],
	['={{ "harbour" }}', 'text of 7 characters'],
	['={{ "[]" }}', 'text of 2 characters'],
	['={{ JSON.stringify("harbour") }}', 'text of 9 characters'],
	['={{ [] }}', 'a list of 0'],
	['={{ [{ name: "harbour" }] }}', 'a list of 1'],
	['={{ 7 }}', 'a number'],
	['={{ false }}', 'a boolean'],
];

describe.each(COLLECTIONS)('$label of $operation as a whole', ({ label, name, parameters }) => {
	test.each(GIVEN)('as %s is refused', async (value, what) => {
		const { message, details } = await refusalOf({ ...parameters, [name]: value });
		expect(message).toBe(`'${label}' is ${what} instead of an object`);
		expect(details.remedy).toContain('Check the expression in this field');
	});
});

/** Wrong objects from an expression; n8n's form can't create them. */
test.each<[string, Record<string, unknown>, string]>([
	['an unknown filter', { filters: '={{ { nmae: "harbour" } }}' }, 'There is no filter "nmae" under \'Filters\''],
	['a filter by its label', { filters: '={{ { "Name": "harbour" } }}' }, 'There is no filter "Name" under \'Filters\''],
	[
		'an unknown filter next to a known one',
		{ filters: '={{ { name: "RT", toString: 1 } }}' },
		'There is no filter "toString" under \'Filters\'',
	],
	[
		'a known filter without a value',
		{ filters: '={{ { name: $json.nothing } }}' },
		"'Name' under 'Filters' has no value",
	],
	[
		'attributes as key and value',
		{ filters: '={{ { attributes: { site: "x" } } }}' },
		"'Attributes' has a value of the wrong type",
	],
	[
		'attributes from an expression that gives nothing',
		{ filters: '={{ { attributes: { pair: $json.nothing } } }}' },
		"'Attributes' has a value of the wrong type",
	],
	[
		'query parameters from one',
		{ filters: '={{ { query: { parameter: $json.nothing } } }}' },
		"'Query Parameters' has a value of the wrong type",
	],
	['an unknown filter from the form', { filters: { nmae: 'harbour' } }, 'There is no filter "nmae" under \'Filters\''],
	[
		'attributes as text',
		{ filters: '={{ { attributes: "site x" } }}' },
		"'Attributes' is text of 6 characters instead of an object",
	],
	[
		'attributes as the text of an empty object',
		{ filters: '={{ { attributes: "{}" } }}' },
		"'Attributes' under 'Filters' has no value",
	],
	[
		'an attribute with a field too many',
		{ filters: '={{ { attributes: { pair: [{ key: "a", value: "b", operator: "not" }] } } }}' },
		"'Attributes' has a value of the wrong type",
	],
	[
		'query parameters as name and value',
		{ filters: '={{ { query: { site: "x" } } }}' },
		"'Query Parameters' has a value of the wrong type",
	],
	['empty search criteria', { filters: { body: '{}' } }, "'Search Criteria (JSON)' under 'Filters' has no value"],
	[
		'empty search criteria with a space',
		{ filters: { body: ' { } ' } },
		"'Search Criteria (JSON)' under 'Filters' has no value",
	],
	[
		'an empty object as search criteria',
		{ filters: { body: '={{ ({}) }}' } },
		"'Search Criteria (JSON)' under 'Filters' has no value",
	],
	[
		'an undefined search criterion',
		{ filters: { body: '={{ ({ status: $json.nothing }) }}' } },
		'\'Search Criteria (JSON)\' has no value in "status"',
	],
	[
		'an undefined criterion next to another',
		{ filters: { body: '={{ ({ a: 1, b: { c: [1, $json.nothing] } }) }}' } },
		'\'Search Criteria (JSON)\' has no value in "b.c.1"',
	],
	[
		'a criterion that is no number',
		{ filters: { body: '={{ ({ status: Number($json.nothing) }) }}' } },
		'\'Search Criteria (JSON)\' has no value in "status"',
	],
])('%s is refused', async (_name, parameters, message) => {
	for (const operation of [getMany, count]) {
		expect((await refusalOf({ ...operation, ...parameters })).message).toBe(message);
	}
});

test.each<[string, string, string]>([
	['rules that are not called so', '={{ { rules: [{ field: "sn" }] } }}', "'Sort' has a value of the wrong type"],
	['a rule without a list', '={{ { field: "sn", direction: "asc" } }}', "'Sort' has a value of the wrong type"],
	[
		'a rule with a field too many',
		'={{ { rule: [{ field: "sn", order: "asc" }] } }}',
		"'Sort' has a value of the wrong type",
	],
	[
		'rules from an expression that gives nothing',
		'={{ { rule: $json.nothing } }}',
		"'Sort' has a value of the wrong type",
	],
	[
		'a direction from one',
		'={{ { rule: [{ field: "sn", direction: $json.nothing }] } }}',
		"'Sort' has a value of the wrong type",
	],
	['a field from one', '={{ { rule: [{ field: $json.nothing }] } }}', "'Sort' has a value of the wrong type"],
	[
		'JSON text of a list',
		'={{ JSON.stringify([{ field: "sn" }]) }}',
		"'Sort' is text of 16 characters instead of an object",
	],
])('a sort of %s is refused', async (_name, sort, message) => {
	expect((await refusalOf({ ...getMany, sort })).message).toBe(message);
});

test.each(['={{ $json.nothing }}', '={{ null }}'])('a body of %s is refused, not left out', async (body) => {
	const { message } = await refusalOf({ ...request, method: 'POST', body });
	expect(message).toMatch(/^'Body' is (nothing|null) instead of JSON$/);
});
