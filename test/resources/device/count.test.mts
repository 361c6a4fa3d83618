import { useBench } from '../../../testbed/jest.mts';
import { jsonOf } from '../../../testbed/output.mts';
import { count, type Parameters, runAlone } from '../../../testbed/oneItem.mts';

const bench = useBench();

const counted = async (parameters: Parameters = {}) => await bench.run({ ...count, ...parameters });

test('counts the fleet by reading one device, or more if the platform refuses so small a page', async () => {
	expect(jsonOf(await counted())).toEqual([{ count: 250 }]);
	expect(bench.platform.requestsOf('list')).toMatchObject([{ query: { size: '1' }, body: {} }]);
	bench.platform.settings.fault = ({ query }) => (query['size'] === '1' ? { code: 10001 } : undefined);
	expect(jsonOf(await counted())).toEqual([{ count: 250 }]);
});

test('sends the filters as Get Many does', async () => {
	const filters = { compositeStatus: 2, name: 'R & D', body: '{"onlineStatus": 1}' };
	const { sent, output } = await runAlone({ ...count, filters }, () => ({ content: [], totalElements: 0 }));
	expect(sent).toMatchObject([{ body: '{"onlineStatus":1,"compositeStatus":2}', query: { name: 'R & D', size: '1' } }]);
	expect(output).toEqual([{ count: 0 }]);
});

test.each([9_999, 10_000, 10_001])(
	'a hint says that %s may be a cap, if it is exactly 10,000',
	async (totalElements) => {
		const { hints } = await runAlone(count, () => ({ content: [{ id: 'x' }], totalElements }));
		expect(hints).toEqual(totalElements === 10_000 ? [expect.stringContaining('exactly 10,000')] : []);
	},
);

test.each([undefined, '2.5', 0, -1, 2.5])(
	'makes no count up for a total of %j: the item fails',
	async (totalElements) => {
		await expect(runAlone(count, () => ({ content: [{ id: 'x' }], totalElements }))).rejects.toMatchObject({
			message: "The platform returned no total ('totalElements')",
			details: { remedy: expect.stringContaining("'Get Many' with 'Return All'") },
		});
	},
);

test('says nothing of a sort order that its form does not have', async () => {
	const settings = { equalValues: 'unsteady', ownSort: 'onlineStatus asc', idSort: 'refused', largestSize: 60 };
	Object.assign(bench.platform.settings, settings);
	const { error } = await counted({ filters: { group: 'Default' } });
	expect(error).toMatchObject({
		message: expect.stringContaining('The list kept changing'),
		description: 'Run the workflow again.',
	});
});
