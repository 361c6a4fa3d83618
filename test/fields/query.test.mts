import fc from 'fast-check';

import { Failure } from '../../nodes/DeviceManagement/core/failure.ts';
import { readFilters } from '../../nodes/DeviceManagement/fields/filters.ts';
import { addParameter } from '../../nodes/DeviceManagement/fields/queryParameters.ts';
import { readSort } from '../../nodes/DeviceManagement/fields/sort.ts';
import { runs } from '../../testbed/runs.mts';
import { filterFields } from '../form.mts';

/** The query parameters that 'Sort' and 'Filters' become, and the words for what is refused. */

interface Rule {
	field: string;
	direction: 'asc' | 'desc';
}

const sortOf = (rule: Rule[]) => readSort(() => ({ rule }));
const queryOf = (filters: Record<string, unknown>) => readFilters(() => filters).query;
const attributes = (...pair: Array<{ key: string; value: string }>) => ({ attributes: { pair } });
const parameters = (...parameter: Array<{ name: string; value: string }>) => ({ query: { parameter } });

describe('sort', () => {
	const asc = (field: string): Rule => ({ field, direction: 'asc' });
	const desc = (field: string): Rule => ({ field, direction: 'desc' });

	test.each([
		['one rule', [desc('createTime')], ['createTime desc']],
		['rules of one direction share a value', [asc('a'), asc('b')], ['a,b asc']],
		['a change of direction begins a new one', [asc('a'), asc('b'), desc('c')], ['a,b asc', 'c desc']],
		['the order of rules is kept', [asc('a'), desc('b'), asc('c')], ['a asc', 'b desc', 'c asc']],
		['an attribute', [{ ...desc('attributes'), attribute: ' site ' }], ['attributes.site desc']],
		['no rule', [], []],
	])('%s', (_, rules, values) => {
		expect(sortOf(rules)).toEqual(values);
	});

	test('reads back as the rules it was made of', () => {
		const name = fc.stringMatching(/^[a-zA-Z][a-zA-Z0-9._-]*$/).filter((text) => !/^(attributes|custom)$/.test(text));
		const rule = fc.record({ field: name, direction: fc.constantFrom('asc' as const, 'desc' as const) });
		fc.assert(
			fc.property(fc.array(rule), (rules) => {
				const back = sortOf(rules).flatMap((value) => {
					const [fields = '', direction] = value.split(' ');
					return fields.split(',').map((field) => ({ field, direction }));
				});
				expect(back).toEqual(rules);
			}),
			runs(1000),
		);
	});
});

describe('a query', () => {
	test('has every filter of the form under its name in the API document', () => {
		const filters = {
			name: 'Zürich & co',
			tags: ' a , b ,,',
			...attributes({ key: 'site', value: 'North Harbour' }, { key: ' floor ', value: '2' }),
			...parameters({ name: 'x', value: '1' }, { name: 'x', value: '' }, { name: 'y', value: '+%#' }),
			compositeStatus: 2,
			body: '{"status": 1}',
		};
		expect(Object.keys(filters).sort()).toEqual(filterFields.map(({ name }) => name).sort());
		expect(readFilters(() => filters)).toEqual({
			body: '{"status":1,"compositeStatus":2}',
			query: { name: 'Zürich & co', tags: 'a,b', attributes: 'site North Harbour,floor 2', x: ['1', ''], y: '+%#' },
		});
	});

	test('holds nothing that was not given', () => {
		expect(queryOf({})).toEqual({});
		expect(queryOf({ name: ' a ' })).toEqual({ name: ' a ' });
		expect(queryOf({ tags: 'a' })).toEqual({ tags: 'a' });
	});

	test('repeats a parameter that is given more than once, in order', () => {
		const query = {};
		for (const value of ['1', '2', '3']) addParameter(query, 'x', value);
		addParameter(query, 'toString', '4');
		expect(query).toEqual({ x: ['1', '2', '3'], toString: '4' });
	});

	test('takes any name for a parameter but those that are set by the node or lost on the way', () => {
		for (const name of ['pages', 'sizes', 'sort by', 'Page', 'prototypes']) {
			expect(queryOf(parameters({ name: ` ${name} `, value: 'x' }))).toEqual({ [name]: 'x' });
		}
		for (const name of ['__proto__', 'constructor', 'prototype']) {
			expect(() => addParameter({}, name, 'x')).toThrow(name);
		}
	});
});

describe('words for what is refused', () => {
	const NO_VALUE = 'Enter a value, or remove the attribute. If it is an expression, it gave no value for this item.';
	const NAME = 'Enter one name per entry, without them.';
	const CUT = 'is cut in the middle of a character | Check the expression that cuts the text.';
	const SET_BY_NODE =
		"under 'Query Parameters' | Remove it. The node reads all pages, and only its own fields set their size and order.";
	const sortBy = (field: string) => sortOf([{ field, direction: 'asc' }]);
	const attribute = (key: string, value: string) => queryOf(attributes({ key, value }));
	const parameter = (name: string) => queryOf(parameters({ name, value: '1' }));

	test.each<[() => unknown, string]>([
		[() => sortBy(' '), "A field name under 'Sort' is empty | Fill it in, or remove the entry."],
		[() => sortBy('a b'), `"a b", a field name under 'Sort', contains a space or a comma | ${NAME}`],
		[() => sortBy('a,b'), `"a,b", a field name under 'Sort', contains a space or a comma | ${NAME}`],
		[() => sortBy('\ud800'), `The text of a field name under 'Sort' ${CUT}`],
		[() => queryOf({ name: '\ud800' }), `The text of 'Name' ${CUT}`],
		[() => queryOf({ tags: 'a,\ud800' }), `The text of 'Tags' ${CUT}`],
		[() => attribute('a', ' '), `The attribute "a" under 'Attributes' has no value | ${NO_VALUE}`],
		[
			() => attribute('a', 'b,c'),
			`The value of the attribute "a" under 'Attributes' contains a comma | The platform can't filter by it. Filter by another attribute, or filter the devices in a later step.`,
		],
		[() => attribute('a', '\ud800'), `The text of the attribute "a" ${CUT}`],
		[() => attribute(' ', 'x'), "A key under 'Attributes' is empty | Fill it in, or remove the entry."],
		[() => parameter(' page '), `The node already sets the parameter "page" ${SET_BY_NODE}`],
		[() => parameter('size'), `The node already sets the parameter "size" ${SET_BY_NODE}`],
		[
			() => addParameter({}, '', 'x'),
			"A parameter under 'Query Parameters' has no name | Fill in its 'Name', or remove it.",
		],
		[
			() => addParameter({}, 'constructor', 'x'),
			"A parameter under 'Query Parameters' can't have the name \"constructor\" | n8n doesn't send parameters of that name. Remove it.",
		],
		[() => addParameter({}, '\ud800', 'x'), `The text of 'Query Parameters' ${CUT}`],
		[() => addParameter({}, 'a', '\ud800'), `The text of the parameter "a" ${CUT}`],
	])('%#', (run, expected) => {
		let details: Partial<Failure['details']> = {};
		try {
			run();
		} catch (error) {
			if (error instanceof Failure) ({ details } = error);
		}
		expect(`${details.message} | ${details.remedy}`).toBe(expected);
		expect(details.kind).toBe('input');
	});
});
