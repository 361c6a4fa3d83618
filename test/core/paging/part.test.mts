import type { ServerScript } from '../../../testbed/pagedServer.mts';
import { fetchPart, late, noSuchPage, removeFirst, say, serve } from '../../../testbed/pageScripts.mts';

const read = async ({ source }: ReturnType<typeof serve>, skip: number) =>
	await fetchPart(source, { pageSize: 10, parallelRequests: 1, skip, limit: 12 });
const list = 'first 2 3 4 5';
const refused = { failing: new Map([2, 3].map((request) => [request, noSuchPage])) };
const removed = { changes: new Map([[3, removeFirst]]) };

/** Of 12 devices after 35 of 95, unless the row says otherwise. */
test.each<[promise: string, Partial<ServerScript>, requests: string, size?: number, skip?: number]>([
	['only the first page and its own ones', {}, 'first 4 5'],
	['no request to find it on the first page', {}, 'first 2', 95, 7],
	['the page of the last device', {}, 'first 4', 31, 30],
	['a page after the last device', {}, 'first 4', 30, 30],
	['the list, where a page after the last device is refused', { pastEnd: noSuchPage }, 'first 4 3 first 2', 20, 30],
	['one page more, where pages count from 0', { numbering: 'zero-based' }, 'first 4 3 4'],
	['more pages, where these are shorter', { largestSize: 5 }, 'first 8 9 10'],
	['the list, without page numbers', { falsify: say({ number: undefined }) }, `first 4 3 first 1 2 3 4 5`],
	['the list, without an offset', { falsify: say({ pageable: undefined }) }, `first ${list}`],
	['the list, without a size', { falsify: say({ size: undefined }) }, `first 4 3 ${list}`],
	['the list, where its page is refused', refused, `first 4 3 ${list}`],
	['its own pages again, once a device before it is removed', removed, 'first 4 5 4 4 5'],
])('a part costs %s', async (_, script, requests, size = 95, skip = 35) => {
	const server = serve(size, script);
	const listing = await read(server, skip);
	const { fleet, asked } = server;
	const items = fleet.devices.slice(skip, skip + 12);
	expect(listing).toMatchObject({ items, settled: true, reportedTotal: fleet.size });
	expect(asked.map((page) => page ?? 'first').join(' ')).toBe(requests);
});

test('a part fails if its page fails', async () => {
	await expect(read(serve(95, { failing: new Map([[2, late]]) }), 35)).rejects.toBe(late);
});
