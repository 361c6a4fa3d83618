/**
 * What each field refuses, and its words: invalid values, and every filter or sort rule that would be ignored.
 * `badInput.test.mts` shows the same in n8n. What a path refuses is in test/core/query.test.mts.
 */
import { RESOURCES } from '../../nodes/DeviceManagement/resources/index.ts';
import { operationNames, operations } from '../../testbed/operations.mts';
import { choices, everyField, plainFilters } from '../form.mts';
import { bySerialNumber, COLLECTIONS, count, get, getMany, type Parameters, refusalOf, request } from './oneItem.mts';

/** Half of a character that takes two. */
const HALF = '\ud83d';
/** An expression that returns nothing: no item has this field. */
const NOTHING = '={{ $json.nothing }}';
/** A number that JavaScript rounds before the node reads it: it would name another device. */
const LONG = '={{ 89882110000003456789 }}';
/** Values that are no number. */
const NO_NUMBERS = ['={{ "some" }}', '={{ null }}', '={{ [1] }}', '={{ true }}', ' '];

const device = (value: unknown) => ({ ...get, device: bySerialNumber(value), options: { ifNotFound: 'empty' } });
const filters = (value: unknown) => ({ ...getMany, filters: value });
const filter = (name: string) => (value: unknown) => filters({ [name]: value });
const attribute = (key: unknown, value: unknown) => filters({ attributes: { pair: [{ key, value }] } });
const parameter = (name: unknown, value: unknown = '1') => filters({ query: { parameter: [{ name, value }] } });
const sent = (name: unknown, value: unknown = '1') => ({ ...request, query: { parameter: [{ name, value }] } });
const sort = (value: unknown) => ({ ...getMany, sort: value });
const rule = (value: Parameters) => sort({ rule: [value] });
const sortBy = (field: string) => (name: unknown) => rule({ field, attribute: name });
const body = (value: unknown) => ({ ...request, method: 'POST', body: value });
const option = (name: string, values: unknown[]) => values.map((value) => ({ ...getMany, options: { [name]: value } }));

/** The label of a field, wrong values for it, the message with `{}` for the quoted label, and the remedy if it matters. */
type Row = [label: string, wrong: Parameters[], message: string, remedy?: string];

const WRONG_TYPE = '{} has a value of the wrong type';
const wrongType: readonly Row[] = [
	['Device', ['={{ {} }}', '={{ ["RT1"] }}'].map(device), WRONG_TYPE],
	['If Not Found', [{ ...get, options: { ifNotFound: 'ignore' } }], WRONG_TYPE],
	['If the Fleet Keeps Changing', option('ifFleetChanges', ['ignore']), WRONG_TYPE],
	['Return All', ['={{ "yes" }}', NOTHING].map((returnAll) => ({ ...getMany, returnAll })), WRONG_TYPE],
	['Output', [get, getMany].map((operation) => ({ ...operation, output: 'everything' })), WRONG_TYPE],
	['Fields', [get, getMany].map((operation) => ({ ...operation, output: 'selected', fields: 'sn' })), WRONG_TYPE],
	['Name', [{ ...getMany, filters: { name: {} } }], WRONG_TYPE],
	['Tags', [{}, [{}]].map(filter('tags')), WRONG_TYPE],
	[
		'Attributes',
		[
			attribute({}, 'x'),
			...[{ site: 'x' }, { pair: NOTHING }, { pair: [{ key: 'a', value: 'b', not: '' }] }].map(filter('attributes')),
		],
		WRONG_TYPE,
		'Check the expression in this field and its result.',
	],
	[
		'Query Parameters',
		[parameter('x', {}), ...[{ site: 'x' }, { parameter: NOTHING }].map(filter('query'))],
		WRONG_TYPE,
	],
	['Sort', [{ rules: [{ field: 'sn' }] }, { field: 'sn', direction: 'asc' }, { rule: NOTHING }].map(sort), WRONG_TYPE],
	['Sort', [{ field: 'sn', order: 'asc' }, { direction: 'up' }, { direction: NOTHING }].map(rule), WRONG_TYPE],
	['Sort', [rule({ field: NOTHING })], WRONG_TYPE],
	['Path', [{ ...request, path: '={{ {} }}' }], WRONG_TYPE],
	['Method', [{ ...request, method: 'HEAD' }], WRONG_TYPE],
];

const NO_OBJECT = 'Check the expression in this field and its result, or remove it and fill in the form.';
const noObject: readonly Row[] = [
	['Filters', [filters(NOTHING), filters('={{ undefined }}')], '{} is nothing instead of an object', NO_OBJECT],
	['Filters', [filters(null)], '{} is null instead of an object', NO_OBJECT],
	['Filters', [filters('')], '{} is text of 0 characters instead of an object', NO_OBJECT],
	['Filters', [filters('[]')], '{} is text of 2 characters instead of an object', NO_OBJECT],
	['Filters', [filters('"harbour"')], '{} is text of 9 characters instead of an object', NO_OBJECT],
	['Filters', [filters([])], '{} is a list of 0 instead of an object', NO_OBJECT],
	['Filters', [filters('={{ [{ name: "harbour" }] }}')], '{} is a list of 1 instead of an object', NO_OBJECT],
	['Filters', [filters(7)], '{} is a number instead of an object', NO_OBJECT],
	['Filters', [filters(false)], '{} is a boolean instead of an object', NO_OBJECT],
	['Sort', [sort('[{"field":"sn"}]')], '{} is text of 16 characters instead of an object', NO_OBJECT],
	['Attributes', [filter('attributes')('site x')], '{} is text of 6 characters instead of an object', NO_OBJECT],
	...COLLECTIONS.map(({ label, name, parameters }): Row => {
		return [
			label,
			[{ ...parameters, [name]: 'harbour' }],
			'{} is text of 7 characters instead of an object',
			NO_OBJECT,
		];
	}),
];

const WITHIN = 'Enter a number within these limits, or check the expression in this field.';
const limited = (label: string, name: string, least: number, most: number): Row => {
	const wrong = [least - 1, most + 1, least + 0.5, ...NO_NUMBERS];
	return [label, option(name, wrong), `{} is not a whole number from ${least} to ${most}`, WITHIN];
};
const numbers: readonly Row[] = [
	[
		'Limit',
		[0, -1, 1.5, 2 ** 53, Infinity, NaN, undefined, ...NO_NUMBERS].map((limit) => ({ ...getMany, limit })),
		'{} is not a whole number of 1 or more',
		"Enter 1 or more, or turn on 'Return All'.",
	],
	['Skip', option('skip', [-1, 0.5, 2 ** 53, ...NO_NUMBERS]), '{} is not a whole number of 0 or more', WITHIN],
	limited('Page Size', 'pageSize', 1, 10_000),
	limited('Parallel Requests', 'parallelRequests', 1, 16),
	limited('Timeout (Milliseconds)', 'timeout', 1, 3_600_000),
	limited('Max Retries', 'maxRetries', 0, 10),
	[
		'Composite Status',
		[1.5, 2 ** 31, -(2 ** 31) - 1, '={{ "online" }}', true, '={{ [1] }}'].map(filter('compositeStatus')),
		'{} is not a whole number from -2147483648 to 2147483647',
		WITHIN,
	],
];

const NO_VALUE = "{} under 'Filters' has no value";
const REMOVE = 'Fill it in, or remove the filter. If it is an expression, check its result.';
const CRITERIA = 'Search Criteria (JSON)';
const without: readonly Row[] = [
	...plainFilters.flatMap(({ name, displayName }) =>
		[getMany, count].map((operation): Row => {
			const empty = [NOTHING, null, '', ' ', '={{ $json.nothing ?? "" }}', []];
			return [displayName, empty.map((value) => ({ ...operation, filters: { [name]: value } })), NO_VALUE, REMOVE];
		}),
	),
	['Name', [filters('={{ { name: $json.nothing } }}')], NO_VALUE],
	['Tags', [[''], '={{ ["a", $json.nothing] }}', ' , ,'].map(filter('tags')), NO_VALUE],
	['Attributes', [{}, '{}', { pair: [] }].map(filter('attributes')), NO_VALUE],
	['Query Parameters', [filter('query')({ parameter: [] })], NO_VALUE],
	[CRITERIA, ['{}', ' { } ', '={{ ({}) }}'].map(filter('body')), NO_VALUE],
];
const NO_CRITERION = 'Check the expression in this field, or remove the empty part.';
const inJson: readonly Row[] = [
	[CRITERIA, ['{"a": }', "{'a': 1}", 'x'].map(filter('body')), '{} is not valid JSON'],
	[CRITERIA, ['[1]', '5', 'null', '"x"', '={{ [1] }}'].map(filter('body')), '{} is not a JSON object'],
	[CRITERIA, [filter('body')(`{"a":${'['.repeat(200)}${']'.repeat(200)}}`)], '{} is not a JSON object'],
	[CRITERIA, ['={{ ({ a: $json.nothing }) }}', '={{ ({ a: NaN }) }}'].map(filter('body')), '{} has no value in "a"'],
	[CRITERIA, [filter('body')('={{ ({ a: new Map([[1, 2]]) }) }}')], '{} has no value in "a"', NO_CRITERION],
	[CRITERIA, [filter('body')('={{ ({ a: 1, b: { c: [1, $json.nothing] } }) }}')], '{} has no value in "b.c.1"'],
	['Body', [body('{')], '{} is not valid JSON'],
	['Body', [body(NOTHING)], '{} is nothing instead of JSON'],
	['Body', [body('={{ null }}')], '{} is null instead of JSON'],
	['Body', [body('={{ ({ unit: { name: $json.nothing } }) }}')], '{} has no value in "unit.name"', NO_CRITERION],
	['Body', [body('={{ ({ at: new Date("x") }) }}'), body('={{ ({ at: Number("x") }) }}')], '{} has no value in "at"'],
	['Body', [body('={{ (() => {}) }}')], '{} contains something that is not JSON', NO_CRITERION],
];

const FILL_IN = 'Fill it in, or remove the entry.';
const ONE_NAME = 'Enter one name per entry, without them.';
const OTHER = (what: string) =>
	`The platform can't filter by it. Filter by another ${what}, or filter the devices in a later step.`;
const HALVED = 'Check the expression that cuts the text.';
const names: readonly Row[] = [
	['Device', [' ', NOTHING, '={{ null }}', '\n'].map(device), 'The serial number in {} is empty'],
	['Device', [device(' .. ')], `The serial number ".." in {} can't be part of an address`],
	...['Device', 'Name', 'Tags'].map((label): Row => {
		const wrong =
			{ Device: device(`RT${HALF}`), Name: filters({ name: HALF }) }[label] ?? filters({ tags: `a,${HALF}` });
		return [label, [wrong], 'The text of {} is cut in the middle of a character', HALVED];
	}),
	['Tags', [filter('tags')(['a', 'b,c'])], 'The tag "b,c" under {} contains a comma', OTHER('tag')],
	['Attributes', [attribute(' ', 'x')], 'A key under {} is empty', FILL_IN],
	['Attributes', [attribute('my site', 'x')], `"my site", a key under {}, contains a space or a comma`, ONE_NAME],
	['Attributes', [attribute('a,b', 'x')], `"a,b", a key under {}, contains a space or a comma`, ONE_NAME],
	[
		'Attributes',
		['', ' ', NOTHING].map((value) => attribute('site', value)),
		'The attribute "site" under {} has no value',
		'Enter a value, or remove the attribute. If it is an expression, it gave no value for this item.',
	],
	[
		'Attributes',
		[attribute('site', 'a,b')],
		'The value of the attribute "site" under {} contains a comma',
		OTHER('attribute'),
	],
	['Attributes', [attribute('site', HALF)], 'The text of the attribute "site" is cut in the middle of a character'],
	['Query Parameters', [parameter(HALF), sent(HALF)], 'The text of {} is cut in the middle of a character', HALVED],
	['Query Parameters', [sent('x', HALF)], 'The text of the parameter "x" is cut in the middle of a character', HALVED],
	[
		'Query Parameters',
		[parameter(' '), sent('')],
		'A parameter under {} has no name',
		"Fill in its 'Name', or remove it.",
	],
	['Query Parameters', [parameter('x', NOTHING), sent('x', null)], 'The parameter "x" under {} has no value'],
	...['__proto__', 'constructor', 'prototype'].map((name): Row => {
		const remedy = "n8n doesn't send parameters of that name. Remove it.";
		return [
			'Query Parameters',
			[parameter(name), sent(name)],
			`A parameter under {} can't have the name "${name}"`,
			remedy,
		];
	}),
	...['page', 'size', 'sort', ' page '].map((name): Row => {
		const remedy = 'Remove it. The node reads all pages, and only its own fields set their size and order.';
		return [
			'Query Parameters',
			[parameter(name)],
			`The node already sets the parameter "${name.trim()}" under {}`,
			remedy,
		];
	}),
	['Sort', ['custom', 'attributes'].map((field) => sortBy(field)(' ')), 'A field name under {} is empty', FILL_IN],
	['Sort', [sortBy('custom')('sn asc')], '"sn asc", a field name under {}, contains a space or a comma', ONE_NAME],
	[
		'Sort',
		[sortBy('attributes')('a,b')],
		'"attributes.a,b", a field name under {}, contains a space or a comma',
		ONE_NAME,
	],
	['Sort', [sortBy('custom')(HALF)], 'The text of a field name under {} is cut in the middle of a character', HALVED],
	[
		'Path',
		[
			{ ...request, path: 'https://elsewhere.example/api' },
			{ ...request, path: NOTHING },
		],
		'{} does not begin with /api',
	],
	['Filters', [filters({ nmae: 'harbour' })], 'There is no filter "nmae" under {}'],
	['Filters', [filters('={{ { name: "RT", toString: 1 } }}')], 'There is no filter "toString" under {}'],
];

const AS_TEXT = 'Enter it as text.';
const LOST = 'The number in {} has more digits than n8n can keep';
const long: readonly Row[] = [
	['Device', [device(LONG), ...['={{ 9007199254740992 }}', '={{ -9007199254740993 }}'].map(device)], LOST, AS_TEXT],
	['Name', [filters({ name: LONG })], LOST, AS_TEXT],
	['Tags', [LONG, ['a', LONG]].map(filter('tags')), LOST, AS_TEXT],
	['Attributes', [attribute('iccid', LONG), attribute(LONG, 'x')], LOST, AS_TEXT],
	['Query Parameters', [parameter(LONG), parameter('iccid', LONG), sent('iccid', LONG)], LOST, AS_TEXT],
	['Sort', [sortBy('custom')(LONG)], LOST, AS_TEXT],
	[CRITERIA, [filters({ body: { a: [{ iccid: LONG }] } }), filters({ body: '{"iccid": 8.98e+21}' })], LOST, AS_TEXT],
	['Path', [{ ...request, path: LONG }], LOST, AS_TEXT],
	['Body', [body({ iccid: LONG })], LOST, "Enter it as text, or enter all of 'Body' as JSON text."],
];

const rows = [wrongType, noObject, numbers, without, inJson, names, long]
	.flat()
	.flatMap(([label, wrong, message, remedy]) =>
		wrong.map((parameters) => {
			const { resource: _, operation, ...given } = parameters;
			const said = message.replace('{}', `'${label}'`);
			return [said, String(operation), JSON.stringify(given), parameters, remedy] as const;
		}),
	);

test.each(rows)('%s: %s with %s', async (message, _operation, _given, parameters, remedy) => {
	const words = remedy ?? expect.stringMatching(/^[A-Z].{10,}\.$/s);
	expect(await refusalOf(parameters)).toMatchObject({ kind: 'input', message, remedy: words });
});

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
			const parameters = { ...operations[name], device: get.device, [field]: given };
			await expect(refusalOf(parameters)).rejects.toThrow('It was not refused');
		}
	}
});
