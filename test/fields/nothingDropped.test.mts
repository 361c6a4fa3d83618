/**
 * Each of these once listed the whole fleet without a word: what narrows or orders a list, or governs a request, is used or
 * refused.
 */
import fc from 'fast-check';

import { Failure } from '../../nodes/DeviceManagement/core/failure.ts';
import { readFilters } from '../../nodes/DeviceManagement/fields/filters.ts';
import { readSettings } from '../../nodes/DeviceManagement/fields/options.ts';
import { readSort } from '../../nodes/DeviceManagement/fields/sort.ts';
import type { ReadParameter } from '../../nodes/DeviceManagement/fields/check.ts';
import { OPTION_NAMES } from '../../nodes/DeviceManagement/resources/index.ts';
import { useBench } from '../../testbed/jest.mts';
import { operationNames, operations, serialNumberItems } from '../../testbed/operations.mts';
import { jsonOf, serialNumbersOf } from '../../testbed/output.mts';
import { runs } from '../../testbed/runs.mts';
import { everyField, filledIn, filterFields } from '../form.mts';
import { COLLECTIONS, count, getMany } from './oneItem.mts';

const bench = useBench();

test.each(COLLECTIONS)(
	'$label of $operation given as a text reaches the node as it is, and is refused',
	async ({ label, name, parameters }) => {
		const result = await bench.run({ ...parameters, [name]: '={{ "harbour" }}' }, { input: [{}, {}] });
		expect(result.error?.message).toBe(`'${label}' is text of 7 characters instead of an object [item 0]`);
		expect(bench.platform.requests).toEqual([]);
	},
);

test('a filter that the form does not have reaches the node, and is refused', async () => {
	const { error } = await bench.run({ ...getMany, filters: { nmae: 'harbour' } });
	expect(error?.message).toBe('There is no filter "nmae" under \'Filters\'');
	expect(bench.platform.requests).toEqual([]);
});

test.each(['as JSON text', 'as an object of an expression'])(
	'filters and sort rules given %s are used',
	async (how) => {
		const given = (value: unknown) => {
			const json = JSON.stringify(value);
			return how === 'as JSON text' ? json : `={{ ${json} }}`;
		};
		const all = bench.fleet.devices.map(({ sn }) => sn).sort();
		expect(jsonOf(await bench.run({ ...count, filters: given({ name: all[0] }) }))).toEqual([{ count: 1 }]);
		const sort = given({ rule: [{ field: 'sn', direction: 'asc' }] });
		expect(serialNumbersOf(await bench.run({ ...getMany, limit: 5, sort }))).toEqual(all.slice(0, 5));
	},
);

test('a sort rule that n8n does not save, because it is the default, has that default', async () => {
	await bench.run({ ...getMany, sort: { rule: [{}, { field: 'sn' }, { direction: 'asc' }] } });
	expect(bench.platform.requests[0]?.query['sort']).toEqual(['createTime,sn desc', 'createTime asc']);
});

test.each(operationNames)(
	'%s refuses an unknown option, one of the trigger and a filter, and accepts one of another operation',
	async (name) => {
		const run = async (options: unknown) =>
			await bench.run({ ...operations[name], options }, { input: serialNumberItems(bench, 1) });
		for (const unknown of ['skpi', 'emit', 'forAtLeast', 'tags']) {
			const { error } = await run({ [unknown]: 1 });
			expect(error?.message).toBe(`There is no option "${unknown}" under 'Options'`);
		}
		expect(bench.platform.requests).toEqual([]);
		expect((await run('={{ { skip: 3, ifNotFound: "empty", pageSize: 50 } }}')).error).toBeUndefined();
	},
);

test('a parameter that a saved workflow does not have is empty, but not one whose expression is empty', () => {
	const missing: ReadParameter = (_name, fallback) => fallback;
	const settings = { pageSize: 1000, parallelRequests: 8, timeoutMs: 60_000, maxRetries: 3 };
	expect(readFilters(missing)).toEqual({ body: '{}', query: {} });
	expect(readSort(missing)).toEqual([]);
	expect(readSettings(missing, OPTION_NAMES)).toEqual({ options: {}, ...settings });
	const empty: ReadParameter = () => undefined;
	for (const read of [readFilters, readSort, (one: ReadParameter) => readSettings(one, OPTION_NAMES)]) {
		expect(() => read(empty)).toThrow(Failure);
	}
});

/** Returns what the filters become, or why they are refused. */
function criteriaOf(filters: unknown) {
	try {
		return readFilters(() => filters);
	} catch (thrown) {
		if (thrown instanceof Failure && thrown.details.kind === 'input') return thrown;
		throw thrown;
	}
}

test('any value of an expression for filters narrows the list, or is refused', () => {
	const filter = fc.oneof(fc.anything(), fc.constantFrom('', ' ', '{}', 'x', '{"a":1}', 0, undefined, null));
	const filters = fc.oneof(
		fc.anything({ withDate: true, withMap: true, withSet: true, withTypedArray: true }),
		fc.dictionary(fc.constantFrom(...filterFields.map(({ name }) => name), 'other'), filter),
		fc.json(),
	);
	fc.assert(
		fc.property(filters, (value) => {
			const criteria = criteriaOf(value);
			if (criteria instanceof Failure) return;
			const given = typeof value === 'string' ? JSON.parse(value) : value;
			const narrows = criteria.body !== '{}' || Object.keys(criteria.query).length > 0;
			expect(narrows).toBe(Object.keys(Object(given)).length > 0);
		}),
		runs(2000),
	);
});

test('a whole number in any text filter arrives digit by digit, or is refused', () => {
	const digits = fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n }).map(String);
	const texts = everyField(filterFields).filter(({ property }) => property.type === 'string');
	fc.assert(
		fc.property(digits, fc.constantFrom(...texts), (number, { path }) => {
			const filter = filterFields.filter(({ name }) => name === path.split('.')[0]);
			const given = JSON.stringify(filledIn(filter, (at) => (at === path ? null : 'iccid')));
			const criteria = criteriaOf(given.replace('null', number));
			if (Number.isSafeInteger(Number(number))) {
				expect(JSON.stringify(criteria)).toMatch(new RegExp(`(?<![\\d-])${number}(?!\\d)`));
			} else expect(criteria).toMatchObject({ message: expect.stringMatching(/more digits than n8n can keep$/) });
		}),
		runs(2000),
	);
});
