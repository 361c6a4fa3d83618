import { Failure } from '../../../nodes/DeviceManagement/core/failure.ts';
import type { PagedServer, ServerScript } from '../../../testbed/pagedServer.mts';
import { fetchPart, late, noSuchPage, removeFirst, say, serve } from './pages.mts';

type Script = Partial<ServerScript>;
const read = async ({ source }: Pick<PagedServer, 'source'>, skip: number, limit?: number, pageSize = 10) =>
	await fetchPart(source, { pageSize, parallelRequests: 1, skip, limit });

/** The pages that were requested, like `first 2 3`. */
const requestsOf = ({ asked }: PagedServer) => asked.map((page) => page ?? 'first').join(' ');
const list = 'first 2 3 4 5';

describe('the part of 12 devices after 35', () => {
	test.each<[costs: string, Script, requests: string]>([
		['only the first page and its own ones', {}, 'first 4 5'],
		['the same, without page numbers', { falsify: say({ number: undefined }) }, 'first 4 5'],
		['one page more, where pages count from 0', { numbering: 'zero-based' }, 'first 4 3 4'],
		['one page more, where pages are shorter', { largestSize: 5 }, 'first first 8 9 10'],
		['the list, without an offset', { falsify: say({ pageable: undefined }) }, `first ${list}`],
		[
			'the list, where offsets count from 1',
			{ falsify: ({ pageable, ...said }) => ({ ...said, pageable: { offset: (pageable?.offset ?? 0) + 10 } }) },
			`first ${list}`,
		],
		['the list, without a size', { falsify: say({ size: undefined }) }, `first 4 3 ${list}`],
		[
			'the list, where its page is refused',
			{ failing: new Map([2, 3].map((one) => [one, noSuchPage])) },
			`first 4 3 ${list}`,
		],
		['the list, once a device before it is removed', { changes: new Map([[3, removeFirst]]) }, `first 4 5 ${list}`],
	])('costs %s', async (_, script, requests) => {
		const server = serve(95, script);
		expect((await read(server, 35, 12)).items).toEqual(server.fleet.devices.slice(35, 47));
		expect(requestsOf(server)).toBe(requests);
	});

	test('fails if its page fails', async () => {
		await expect(read(serve(95, { failing: new Map([[2, late]]) }), 35, 12)).rejects.toBe(late);
	});
});

describe('a part', () => {
	test.each<[what: string, size: number, skip: number, Script, requests: string]>([
		['on the first page costs no request to find it', 95, 7, {}, 'first 2'],
		['of the last device costs its page', 31, 30, {}, 'first 4'],
		['after the last device costs a page', 30, 30, {}, 'first 4'],
		[
			'after the last device costs the list, where that page is refused',
			20,
			30,
			{ pastEnd: noSuchPage },
			'first 4 3 first 2',
		],
	])('%s', async (_, size, skip, script, requests) => {
		const server = serve(size, script);
		const items = server.fleet.devices.slice(skip, skip + 12);
		expect(await read(server, skip, 12)).toMatchObject({ items, settled: true, reportedTotal: size });
		expect(requestsOf(server)).toBe(requests);
	});

	test('fails with a message if the platform ignores page numbers', async () => {
		const outcome = await read(serve(95, { ignoresPage: true }), 30, 10).catch((thrown: unknown) => thrown);
		expect(outcome).toBeInstanceOf(Failure);
		expect(outcome).toMatchObject({ details: { kind: 'paging' } });
	});
});
