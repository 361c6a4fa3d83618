/**
 * What each field refuses, and its words: invalid values, and every filter or sort rule that would be ignored.
 * `badInput.test.mts` shows the same in n8n. What a path refuses is in test/core/query.test.mts.
 */
import { RESOURCES } from '../../nodes/DeviceManagement/resources/index.ts';
import { operationNames, operations } from '../../testbed/operations.mts';
import { choices, everyField, filterFields, plainFilters } from '../form.mts';
import { bySerialNumber, COLLECTIONS, count, get, getMany, type Parameters, refusalOf, request } from './oneItem.mts';

/** Half of a character that takes two. */
const HALF = '\ud83d';
/** An expression that returns nothing: no item has this field. */
const NOTHING = '={{ $json.nothing }}';
/** A number that JavaScript rounds before the node reads it: it would name another device. */
const LONG = '={{ 89882110000003456789 }}';
/** JSON of more levels than n8n can store. */
const DEEP = `{"a":${'['.repeat(200)}${']'.repeat(200)}}`;
/** Values that are no number. */
const NO_NUMBERS = ['some', null, [1], true, ' '];

const CRITERIA = 'Search Criteria (JSON)';
const TEXT_FILTERS = plainFilters.filter(({ type }) => type === 'string');

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
const path = (value: unknown) => ({ ...request, path: value });
const option = (name: string) => (value: unknown) => ({ ...getMany, options: { [name]: value } });

/** The label of a field, and parameters with a wrong value in it. */
type Row = [label: string, ...wrong: Parameters[]];

const limited = (label: string, name: string, least: number, most: number): [string, Row[]] => {
	const wrong = [least - 1, most + 1, least + 0.5, ...NO_NUMBERS].map(option(name));
	return [`{} is not a whole number from ${least} to ${most}`, [[label, ...wrong]]];
};
const EMPTY = [NOTHING, null, '', ' ', '={{ $json.nothing ?? "" }}', []];

/** By the message, with `{}` for the quoted label. */
const REFUSED: ReadonlyArray<readonly [message: string, rows: readonly Row[]]> = [
	[
		'{} has a value of the wrong type',
		[
			['Device', device('={{ {} }}'), device('={{ ["RT1"] }}')],
			['Return All', { ...request, returnAll: 'yes' }],
			['Return All', ...['yes', NOTHING].map((returnAll) => ({ ...getMany, returnAll }))],
			['Fields', ...[get, getMany].map((operation) => ({ ...operation, output: 'selected', fields: 'sn' }))],
			...TEXT_FILTERS.map(({ name, displayName }): Row => [displayName, filters({ [name]: {} })]),
			['Tags', filter('tags')([{}])],
			['Attributes', attribute({}, 'x'), ...[{ site: 'x' }, { pair: NOTHING }].map(filter('attributes'))],
			['Attributes', filter('attributes')({ pair: [{ key: 'a', value: 'b', operator: 'not' }] })],
			['Query Parameters', parameter('x', {}), ...[{ site: 'x' }, { parameter: NOTHING }].map(filter('query'))],
			['Query Parameters', filter('query')({ parameter: [{ name: 'x', operator: 'not' }] })],
			['Sort', ...[{ rules: [{ field: 'sn' }] }, { field: 'sn', direction: 'asc' }, { rule: NOTHING }].map(sort)],
			['Sort', ...[{ order: 'asc' }, { field: NOTHING }].map(rule)],
			['Path', path({})],
		],
	],
	[
		'{} has an unknown value. Use one of these: raw, selected, simplified',
		[['Output', ...[get, getMany].map((operation) => ({ ...operation, output: 'full' })), { ...get, output: NOTHING }]],
	],
	[
		'{} has an unknown value. Use one of these: asc, desc',
		[['Sort', ...['DESC', 'up', NOTHING].map((direction) => rule({ direction }))]],
	],
	[
		'{} has an unknown value. Use one of these: error, empty',
		[['If Not Found', { ...get, options: { ifNotFound: 'x' } }]],
	],
	[
		'{} has an unknown value. Use one of these: fail, return',
		[['If the Fleet Keeps Changing', option('ifFleetChanges')('x')]],
	],
	[
		'{} has an unknown value. Use one of these: DELETE, GET, PATCH, POST, PUT',
		[['Method', { ...request, method: 'HEAD' }]],
	],
	[
		"{} under 'Filters' is JSON text",
		[['Tags', ...['["vip"]', ' ["a", "b"] ', '"vip"', '"a","b"', '[1]', '{"a":1}', ['["vip"]']].map(filter('tags'))]],
	],
	['{} is nothing instead of an object', [['Filters', filters(NOTHING), filters('={{ undefined }}')]]],
	['{} is null instead of an object', [['Filters', filters(null)]]],
	['{} is text of 0 characters instead of an object', [['Filters', filters('')]]],
	['{} is text of 2 characters instead of an object', [['Filters', filters('[]')]]],
	[
		'{} is text of 7 characters instead of an object',
		COLLECTIONS.map(({ label, name, parameters }) => [label, { ...parameters, [name]: 'harbour' }]),
	],
	['{} is text of 9 characters instead of an object', [['Filters', filters('"harbour"')]]],
	['{} is text of 6 characters instead of an object', [['Attributes', filter('attributes')('site x')]]],
	['{} is a list of 0 instead of an object', [['Filters', filters([])]]],
	['{} is a list of 1 instead of an object', [['Filters', filters([{ name: 'harbour' }])]]],
	['{} is a number instead of an object', [['Filters', filters(7)]]],
	['{} is a boolean instead of an object', [['Filters', filters(false)]]],
	[
		'{} is not a whole number of 1 or more',
		[0, -1, 1.5, 2 ** 53, Infinity, NaN, undefined, ...NO_NUMBERS].map((limit) => ['Limit', { ...getMany, limit }]),
	],
	['{} is not a whole number of 0 or more', [['Skip', ...[-1, 0.5, 2 ** 53, ...NO_NUMBERS].map(option('skip'))]]],
	limited('Page Size', 'pageSize', 1, 10_000),
	limited('Parallel Requests', 'parallelRequests', 1, 16),
	limited('Timeout (Milliseconds)', 'timeout', 1, 3_600_000),
	limited('Max Retries', 'maxRetries', 0, 10),
	[
		'{} is not a whole number from -2147483648 to 2147483647',
		[1.5, 2 ** 31, -(2 ** 31) - 1, 'online', true, [1]].flatMap((value): Row[] => [
			['Composite Status', filters({ compositeStatus: value })],
			['Online Status', { ...getMany, filters: { onlineStatus: value } }],
		]),
	],
	['There is no filter {} here', [['Online Status', { ...count, filters: { onlineStatus: 0 } }]]],
	[
		"{} and 'Online Status' both set onlineStatus",
		[
			[CRITERIA, { ...getMany, filters: { onlineStatus: 0, body: '{"onlineStatus": 0}' } }],
			[
				'Query Parameters',
				{ ...getMany, filters: { onlineStatus: 0, query: { parameter: [{ name: ' onlineStatus ', value: '0' }] } } },
			],
		],
	],
	[
		"{} under 'Filters' has no value",
		[
			...plainFilters.flatMap(({ name, displayName }) =>
				(name === 'onlineStatus' ? [getMany] : [getMany, count]).map((operation): Row => {
					return [displayName, ...EMPTY.map((value) => ({ ...operation, filters: { [name]: value } }))];
				}),
			),
			['Tags', ...[[''], '={{ ["a", $json.nothing] }}', ' , ,'].map(filter('tags'))],
			['Attributes', ...[{}, '{}', { pair: [] }].map(filter('attributes'))],
			['Query Parameters', filter('query')({ parameter: [] })],
			[CRITERIA, ...['{}', ' { } ', {}].map(filter('body'))],
		],
	],
	[
		'{} is not valid JSON',
		[
			[CRITERIA, ...['{"a": }', "{'a': 1}"].map(filter('body'))],
			['Body', body('{')],
		],
	],
	['{} is not a JSON object', [[CRITERIA, ...['[1]', '5', 'null', '"x"', [1], DEEP].map(filter('body'))]]],
	['{} is nothing instead of JSON', [['Body', body(NOTHING)]]],
	['{} is null instead of JSON', [['Body', body(null)]]],
	['{} contains something that is not JSON', [['Body', body('={{ () => {} }}')]]],
	[
		'{} has no value in "a"',
		['{ a: $json.nothing }', '{ a: NaN }', '{ a: new Map([[1, 2]]) }', '{ a: new Date("x") }'].flatMap(
			(given): Row[] => [
				[CRITERIA, filter('body')(`={{ (${given}) }}`)],
				['Body', body(`={{ (${given}) }}`)],
			],
		),
	],
	['{} has no value in "b.c.1"', [[CRITERIA, filter('body')('={{ { a: 1, b: { c: [1, $json.nothing] } } }}')]]],
	['The serial number in {} is empty', [['Device', ...[' ', NOTHING, null, '\n'].map(device)]]],
	['The serial number ".." in {} can\'t be part of an address', [['Device', device(' .. ')]]],
	[
		'The text of {} is cut in the middle of a character',
		[
			['Device', device(`RT${HALF}`)],
			...TEXT_FILTERS.map(({ name, displayName }): Row => [displayName, filters({ [name]: `a,${HALF}` })]),
			['Query Parameters', parameter(HALF), sent(HALF)],
		],
	],
	['The text of a field name under {} is cut in the middle of a character', [['Sort', sortBy('custom')(HALF)]]],
	['The text of the attribute "site" is cut in the middle of a character', [['Attributes', attribute('site', HALF)]]],
	['The text of the parameter "x" is cut in the middle of a character', [['Query Parameters', sent('x', HALF)]]],
	['The tag "b,c" under {} contains a comma', [['Tags', filter('tags')(['a', 'b,c'])]]],
	['A key under {} is empty', [['Attributes', attribute(' ', 'x')]]],
	['"my site", a key under {}, contains a space or a comma', [['Attributes', attribute('my site', 'x')]]],
	['"a,b", a key under {}, contains a space or a comma', [['Attributes', attribute('a,b', 'x')]]],
	[
		'The attribute "site" under {} has no value',
		[['Attributes', attribute('site', ''), attribute('site', ' '), attribute('site', NOTHING)]],
	],
	['The value of the attribute "site" under {} contains a comma', [['Attributes', attribute('site', 'a,b')]]],
	['A parameter under {} has no name', [['Query Parameters', parameter(' '), sent('')]]],
	['The parameter "x" under {} has no value', [['Query Parameters', parameter('x', NOTHING), sent('x', null)]]],
	...['__proto__', 'constructor', 'prototype'].map((name): [string, Row[]] => [
		`A parameter under {} can't have the name "${name}"`,
		[['Query Parameters', parameter(name), sent(name)]],
	]),
	...['page', 'size', 'sort'].map((name): [string, Row[]] => [
		`The node already sets the parameter "${name}" under {}`,
		[['Query Parameters', parameter(` ${name} `)]],
	]),
	['A field name under {} is empty', [['Sort', sortBy('custom')(' '), sortBy('attributes')(' ')]]],
	['"sn asc", a field name under {}, contains a space or a comma', [['Sort', sortBy('custom')('sn asc')]]],
	['"attributes.a,b", a field name under {}, contains a space or a comma', [['Sort', sortBy('attributes')('a,b')]]],
	["{} can't be used with DELETE", [['Return All', { ...request, method: 'DELETE', returnAll: true }]]],
	["{} can't be used with PUT", [['Return All', { ...request, method: 'PUT', returnAll: true }]]],
	['The query parameter "page" can\'t be used with {}', [['Return All', { ...sent(' page '), returnAll: true }]]],
	['The query parameter "size" can\'t be used with {}', [['Return All', { ...sent(' size '), returnAll: true }]]],
	['{} does not begin with /api', [['Path', path('https://elsewhere.example/api'), path(NOTHING)]]],
	['There is no filter "nmae" under {}', [['Filters', filters({ nmae: 'harbour' })]]],
	['There is no filter "toString" under {}', [['Filters', filters({ name: 'RT', toString: 1 })]]],
	[
		'The number in {} has more digits than n8n can keep',
		[
			['Device', device(LONG), device('={{ 9007199254740992 }}'), device('={{ -9007199254740993 }}')],
			...TEXT_FILTERS.map(({ name, displayName }): Row => [displayName, filters({ [name]: LONG })]),
			['Tags', filter('tags')(['a', LONG])],
			['Attributes', attribute('iccid', LONG), attribute(LONG, 'x')],
			['Query Parameters', parameter(LONG), parameter('iccid', LONG), sent('iccid', LONG)],
			['Sort', sortBy('custom')(LONG)],
			[CRITERIA, filters({ body: { a: [{ iccid: LONG }] } }), filters({ body: '{"iccid": 8.98e+21}' })],
			['Path', path(LONG)],
			['Body', body({ iccid: LONG })],
		],
	],
];

/** What to do, by a part of the message. Any other message also has a remedy. */
const REMEDIES: ReadonlyArray<readonly [message: RegExp, remedy: string]> = [
	[/wrong type$|unknown value/, 'Check the expression in this field and its result.'],
	[/instead of an object$/, 'Check the expression in this field and its result, or remove it and fill in the form.'],
	[/number of 1 or more$/, "Enter 1 or more, or turn on 'Return All'."],
	[/whole number/, 'Enter a number within these limits, or check the expression in this field.'],
	[/'Filters' has no value$/, 'Fill it in, or remove the filter. If it is an expression, check its result.'],
	[
		/^The attribute .* no value/,
		'Enter a value, or remove the attribute. If it is an expression, it gave no value for this item.',
	],
	[/no value in|contains something/, 'Check the expression in this field, or remove the empty part.'],
	[/^The tag/, "The platform can't filter by it. Filter by another tag, or filter the devices in a later step."],
	[
		/^The value of the attr/,
		"The platform can't filter by it. Filter by another attribute, or filter the devices in a later step.",
	],
	[/middle of a character$/, 'Check the expression that cuts the text.'],
	[/^A (?:key|field name)/, 'Fill it in, or remove the entry.'],
	[/space or a comma$/, 'Enter one name per entry, without them.'],
	[/^A parameter .* no name$/, "Fill in its 'Name', or remove it."],
	[/can't have the name/, "n8n doesn't send parameters of that name. Remove it."],
	[/already sets/, 'Remove it. The node reads all pages, and only its own fields set their size and order.'],
	[/^The number in 'Body'/, "Enter it as text, or enter all of 'Body' as JSON text."],
	[/^The number in/, 'Enter it as text.'],
];

const cases = REFUSED.flatMap(([message, rows]) =>
	rows.flatMap(([label, ...wrong]) =>
		wrong.map((parameters) => {
			const { resource: _, operation, ...given } = parameters;
			const said = message.replace('{}', `'${label}'`);
			return [said, String(operation), JSON.stringify(given), parameters] as const;
		}),
	),
);

test.each(cases)('%s: %s with %s', async (message, _operation, _given, parameters) => {
	const [, remedy = expect.stringMatching(/^[A-Z].{10,}\.$/s)] = REMEDIES.find(([part]) => part.test(message)) ?? [];
	expect(await refusalOf(parameters)).toMatchObject({ kind: 'input', message, remedy });
});

test.each(filterFields)('$displayName refuses a value of the wrong type', async ({ name }) => {
	expect(await refusalOf(filters({ [name]: [{}] }))).toMatchObject({ kind: 'input' });
});

const CHOICES = operationNames.flatMap((name) => {
	const { resource, operation } = operations[name];
	return everyField(RESOURCES[resource]?.operations[operation]?.fields ?? []).flatMap(({ path, property }) =>
		property.type === 'options' ? choices(property).map(({ value }) => ({ name, path, value })) : [],
	);
});

test.each(CHOICES)('$name accepts $value in $path', async ({ name, path, value }) => {
	const [field = '', ...below] = path.split('.');
	const within = (inner: unknown, key: string) => ({
		[key]: key === 'rule' ? [{ attribute: 'x', ...Object(inner) }] : inner,
	});
	const parameters = {
		...operations[name],
		...(field === 'method' && { returnAll: false }),
		device: get.device,
		[field]: below.reduceRight<unknown>(within, value),
	};
	await expect(refusalOf(parameters)).rejects.toThrow('It was not refused');
});
