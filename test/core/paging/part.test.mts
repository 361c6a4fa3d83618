import { Failure } from '../../../nodes/DeviceManagement/core/failure.ts';
import type { Page } from '../../../nodes/DeviceManagement/core/paging/page.ts';
import { fetchPart } from '../../../nodes/DeviceManagement/core/paging/part.ts';
import { PagedServer, type ServerScript } from '../../../testbed/pagedServer.mts';
import { type Device, Fleet } from '../../../testbed/platform/fleet.mts';
import { late, noSuchPage, removeFirst, say, serve } from './pages.mts';

type Script = Partial<ServerScript>;
const read = async ({ source }: Pick<PagedServer, 'source'>, skip: number, limit?: number, pageSize = 10) =>
	await fetchPart(source, { pageSize, parallelRequests: 1, skip, limit });

/** The pages that were requested, like `first 2 3`. */
const requestsOf = ({ asked }: PagedServer) => asked.map((page) => page ?? 'first').join(' ');
/** The requests that find a part: the first page, then three for one device: page 1, the first page, the part's first device. */
const findAt = (position: number) => `first 1 first ${position}`;
const noOffset = { falsify: say({ pageable: undefined }) };

describe('the part of 12 devices after 35', () => {
	const { devices } = Fleet.seeded({ size: 95 });
	const find = findAt(31);
	const list = 'first 2 3 4 5';
	const noTotal = { falsify: say({ totalElements: undefined }) };

	test.each<[costs: string, Script, requests: string]>([
		['only its own pages', {}, `${find} 4 5`],
		['only its own pages, without an offset', noOffset, `${find} 4 5`],
		['only its own pages, without page numbers', { falsify: say({ number: undefined }) }, `${find} 4 5`],
		['the list, where one device is too small a page', { failing: new Map([[2, noSuchPage]]) }, `first 1 ${list}`],
		['the list, where no page has its first device', { failing: new Map([[4, noSuchPage]]) }, `${find} ${list}`],
		['the list, once a device before it is removed', { changes: new Map([[5, removeFirst]]) }, `${find} 4 ${list}`],
		['the list, where the count of pages is wrong', { falsify: say({ totalPages: 9 }) }, `${find} ${list}`],
		['the list, where each page says that it is the last', { falsify: say({ last: true }) }, `${find} ${list}`],
		['the list twice, without a total', noTotal, 'first first 1 2 3 4 5 first 1 2 3 4 5'],
	])('costs %s', async (_, script, requests) => {
		const server = serve(95, script);
		expect((await read(server, 35, 12)).items).toEqual(server.fleet.devices.slice(35, 47));
		expect(requestsOf(server)).toBe(requests);
	});

	/** Another response to the last request that finds the part, or for its first page. */
	test.each<[promise: string, to: 'device' | 'page', answer: Partial<Page<Device>> | Failure]>([
		['costs the list if the request for its first device returns another total', 'device', { totalElements: 94 }],
		['costs the list if the request for its first device returns none', 'device', { content: [] }],
		['costs the list if the request for its first device returns two', 'device', { content: devices.slice(30, 32) }],
		['costs the list if its page begins elsewhere', 'page', { content: devices.slice(30, 40).reverse() }],
		['costs the list if its page is short', 'page', { content: devices.slice(30, 38) }],
		['costs the list if its page has another offset', 'page', { pageable: { offset: 40 } }],
		['fails if the request for its first device fails', 'device', late],
		['fails, without smaller pages, if its page fails', 'page', noSuchPage],
	])('%s', async (_, to, answer) => {
		const server = serve(95);
		const fetchPage = async (page: number | undefined, size: number) => {
			const honest = await server.source.fetchPage(page, size);
			if (to === 'device' ? page !== 31 || size !== 1 : page !== 4 || size === 1) return honest;
			if (answer instanceof Failure) throw answer;
			return { ...honest, ...answer };
		};
		const outcome = await read({ source: { ...server.source, fetchPage } }, 35, 12).catch((thrown: unknown) => thrown);
		const fails = answer instanceof Failure;
		expect(outcome === answer).toBe(fails);
		expect(requestsOf(server)).toBe(`${find}${to === 'page' ? ' 4' : ''}${fails ? '' : ` ${list}`}`);
	});
});

describe('a part', () => {
	const pastEnd: Script = { pastEnd: noSuchPage, numbering: 'zero-based' };
	test.each<[what: string, size: number, skip: number, Script, requests: string]>([
		['on the first page costs no request to find it', 95, 7, {}, 'first 2'],
		['after a list of one page costs the list twice', 9, 12, {}, 'first first'],
		['of the last device costs its page', 31, 30, {}, `${findAt(31)} 4`],
		['of the last device costs the list, without an offset', 31, 30, noOffset, `${findAt(31)} first 2 3 4`],
		['after the last device costs no page', 30, 30, pastEnd, findAt(29)],
	])('%s', async (_, size, skip, script, requests) => {
		const server = serve(size, script);
		const items = server.fleet.devices.slice(skip, skip + 12);
		expect(await read(server, skip, 12)).toMatchObject({ items, settled: true, tied: false, reportedTotal: size });
		expect(requestsOf(server)).toBe(requests);
	});

	test.each([{}, noOffset])('fails with a message if the platform ignores page numbers', async (script) => {
		const reading = read(serve(95, { ...script, ignoresPage: true }), 30, 10);
		await expect(reading).rejects.toMatchObject({ details: { kind: 'paging' } });
	});
});

test('a part is read again, without the pages before it, if a device is added in it', async () => {
	const server = serve(95, { changes: new Map([[6, (fleet) => void fleet.add(fleet.make(), 60)]]) });
	const items = server.fleet.devices.slice(35, 55);
	expect(await read(server, 35, 20)).toMatchObject({ settled: true, passes: 2, items, reportedTotal: 96 });
	expect(server.asked.filter((page) => page === 2 || page === 3)).toEqual([]);
});
