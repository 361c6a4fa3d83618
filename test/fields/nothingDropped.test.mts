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
import { runs } from '../../testbed/runs.mts';
import { filterFields } from '../form.mts';
import { COLLECTIONS } from './oneItem.mts';

const bench = useBench();

test.each(COLLECTIONS)(
	'$label of $operation given as a text reaches the node as it is, and is refused',
	async ({ label, name, parameters }) => {
		const result = await bench.run({ ...parameters, [name]: '={{ "harbour" }}' }, { input: [{}, {}] });
		expect(result.error?.message).toBe(`'${label}' is text of 7 characters instead of an object [item 0]`);
		expect(bench.platform.requests).toEqual([]);
	},
);

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

test('any value of an expression for filters narrows the list, or is refused', () => {
	const filter = fc.oneof(fc.anything(), fc.constantFrom('', ' ', '{}', 'x', '{"a":1}', 0, undefined, null));
	const filters = fc.oneof(
		fc.anything({ withDate: true, withMap: true, withSet: true, withTypedArray: true }),
		fc.dictionary(fc.constantFrom(...filterFields.map(({ name }) => name), 'other'), filter),
		fc.json(),
	);
	fc.assert(
		fc.property(filters, (value) => {
			let criteria;
			try {
				criteria = readFilters(() => value);
			} catch (thrown) {
				if (thrown instanceof Failure && thrown.details.kind === 'input') return;
				throw thrown;
			}
			const given = typeof value === 'string' ? JSON.parse(value) : value;
			const narrows = criteria.body !== '{}' || Object.keys({ ...criteria.query, ...criteria.own }).length > 0;
			expect(narrows).toBe(Object.keys(Object(given)).length > 0);
		}),
		runs(2000),
	);
});
