import { Failure } from '../../../nodes/DeviceManagement/core/failure.ts';
import type { Page } from '../../../nodes/DeviceManagement/core/paging/page.ts';
import type { PagedServer, ServerScript } from '../../../testbed/pagedServer.mts';
import { type Device, Fleet } from '../../../testbed/platform/fleet.mts';
import { fetchPart, late, noSuchPage, removeFirst, say, serve } from './pages.mts';

type Script = Partial<ServerScript>;
const read = async ({ source }: Pick<PagedServer, 'source'>, skip: number, limit?: number, pageSize = 10) =>
	await fetchPart(source, { pageSize, parallelRequests: 1, skip, limit });

/** The pages that were requested, like `first 2 3`. */
const requestsOf = ({ asked }: PagedServer) => asked.map((page) => page ?? 'first').join(' ');
const list = 'first 2 3 4 5';

describe('the part of 12 devices after 35', () => {
	const { devices } = Fleet.seeded({ size: 95 });

	test.each<[costs: string, Script, requests: string]>([
		['only the first page and its own ones', {}, 'first 4 5'],
		['the list, without page numbers', { falsify: say({ number: undefined }) }, `first 4 3 first 1 2 3 4 5`],
		['one page more, where pages count from 0', { numbering: 'zero-based' }, 'first 4 3 4'],
		['more pages, where these are shorter', { largestSize: 5 }, 'first 8 9 10'],
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
		[
			'its own ones again, once a device before it is removed',
			{ changes: new Map([[3, removeFirst]]) },
			'first 4 5 4 4 5',
		],
	])('costs %s', async (_, script, requests) => {
		const server = serve(95, script);
		expect((await read(server, 35, 12)).items).toEqual(server.fleet.devices.slice(35, 47));
		expect(requestsOf(server)).toBe(requests);
	});

	/** Another response for the second page of the part, which otherwise proves its place. */
	test.each<[what: string, Partial<Page<Device>>]>([
		['a hidden device', { content: devices.slice(41, 50) }],
		['another offset', { pageable: { offset: 50 } }],
		['another size', { size: 20 }],
		['another number', { number: 5 }],
		['no number', { number: undefined }],
		['no total', { totalElements: undefined }],
	])('costs the list if a page has %s', async (_, answer) => {
		const server = serve(95);
		let isFirst = true;
		const fetchPage: typeof server.source.fetchPage = async (page, size) => {
			const honest = await server.source.fetchPage(page, size);
			if (page !== 5 || !isFirst) return honest;
			isFirst = false;
			return { ...honest, ...answer };
		};
		const { items } = await read({ source: { ...server.source, fetchPage } }, 35, 12);
		expect(items).toEqual(devices.slice(35, 47));
		expect(requestsOf(server)).toMatch(/^first 4 5 (4 )?(3 )?first 2 3 4 5$/);
	});

	test('is not believed where offsets are one page too small, and no number says so', async () => {
		const falsify: ServerScript['falsify'] = ({ pageable, number: _, ...said }) => {
			return { ...said, pageable: { offset: Math.max(0, (pageable?.offset ?? 0) - 10) } };
		};
		const server = serve(95, { numbering: 'zero-based', falsify });
		expect((await read(server, 35, 12)).items).toEqual(server.fleet.devices.slice(35, 47));
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
