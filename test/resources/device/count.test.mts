import type { NodeRun } from '../../../testbed/bench.mts';
import { useBench } from '../../../testbed/jest.mts';
import { jsonOf } from '../../../testbed/output.mts';
import { count, type Parameters, runAlone } from '../../fields/oneItem.mts';

const bench = useBench();

const counted = async (parameters: Parameters = {}, run: NodeRun = {}) =>
	await bench.run({ ...count, ...parameters }, run);

test.each(['apiKey', 'login'] as const)(
	'counts the fleet by reading one device at most, signed in by %s',
	async (way) => {
		expect(jsonOf(await counted({}, { credential: bench[way] }))).toEqual([{ count: 250 }]);
		expect(bench.platform.requestsOf('list')).toMatchObject([{ query: { size: '1' }, body: {} }]);
	},
);

test('counts the fleet of a platform that refuses a page of one device', async () => {
	bench.platform.settings.fault = ({ query }) => (query['size'] === '1' ? { code: 10001 } : undefined);
	expect(jsonOf(await counted())).toEqual([{ count: 250 }]);
});

test('sends the filters as Get Many does', async () => {
	const filters = { compositeStatus: 2, name: 'R & D', body: '{"onlineStatus": 1}' };
	const { sent, output } = await runAlone({ ...count, filters }, () => ({ content: [], totalElements: 0 }));
	expect(sent).toMatchObject([{ body: '{"onlineStatus":1,"compositeStatus":2}', query: { name: 'R & D', size: '1' } }]);
	expect(output).toEqual([{ count: 0 }]);
});

test.each([undefined, '2.5', 0, -1, 2.5])(
	'a total of %j fails the item: no count is made up',
	async (totalElements) => {
		const page = { content: [{ id: 'x' }], totalElements };
		const refused = runAlone(count, () => page);
		await expect(refused).rejects.toMatchObject({
			message: "The platform returned no total ('totalElements')",
			details: { remedy: expect.stringContaining("'Get Many' with 'Return All'") },
		});
	},
);

test('says nothing of a sort order that its form does not have', async () => {
	const settings = {
		equalValues: 'unsteady',
		ownSort: 'onlineStatus asc',
		idSort: 'refused',
		largestSize: 60,
	} as const;
	Object.assign(bench.platform.settings, settings);
	const { error } = await counted({ filters: { group: 'Default' } });
	expect(error).toMatchObject({
		message: expect.stringContaining('The list kept changing'),
		description: 'Run the workflow again.',
	});
});
