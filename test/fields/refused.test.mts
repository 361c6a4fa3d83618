import { RESOURCES } from '../../nodes/DeviceManagement/resources/index.ts';
import { operationNames, operations } from '../../testbed/operations.mts';
import { choices, everyField, plainFilters } from '../form.mts';
import { COLLECTIONS, refusalOf } from './refusal.mts';

/**
 * What each field refuses, in one table: invalid values, and every filter or sort rule that would be ignored.
 * `badInput.test.mts` and `nothingDropped.test.mts` show the same in n8n. What a path refuses is in test/core/query.test.mts.
 */

const bySerialNumber = (value: unknown) => ({ __rl: true, mode: 'sn', value });
const get = { resource: 'device', operation: 'get', device: bySerialNumber('RT1') };
const getMany = { resource: 'device', operation: 'getAll' };
const count = { resource: 'device', operation: 'count' };
const request = { resource: 'api', operation: 'request', path: '/api/version' };

/** Half of a character that takes two. No item has a field `nothing`. */
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

/** Values that are no number at all. */
const NO_NUMBERS = ['={{ "some" }}', '={{ null }}', '={{ [1] }}'];

const WRONG_KIND = 'has a value of the wrong type';
const NO_VALUE = "under 'Filters' has no value";
const CRITERIA = "'Search Criteria (JSON)'";
const noFilter = (name: string) => `There is no filter "${name}" under 'Filters'`;
const COMPOSITE_STATUS = "'Composite Status' is not a whole number from -2147483648 to 2147483647";
const LIMIT = "'Limit' is not a whole number of 1 or more";

const TEXT_FILTERS = plainFilters.filter(({ type }) => type === 'string');

/** Values that the field can't have at all. */
const OF_WRONG_KIND: ReadonlyArray<readonly [label: string, parameters: Record<string, unknown>]> = [
	['Device', { ...get, device: bySerialNumber('={{ {} }}') }],
	['Device', { ...get, device: bySerialNumber('={{ ["RT1"] }}') }],
	['If Not Found', { ...get, options: { ifNotFound: 'ignore' } }],
	['Return All', { ...getMany, returnAll: '={{ "yes" }}' }],
	...[get, getMany].flatMap((operation) => [
		['Output', { ...operation, output: 'everything' }] as const,
		['Fields', { ...operation, output: 'selected', fields: '={{ "sn" }}' }] as const,
	]),
	...TEXT_FILTERS.map(({ name, displayName }) => [displayName, withFilters({ [name]: '={{ {} }}' })] as const),
	['Tags', withFilters({ tags: '={{ [{}] }}' })],
	['Attributes', attribute('={{ {} }}', 'x')],
	['Query Parameters', parameter('x', '={{ {} }}')],
	['Sort', sortedBy({ field: 'sn', direction: 'up' })],
	['Sort', sortedBy({ field: '={{ $json.nothing }}' })],
	['Path', { ...request, path: '={{ {} }}' }],
	['Method', { ...request, method: 'HEAD' }],
];

/** Fields whose text is not whole. */
const CUT: ReadonlyArray<readonly [what: string, parameters: Record<string, unknown>]> = [
	["'Device'", { ...get, device: bySerialNumber(`RT${HALF_A_CHARACTER}`) }],
	...TEXT_FILTERS.map(
		({ name, displayName }) => [`'${displayName}'`, withFilters({ [name]: HALF_A_CHARACTER })] as const,
	),
	['the attribute "site"', attribute('site', HALF_A_CHARACTER)],
	['the parameter "x"', parameter('x', HALF_A_CHARACTER)],
];

const BAD_FIELDS: readonly BadField[] = [
	...OF_WRONG_KIND.map(([label, parameters], index) => ({
		field: `${label} (${index})`,
		parameters,
		message: `'${label}' ${WRONG_KIND}`,
	})),
	...CUT.map(([what, parameters]) => ({
		field: what,
		parameters,
		message: `The text of ${what} is cut in the middle of a character`,
	})),
	...[' ', '={{ $json.nothing }}', '={{ null }}', '={{ "\\n" }}'].map((value) => ({
		field: `Device ${JSON.stringify(value)}`,
		parameters: { ...get, device: bySerialNumber(value) },
		message: "The serial number in 'Device' is empty",
	})),
	{
		field: 'Device ..',
		parameters: { ...get, device: bySerialNumber(' .. ') },
		message: `The serial number ".." in 'Device' can't be part of an address`,
	},
	...[0, -1, 1.5, ...NO_NUMBERS, '={{ "" }}', '={{ $json.nothing }}', '={{ Infinity }}', '={{ NaN }}'].map((limit) => ({
		field: `Limit ${limit}`,
		parameters: { ...getMany, limit },
		message: LIMIT,
	})),

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
		plainFilters.flatMap(({ name, displayName: label }) =>
			['={{ $json.nothing }}', '={{ null }}', '', ' ', '={{ $json.nothing ?? "" }}', '={{ [] }}'].map((value) => ({
				field: `${label} ${JSON.stringify(value)} of ${operation.operation}`,
				parameters: { ...operation, filters: { [name]: value } },
				message: `'${label}' ${NO_VALUE}`,
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
		message: `'${label}' ${NO_VALUE}`,
	})),
	{
		field: 'Query Parameters without a value',
		parameters: parameter('site', '={{ $json.nothing }}'),
		message: 'The parameter "site" under \'Query Parameters\' has no value',
	},
	{
		field: 'Tags from a list, one with a comma',
		parameters: withFilters({ tags: '={{ ["a", "b,c"] }}' }),
		message: 'The tag "b,c" under \'Tags\' contains a comma',
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
	...['my site', 'site,floor'].map((key) => ({
		field: `Attributes: the key ${key}`,
		parameters: attribute(key, 'x'),
		message: `"${key}", a key under 'Attributes', contains a space or a comma`,
	})),
	{ field: 'Attributes: no key', parameters: attribute(' ', 'x'), message: "A key under 'Attributes' is empty" },
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
	...[parameter(' '), { ...request, query: { parameter: [{ name: '', value: '1' }] } }].map((parameters) => ({
		field: `Query Parameters of ${parameters.operation}: no name`,
		parameters,
		message: "A parameter under 'Query Parameters' has no name",
	})),

	...['attributes', 'custom'].map((field) => ({
		field: `Sort by ${field} without a name`,
		parameters: sortedBy({ field, attribute: ' ' }),
		message: "A field name under 'Sort' is empty",
	})),
	...[
		['custom', 'sn asc', 'sn asc'],
		['attributes', 'a,b', 'attributes.a,b'],
	].map(([field, attribute, name]) => ({
		field: `Sort by ${name}`,
		parameters: sortedBy({ field, attribute }),
		message: `"${name}", a field name under 'Sort', contains a space or a comma`,
	})),

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
		[least - 1, most + 1, least + 0.5, ...NO_NUMBERS].map((value) => ({
			field: `${label} ${value} of ${operation.operation}`,
			parameters: { ...operation, options: { [name]: value } },
			message: `'${label}' is not a whole number from ${least} to ${most}`,
		})),
	),
	...[-1, 0.5, 2 ** 53, ...NO_NUMBERS].map((value) => ({
		field: `Skip ${value}`,
		parameters: { ...getMany, options: { skip: value } },
		message: "'Skip' is not a whole number of 0 or more",
	})),

	...['https://elsewhere.example/api/version', '={{ $json.nothing }}'].map((path) => ({
		field: `Path ${path}`,
		parameters: { ...request, path },
		message: "'Path' does not begin with /api",
	})),
	{ field: 'Body', parameters: { ...request, method: 'POST', body: '{' }, message: "'Body' is not valid JSON" },
	...LONG_NUMBERS.flatMap((number) => {
		const given = `={{ ${number} }}`;
		const fields = [
			['Device', { ...get, device: bySerialNumber(given), options: { ifNotFound: 'empty' } }],
			...TEXT_FILTERS.map(({ name, displayName }) => [displayName, withFilters({ [name]: given })] as const),
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
];

test.each(operationNames)('each choice in the form of %s is accepted', async (name) => {
	const { resource, operation } = operations[name];
	const fields = RESOURCES[resource]?.operations[operation]?.fields ?? [];
	for (const { path, property } of everyField(fields).filter((place) => place.property.type === 'options')) {
		for (const { value } of choices(property)) {
			const [field = '', ...below] = path.split('.');
			const within = (inner: unknown, key: string) => ({
				[key]: key === 'rule' ? [{ attribute: 'x', ...Object(inner) }] : inner,
			});
			const given = below.reduceRight<unknown>(within, value);
			const parameters = { ...operations[name], device: bySerialNumber('RT1'), [field]: given };
			await expect(refusalOf(parameters)).rejects.toThrow('It was not refused');
		}
	}
});

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
test.each<[what: string, filters: unknown, message: string]>([
	['an unknown filter', '={{ { nmae: "harbour" } }}', noFilter('nmae')],
	['a filter by its label', '={{ { "Name": "harbour" } }}', noFilter('Name')],
	['an unknown filter next to a known one', '={{ { name: "RT", toString: 1 } }}', noFilter('toString')],
	['an unknown filter from the form', { nmae: 'harbour' }, noFilter('nmae')],
	['a known filter without a value', '={{ { name: $json.nothing } }}', `'Name' ${NO_VALUE}`],
	['attributes as key and value', '={{ { attributes: { site: "x" } } }}', `'Attributes' ${WRONG_KIND}`],
	['attributes without a value', '={{ { attributes: { pair: $json.nothing } } }}', `'Attributes' ${WRONG_KIND}`],
	[
		'an attribute with a field too many',
		'={{ { attributes: { pair: [{ key: "a", value: "b", operator: "not" }] } } }}',
		`'Attributes' ${WRONG_KIND}`,
	],
	[
		'attributes as text',
		'={{ { attributes: "site x" } }}',
		"'Attributes' is text of 6 characters instead of an object",
	],
	['attributes as the text of an empty object', '={{ { attributes: "{}" } }}', `'Attributes' ${NO_VALUE}`],
	['parameters without a value', '={{ { query: { parameter: $json.nothing } } }}', `'Query Parameters' ${WRONG_KIND}`],
	['parameters as name and value', '={{ { query: { site: "x" } } }}', `'Query Parameters' ${WRONG_KIND}`],
	['empty search criteria', { body: '{}' }, `${CRITERIA} ${NO_VALUE}`],
	['empty search criteria with a space', { body: ' { } ' }, `${CRITERIA} ${NO_VALUE}`],
	['an empty object as search criteria', { body: '={{ ({}) }}' }, `${CRITERIA} ${NO_VALUE}`],
	['an undefined criterion', { body: '={{ ({ status: $json.nothing }) }}' }, `${CRITERIA} has no value in "status"`],
	[
		'an undefined criterion next to another',
		{ body: '={{ ({ a: 1, b: { c: [1, $json.nothing] } }) }}' },
		`${CRITERIA} has no value in "b.c.1"`,
	],
	['no number', { body: '={{ ({ status: Number($json.nothing) }) }}' }, `${CRITERIA} has no value in "status"`],
])('%s is refused', async (_name, filters, message) => {
	for (const operation of [getMany, count]) {
		expect((await refusalOf({ ...operation, filters })).message).toBe(message);
	}
});

test.each<[what: string, sort: string]>([
	['rules that are not called so', '={{ { rules: [{ field: "sn" }] } }}'],
	['a rule without a list', '={{ { field: "sn", direction: "asc" } }}'],
	['a rule with a field too many', '={{ { rule: [{ field: "sn", order: "asc" }] } }}'],
	['rules from an expression that gives nothing', '={{ { rule: $json.nothing } }}'],
	['a direction from one', '={{ { rule: [{ field: "sn", direction: $json.nothing }] } }}'],
	['a field from one', '={{ { rule: [{ field: $json.nothing }] } }}'],
])('a sort of %s is refused', async (_name, sort) => {
	expect((await refusalOf({ ...getMany, sort })).message).toBe(`'Sort' ${WRONG_KIND}`);
});

test('a sort of JSON text of a list is refused', async () => {
	const { message } = await refusalOf({ ...getMany, sort: '={{ JSON.stringify([{ field: "sn" }]) }}' });
	expect(message).toBe("'Sort' is text of 16 characters instead of an object");
});

test.each(['={{ $json.nothing }}', '={{ null }}'])('a body of %s is refused, not left out', async (body) => {
	const { message } = await refusalOf({ ...request, method: 'POST', body });
	expect(message).toMatch(/^'Body' is (nothing|null) instead of JSON$/);
});
