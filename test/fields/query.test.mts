/** The search criteria and query parameters that 'Filters' and 'Sort' become. */
import { readFilters } from '../../nodes/DeviceManagement/fields/filters.ts';
import { readSort } from '../../nodes/DeviceManagement/fields/sort.ts';
import { devicePath } from '../../nodes/DeviceManagement/core/address.ts';
import { checkJson } from '../../nodes/DeviceManagement/fields/check.ts';
import { readRules } from '../../nodes/DeviceManagement/trigger/form/ruleForm.ts';
import { filterFields } from '../../testbed/form.mts';

interface Rule {
	field?: string;
	attribute?: string;
	direction?: 'asc' | 'desc';
}

const sortOf = (rule: Rule[]) => readSort(() => ({ rule }));
const attributes = (...pair: unknown[]) => ({ attributes: { pair } });
const parameters = (...parameter: unknown[]) => ({ query: { parameter } });

describe('sort', () => {
	const asc = (field: string): Rule => ({ field, direction: 'asc' });
	const desc = (field: string): Rule => ({ field, direction: 'desc' });

	test.each<[promise: string, Rule[], values: string[]]>([
		['rules of one direction share a value', [asc('a'), asc('b'), desc('c'), asc('d')], ['a,b asc', 'c desc', 'd asc']],
		[
			'what is missing is the default',
			[{}, { field: 'sn' }, { direction: 'asc' }],
			['createTime,sn desc', 'createTime asc'],
		],
		['an attribute in any script', [{ ...asc('attributes'), attribute: ' место  x ' }], ['attributes.место  x asc']],
		['a name of the platform', [{ ...asc('custom'), attribute: ' model.name ' }], ['model.name asc']],
	])('%s, also as JSON text', (_, rules, values) => {
		expect(sortOf(rules)).toEqual(values);
		expect(readSort(() => JSON.stringify({ rule: rules }))).toEqual(values);
	});
});

test('a request has every filter of the form under its name in the API document, but those that the node checks', () => {
	const filters = {
		name: 'Zürich & co',
		tags: ' a , b ,,\nc\td',
		...attributes({ key: 'site', value: 'North Harbour' }, { key: ' floor ', value: '2' }),
		...parameters(...['1', '2'].map((value) => ({ name: 'x', value })), { name: 'y', value: '+%#' }),
		compositeStatus: 2,
		onlineStatus: '0',
		group: ' Zürich ',
		body: '{"status": 1}',
	};
	expect(Object.keys(filters).sort()).toEqual([...new Set(filterFields.map(({ name }) => name))].sort());
	const attribute = 'site North Harbour,floor 2';
	expect(readFilters(() => filters)).toEqual({
		body: '{"status":1,"compositeStatus":2}',
		query: { name: 'Zürich & co', tags: 'a,b,c,d', attributes: attribute, x: ['1', '2'], y: '+%#' },
		own: { onlineStatus: 0, group: 'Zürich' },
	});
});

/** What a pasted text, n8n's editor or a document leaves around a value. */
const WHITE = [...' \t\n\u00a0\u2003\u202f\u2028\u3000\ufeff\u200b\u200e', '\r\n', ' \t\u00a0\n\u200b '];
test.each(WHITE.map((white) => [JSON.stringify(white), white] as const))('%s around a value is removed', (_, white) => {
	const around = (text: string) => `${white}${text}${white}`;
	const inside = /[\t\n]/.test(white) ? 'a b' : `a${white}b`;
	const filters = {
		name: around(inside),
		tags: `${around(inside)},${around('c')}`,
		...attributes({ key: around('site'), value: around(inside) }),
		...parameters({ name: around('x'), value: around(inside) }),
		group: around(inside),
	};
	const query = { name: inside, tags: `${inside},c`, attributes: `site ${inside}`, x: inside };
	expect(readFilters(() => filters)).toEqual({ body: '{}', query, own: { group: inside } });
	expect(readFilters(() => ({ tags: [around('c'), around(inside)] })).query).toEqual({ tags: `c,${inside}` });
	const rule = { field: around('attributes'), attribute: around('site'), direction: 'asc' as const };
	expect(sortOf([rule, { ...rule, field: 'custom' }])).toEqual(['attributes.site,site asc']);
	const condition = { field: 'attributes', attribute: around('site'), from: around(inside), to: around('b') };
	expect(readRules(() => ({ rule: [condition] }))).toMatchObject([{ from: inside, to: 'b' }]);
	// A serial number may have invisible characters on the platform, too.
	if (around('').trim() === '') expect(devicePath(around(inside))).toBe(devicePath(inside));
	for (const name of ['name', 'tags', 'group'])
		expect(() => readFilters(() => ({ [name]: white }))).toThrow('has no value');
});

/** What an expression leaves in JSON: a quote, a line break, an object, text without quotes, nothing. */
test.each(['{"a": "2" pipe"}', '{"a": "1\n2"}', '{"a": [object Object]}', '{"a": Hamburg}', '{"a": }'])(
	'JSON that an expression has broken names JSON.stringify: %j',
	(text) => {
		const remedy = expect.stringContaining('as {{ JSON.stringify($json.name) }}');
		expect(() => checkJson(text, 'Body')).toThrow(
			expect.objectContaining({ details: expect.objectContaining({ remedy }) }),
		);
	},
);

const NAMES = ['pages', 'sizes', 'sort by', 'Page', 'prototypes', 'toString'];
const ANY = Object.fromEntries(NAMES.map((name) => [name, 'x']));

test.each<[promise: string, filters: unknown, body: unknown, query?: unknown]>([
	['Composite Status may be 0', { compositeStatus: 0 }, { compositeStatus: 0 }],
	['Composite Status may be below 0', { compositeStatus: -(2 ** 31) }, { compositeStatus: -(2 ** 31) }],
	['Composite Status may be text', { compositeStatus: ' 2147483647 ' }, { compositeStatus: 2147483647 }],
	['Composite Status has priority', { compositeStatus: 2, body: '{"compositeStatus": 1}' }, { compositeStatus: 2 }],
	['Search Criteria may be an object', { body: { a: new Date(0) } }, { a: '1970-01-01T00:00:00.000Z' }],
	['all filters may be JSON text', '{"compositeStatus": 2, "name": "x"}', { compositeStatus: 2 }, { name: 'x' }],
	['Name may be a number', { name: 9007199254740991 }, {}, { name: '9007199254740991' }],
	['Name may be a long number as text', { name: '89882110000003456789' }, {}, { name: '89882110000003456789' }],
	['Tags may be a list', { tags: ['indoor', ' cold chain '] }, {}, { tags: 'indoor,cold chain' }],
	['an attribute may be a number', attributes({ key: 'floor', value: 3 }), {}, { attributes: 'floor 3' }],
	[
		'parameters may have almost any name',
		parameters(...NAMES.map((name) => ({ name: ` ${name} `, value: 'x' }))),
		{},
		ANY,
	],
])('%s', (_promise, filters, body, query = {}) => {
	const criteria = readFilters(() => filters);
	expect({ ...criteria, body: JSON.parse(criteria.body) }).toEqual({ body, query });
});
