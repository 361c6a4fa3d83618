import type { NodeRun } from '../../../testbed/bench.mts';
import { useBench } from '../../../testbed/jest.mts';
import { jsonOf, outputOf, pairedItemsOf } from '../../../testbed/output.mts';

const bench = useBench();

const count = async (parameters: Record<string, unknown> = {}, run: NodeRun = {}) => {
	bench.platform.forget();
	return await bench.run({ resource: 'device', operation: 'count', ...parameters }, run);
};
const online = () => bench.fleet.devices.filter(({ status }) => status === 2).length;

it.each(['apiKey', 'login'] as const)(
	'counts the fleet by reading one device at most, signed in by %s',
	async (way) => {
		expect(jsonOf(await count({}, { credential: bench[way] }))).toEqual([{ count: 250 }]);
		expect(bench.platform.requestsOf('list').map(({ query, body }) => ({ query, body }))).toEqual([
			{ query: { size: '1' }, body: {} },
		]);
	},
);

it('counts the fleet of a platform that refuses a page of one device', async () => {
	bench.platform.settings.fault = ({ query }) => (query['size'] === '1' ? { code: 10001 } : undefined);
	expect(jsonOf(await count())).toEqual([{ count: 250 }]);
});

it('counts the devices that meet the filters, sent as Get Many sends them', async () => {
	const result = await count({
		filters: {
			compositeStatus: 2,
			name: 'R & D, "x" #1',
			tags: 'indoor',
			attributes: { pair: [{ key: 'site', value: 'São Paulo' }] },
			query: { parameter: [{ name: 'creator', value: 'admin' }] },
			body: '{"onlineStatus": 1}',
		},
	});
	expect(jsonOf(result)).toEqual([{ count: 0 }]);
	expect(bench.platform.requests[0]).toMatchObject({
		body: { compositeStatus: 2, onlineStatus: 1 },
		query: { name: 'R & D, "x" #1', tags: 'indoor', attributes: 'site São Paulo', creator: 'admin', size: '1' },
	});
	expect(jsonOf(await count({ filters: { compositeStatus: 2 } }))).toEqual([{ count: online() }]);
});

it('returns one item for each input item, in its order and paired with it', async () => {
	const result = await count(
		{ filters: { compositeStatus: '={{ $json.status }}' } },
		{ input: [{ status: 2 }, { status: 99 }, { status: 2 }] },
	);
	expect(jsonOf(result)).toEqual([{ count: online() }, { count: 0 }, { count: online() }]);
	expect(pairedItemsOf(result)).toEqual([0, 1, 2]);
});

it('reads the credential once for each item, because it may hold expressions', async () => {
	const before = bench.engine.credentialUse;
	await count({}, { input: Array.from({ length: 20 }, () => ({})) });
	expect(bench.engine.credentialUse.decrypted - before.decrypted).toBe(20);
});

it.each([
	{ name: 'missing', totalElements: undefined },
	{ name: 'text', totalElements: '250' },
	{ name: 'below what the page holds', totalElements: 0 },
	{ name: 'negative', totalElements: -1 },
	{ name: 'a fraction', totalElements: 2.5 },
])('a total that is $name is not made up, but said', async ({ totalElements }) => {
	bench.platform.settings.changePage = (page) => ({ ...page, totalElements });
	const result = await count();
	expect(result.error?.message).toBe("The platform's response has no total number of devices ('totalElements')");
	expect(result.error?.description).toContain("'Get Many' to return all devices");
	expect(outputOf({ ...result, error: undefined })).toEqual([]);
});
