/**
 * What each field refuses, and its words: invalid values, and every filter or sort rule that would be ignored.
 * `badInput.test.mts` shows the same in n8n. What a path refuses is in test/core/address.test.mts.
 */
import { inspect } from 'node:util';

import { plainFilters } from '../../testbed/form.mts';
import { bySerialNumber, count, get, getMany, type Parameters, refusalOf, request } from '../../testbed/oneItem.mts';

/** Half of a character that takes two. */
const HALF = '\ud83d';
/** What an expression returns if the item lacks the field. */
const NOTHING = undefined;
/** A list with a hole: what the expression `[1,,2]` returns. */
const WITH_HOLE = Object.assign([1], { 2: 2 });
/** A number that JavaScript rounds before the node reads it: it would name another device. */
const LONG = Number('89882110000003456789');
/** JSON of more levels than n8n can store. */
const DEEP = `{"a":${'['.repeat(200)}${']'.repeat(200)}}`;
const CYCLE: Parameters = {};
CYCLE['again'] = CYCLE;
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
const limit = (value: unknown) => ({ ...getMany, limit: value });
const option = (name: string) => (value: unknown) => ({ ...getMany, options: { [name]: value } });

/** The message, with `{}` for the quoted label of the field; and parameters with a wrong value in it. */
type Row = [message: string, label: string, ...wrong: Parameters[]];

const WRONG_TYPE = '{} has a value of the wrong type';
const oneOf = (...choices: string[]) => `{} has an unknown value. Use one of: ${choices.join(', ')}`;
const NO_VALUE = "{} under 'Filters' has no value";
const NO_STATUS = '{} must be a whole number from -2,147,483,648 to 2,147,483,647';
const CUT = 'The text of {} is cut in the middle of a character';
const TOO_LONG = 'The number in {} is too long for n8n';

const limited = (label: string, name: string, least: number, most: number): Row => {
	const wrong = [least - 1, most + 1, least + 0.5, ...NO_NUMBERS].map(option(name));
	const limits = [least, most].map((limit) => limit.toLocaleString('en-US')).join(' to ');
	return [`{} must be a whole number from ${limits}`, label, ...wrong];
};
const EMPTY = [NOTHING, null, '', ' ', []];

const REFUSED: readonly Row[] = [
	[WRONG_TYPE, 'Device', device({}), device(['RT1'])],
	[WRONG_TYPE, 'Return All', { ...request, returnAll: 'yes' }, { ...getMany, returnAll: NOTHING }],
	[WRONG_TYPE, 'Fields', ...[get, getMany].map((operation) => ({ ...operation, output: 'selected', fields: 'sn' }))],
	...TEXT_FILTERS.map(({ name, displayName }): Row => [WRONG_TYPE, displayName, filters({ [name]: {} })]),
	[WRONG_TYPE, 'Tags', filter('tags')([{}])],
	[WRONG_TYPE, 'Group', ...[['a'], {}].map(filter('group'))],
	[WRONG_TYPE, 'Attributes', attribute({}, 'x'), ...[{ site: 'x' }, { pair: NOTHING }].map(filter('attributes'))],
	[WRONG_TYPE, 'Attributes', filter('attributes')({ pair: [{ key: 'a', value: 'b', operator: 'not' }] })],
	[WRONG_TYPE, 'Query Parameters', parameter('x', {}), ...[{ site: 'x' }, { parameter: NOTHING }].map(filter('query'))],
	[WRONG_TYPE, 'Query Parameters', filter('query')({ parameter: [{ name: 'x', operator: 'not' }] })],
	[WRONG_TYPE, 'Sort', sort({ field: 'sn' }), sort({ rule: NOTHING }), rule({ order: 'asc' })],
	[WRONG_TYPE, 'Path', path({})],
	[oneOf('raw', 'selected', 'simplified'), 'Output', { ...get, output: 'full' }, { ...getMany, output: NOTHING }],
	[oneOf('asc', 'desc'), 'Sort', ...['DESC', 'up', NOTHING].map((direction) => rule({ direction }))],
	[oneOf('error', 'empty'), 'If Not Found', { ...get, options: { ifNotFound: 'x' } }],
	[oneOf('fail', 'return'), 'If the List Keeps Changing', option('ifFleetChanges')('x')],
	[oneOf('DELETE', 'GET', 'PATCH', 'POST', 'PUT'), 'Method', { ...request, method: 'HEAD' }],
	[
		"{} under 'Filters' is JSON text",
		'Tags',
		...[' ["a", "b"] ', '[\n"a",\n"b"\n]', '"a"', '{"a":1}', ['["a"]']].map(filter('tags')),
	],
	['{} is nothing instead of an object', 'Filters', filters(NOTHING)],
	['{} is null instead of an object', 'Filters', filters(null)],
	['{} is text of 9 characters instead of an object', 'Filters', filters('"harbour"')],
	['{} is text of 6 characters instead of an object', 'Attributes', filter('attributes')('site x')],
	['{} is a list of 1 instead of an object', 'Filters', filters([{ name: 'harbour' }])],
	['{} must be a whole number of 1 or more', 'Limit', ...[0, 1.5, 2 ** 53, NaN, NOTHING, ...NO_NUMBERS].map(limit)],
	['{} must be a whole number of 0 or more', 'Skip', ...[-1, 0.5, 2 ** 53, ...NO_NUMBERS].map(option('skip'))],
	limited('Page Size', 'pageSize', 1, 10_000),
	limited('Parallel Requests', 'parallelRequests', 1, 16),
	limited('Timeout (Milliseconds)', 'timeout', 1, 3_600_000),
	limited('Max Retries', 'maxRetries', 0, 10),
	[NO_STATUS, 'Composite Status', ...[1.5, 2 ** 31, -(2 ** 31) - 1, 'online', [1], {}].map(filter('compositeStatus'))],
	[NO_STATUS, 'Online Status', ...[1.5, 2 ** 31, -(2 ** 31) - 1, 'online', [1], {}].map(filter('onlineStatus'))],
	...plainFilters.map(({ name, displayName }): Row => [NO_VALUE, displayName, ...EMPTY.map(filter(name))]),
	[NO_VALUE, 'Name', { ...count, filters: { name: NOTHING } }],
	[NO_VALUE, 'Tags', ...[[''], ['a', NOTHING], WITH_HOLE, ' , ,'].map(filter('tags'))],
	[NO_VALUE, 'Attributes', ...[{}, '{}', { pair: [] }].map(filter('attributes'))],
	[NO_VALUE, 'Query Parameters', filter('query')({ parameter: [] })],
	[NO_VALUE, CRITERIA, ...['{}', ' { } ', {}].map(filter('body'))],
	["{} isn't valid JSON", CRITERIA, ...['{"a": }', "{'a': 1}"].map(filter('body'))],
	["{} isn't valid JSON", 'Body', body('{'), body('[1,,2]')],
	['{} has no value in "1"', 'Body', body(WITH_HOLE)],
	["{} isn't a JSON object", CRITERIA, ...['[1]', '5', 'null', '"x"', [1], DEEP].map(filter('body'))],
	['{} is nothing instead of JSON', 'Body', body(NOTHING)],
	["{} contains something that isn't JSON", 'Body', body(() => {}), body(CYCLE)],
	['{} has no value in "a"', 'Body', ...[NOTHING, NaN, new Map([[1, 2]]), new Date('x')].map((a) => body({ a }))],
	['{} has no value in "b.c.1"', CRITERIA, filter('body')({ a: 1, b: { c: [1, NOTHING] } })],
	['The serial number in {} is empty', 'Device', ...[' ', NOTHING, null, '\n'].map(device)],
	['The serial number ".." in {} can\'t be part of an address', 'Device', device(' .. ')],
	[CUT, 'Device', device(`RT${HALF}`)],
	...TEXT_FILTERS.map(({ name, displayName }): Row => [CUT, displayName, filters({ [name]: `a,${HALF}` })]),
	[CUT, 'Query Parameters', parameter(HALF), sent(HALF)],
	['The text of a field name under {} is cut in the middle of a character', 'Sort', sortBy('custom')(HALF)],
	['The text of the attribute "site" is cut in the middle of a character', 'Attributes', attribute('site', HALF)],
	['The text of the parameter "x" is cut in the middle of a character', 'Query Parameters', sent('x', HALF)],
	['The tag "b,c" under {} contains a comma', 'Tags', filter('tags')(['a', 'b,c'])],
	['A name under {} is empty', 'Attributes', attribute(' ', 'x')],
	['"my site", a name under {}, contains a space or a comma', 'Attributes', attribute('my site', 'x')],
	['The attribute "site" under {} has no value', 'Attributes', attribute('site', ' '), attribute('site', NOTHING)],
	['The value of the attribute "site" under {} contains a comma', 'Attributes', attribute('site', 'a,b')],
	['A parameter under {} has no name', 'Query Parameters', parameter(' '), sent('')],
	[
		'The parameter "x" under {} has no value',
		'Query Parameters',
		...['', ' ', null].map((value) => parameter('x', value)),
		sent('x', null),
	],
	["{} under 'Filters' contains a line break or a tab", 'Name', ...['a\nb', 'a\tb'].map(filter('name'))],
	...['__proto__', 'constructor', 'prototype'].map((name): Row => {
		return [`A parameter under {} can't have the name "${name}"`, 'Query Parameters', parameter(name), sent(name)];
	}),
	...['page', 'size', 'sort'].map((name): Row => {
		return [`{} can't contain "${name}"`, 'Query Parameters', parameter(` ${name} `)];
	}),
	['A field name under {} is empty', 'Sort', sortBy('custom')(' '), sortBy('attributes')(' ')],
	['"sn asc", a field name under {}, contains a space or a comma', 'Sort', sortBy('custom')('sn asc')],
	['"attributes.a,b", a field name under {}, contains a space or a comma', 'Sort', sortBy('attributes')('a,b')],
	["{} can't be used with DELETE", 'Return All', { ...request, method: 'DELETE', returnAll: true }],
	['The query parameter "page" can\'t be used with {}', 'Return All', { ...sent(' page '), returnAll: true }],
	['The query parameter "size" can\'t be used with {}', 'Return All', { ...sent(' size '), returnAll: true }],
	["{} doesn't start with /api", 'Path', path('https://elsewhere.example/api'), path(NOTHING)],
	['There is no filter "nmae" under {}', 'Filters', filters({ nmae: 'harbour' })],
	['There is no filter "toString" under {}', 'Filters', filters({ name: 'RT', toString: 1 })],
	[TOO_LONG, 'Device', ...[LONG, 2 ** 53, -(2 ** 53)].map(device)],
	...TEXT_FILTERS.map(({ name, displayName }): Row => [TOO_LONG, displayName, filters({ [name]: LONG })]),
	[TOO_LONG, 'Tags', filter('tags')(['a', LONG])],
	[TOO_LONG, 'Attributes', attribute('iccid', LONG), attribute(LONG, 'x')],
	[TOO_LONG, 'Query Parameters', parameter(LONG), parameter('iccid', LONG), sent('iccid', LONG)],
	[TOO_LONG, 'Sort', sortBy('custom')(LONG)],
	[TOO_LONG, CRITERIA, filters({ body: { a: [{ iccid: LONG }] } }), filters({ body: '{"iccid": 8.98e+21}' })],
	[TOO_LONG, 'Path', path(LONG)],
	[TOO_LONG, 'Body', body({ iccid: LONG })],
];

const ON_ONE_LINE = { depth: null, breakLength: Infinity, compact: true };
const cases = REFUSED.flatMap(([message, label, ...wrong]) =>
	wrong.map((parameters) => {
		const { resource: _, operation, ...given } = parameters;
		return [message.replace('{}', `'${label}'`), String(operation), inspect(given, ON_ONE_LINE), parameters] as const;
	}),
);

test.each(cases)('%s: %s with %s, and says what to do', async (message, _operation, _given, parameters) => {
	const remedy = expect.stringMatching(/^[A-Z].{10,}\.$/s);
	expect(await refusalOf(parameters)).toMatchObject({ kind: 'input', message, remedy });
});
