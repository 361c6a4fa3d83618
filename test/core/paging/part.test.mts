import { fetchPart } from '../../../nodes/DeviceManagement/core/paging/part.ts';
import { PagedServer, type ServerScript } from '../../../testbed/pagedServer.mts';
import { type Device, Fleet } from '../../../testbed/platform/fleet.mts';
import { addFirst, always, failure, late, noSuchPage, removeFirst, say, serve, without } from './pages.mts';

const part = async ({ source }: Pick<PagedServer, 'source'>, skip: number, limit?: number, pageSize = 10) =>
	await fetchPart(source, { pageSize, otherSizes: [5], parallelRequests: 1, skip, limit });

/** The requests that find where a part begins, and those of a list that is then read from its beginning. */
const found = [undefined, 1, undefined, 31];
const fromBeginning = [undefined, 2, 3, 4, 5];

describe('the requests for 12 devices after 35', () => {
	test.each<{ of: string; script: Partial<ServerScript>; asked: unknown[] }>([
		{ of: 'that counts from 1', script: {}, asked: [...found, 4, 5] },
		{ of: 'that counts from 0', script: { numbering: 'zero-based' }, asked: [undefined, 1, undefined, 30, 3, 4] },
		{ of: 'with pages of 4', script: { largestSize: 4 }, asked: [undefined, 1, undefined, 33, 9, 10, 11, 12] },
		{ of: 'without an offset', script: { falsify: without('pageable') }, asked: [...found, 4, 5] },
		...[{ totalPages: 9 }, { last: true }].map((said) => ({
			of: `that says ${JSON.stringify(said)}: the list from its beginning`,
			script: { falsify: say(said) },
			asked: [...found, ...fromBeginning],
		})),
		{
			of: 'without a total: the list from its beginning, twice',
			script: { falsify: without('totalElements') },
			asked: [undefined, undefined, 1, 2, 3, 4, 5, undefined, 1, 2, 3, 4, 5],
		},
		{
			of: 'that refuses a page of one device: the list from its beginning',
			script: { failing: new Map([[2, noSuchPage]]) },
			asked: [undefined, 1, ...fromBeginning],
		},
		{
			of: 'whose page has another offset: the list from its beginning',
			script: { falsify: (honest, asked) => (asked === 4 ? { ...honest, pageable: { offset: 40 } } : honest) },
			asked: [...found, 4, ...fromBeginning],
		},
		{
			of: 'where a device goes before the page: the list from its beginning',
			script: { changes: new Map([[5, removeFirst]]) },
			asked: [...found, 4, ...fromBeginning],
		},
	])('of a server $of', async ({ script, asked }) => {
		const server = serve(95, script);
		expect((await part(server, 35, 12)).items).toEqual(server.fleet.devices.slice(35, 47));
		expect(server.asked).toEqual(asked);
	});

	type Answer = (content: readonly Device[]) => readonly Device[];
	const replacing = (server: PagedServer, asked: { page: number; size: number }, change: Answer) => ({
		...server.source,
		fetchPage: async (page: number | undefined, size: number) => {
			const answer = await server.source.fetchPage(page, size);
			return page === asked.page && size === asked.size ? { ...answer, content: change(answer.content) } : answer;
		},
	});

	test.each<{ name: string; page: number; size: number; change: Answer }>([
		{ name: 'no page of one item', page: 31, size: 1, change: () => [] },
		{ name: 'two items on it', page: 31, size: 1, change: (content) => [...content, ...content] },
		{ name: 'a page that is too short', page: 4, size: 10, change: (content) => content.slice(0, 8) },
		{ name: 'a page that begins elsewhere', page: 4, size: 10, change: (content) => [...content].reverse() },
	])('of a server with $name are then those of the list', async ({ change, ...asked }) => {
		const server = serve(95);
		await part({ source: replacing(server, asked, change) }, 35, 12);
		expect(server.asked).toEqual([...found, ...(asked.size === 1 ? [] : [4]), ...fromBeginning]);
	});

	test.each([
		{ page: 'of the first item', asked: 31, thrown: late },
		{ page: 'that has it', asked: 4, thrown: noSuchPage },
	])('end with the failure of the page $page, in one size', async ({ asked, thrown }) => {
		const server = serve(95);
		const sizes: number[] = [];
		const source = replacing(server, { page: asked, size: asked === 4 ? 10 : 1 }, () => {
			sizes.push(asked);
			throw thrown;
		});
		await expect(part({ source }, 35, 12)).rejects.toBe(thrown);
		expect(sizes).toEqual([asked]);
	});
});

describe('a part', () => {
	const few = { largestSize: 600, falsify: without('totalPages') };
	const unplaced = { falsify: without('pageable') };
	test.each<{ name: string; size: number; skip: number; script?: Partial<ServerScript>; asked: unknown[] }>([
		{ name: 'that begins on the first page', size: 95, skip: 7, asked: [undefined, 2] },
		{ name: 'beyond a list of one page', size: 9, skip: 12, asked: [undefined, undefined] },
		{ name: 'that begins with the last item', size: 31, skip: 30, asked: [...found, 4] },
		{ name: 'of the last item', size: 31, skip: 30, script: unplaced, asked: [...found, undefined, 2, 3, 4] },
	])('$name is read', async ({ size, skip, script, asked }) => {
		const server = serve(size, script);
		expect((await part(server, skip, 12)).items).toEqual(server.fleet.devices.slice(skip, skip + 12));
		expect(server.asked).toEqual(asked);
	});

	test('far away, without a page count, is read in few large pages', async () => {
		const server = serve(5000, few);
		expect((await part(server, 4999, 1, 1000)).items).toEqual(server.fleet.devices.slice(4999));
		// Four small pages, and nine of 600.
		expect(server.requests).toBe(13);
	});

	test.each([30, 31, Number.MAX_SAFE_INTEGER])(
		'after %i of 30 has nothing, and asks for nothing there',
		async (skip) => {
			const server = serve(30, { pastEnd: noSuchPage, numbering: 'zero-based' });
			const nothing = { items: [], settled: true, tied: false, reportedTotal: 30, passes: 1 };
			expect(await part(server, skip)).toEqual(nothing);
			expect(server.asked).toEqual([undefined, 1, undefined, 29]);
		},
	);

	test.each([0, 8, 9])(
		'counts a row twice, so that parts have every record of a list with row %i again',
		async (row) => {
			const { devices } = Fleet.seeded({ size: 35 });
			const listed = devices.map((device, position) => ({ ...device, id: String(position === 12 ? row : position) }));
			const server = new PagedServer(new Fleet(listed), { numbering: 'one-based', largestSize: 10 });
			const parts = [0, 5, 10, 15, 20, 25, 30].map(async (skip) => (await part(server, skip, 5)).items);
			const ids = (await Promise.all(parts)).flat().map(({ id }) => id);
			expect(new Set(ids)).toEqual(new Set(listed.map(({ id }) => id)));
		},
	);

	test.each([
		{ accepted: [1, 5], limit: 20 },
		{ accepted: [1, 50], limit: 5 },
	])('of $limit items is read where only the sizes $accepted are accepted', async ({ accepted, limit }) => {
		const server = serve(95);
		const fetchPage: typeof server.source.fetchPage = async (page, size) => {
			if (!accepted.includes(size)) throw failure({ httpStatus: 413 });
			return await server.source.fetchPage(page, size);
		};
		const options = { pageSize: 50, otherSizes: [50, 5], parallelRequests: 1, skip: 60, limit };
		const { items } = await fetchPart({ ...server.source, fetchPage }, options);
		expect(items).toEqual(server.fleet.devices.slice(60, 60 + limit));
	});

	test.each([{}, unplaced])('fails with a message if the server ignores page numbers', async (script) => {
		const reading = part(serve(95, { ...script, ignoresPage: true }), 30, 10);
		await expect(reading).rejects.toMatchObject({ details: { kind: 'paging' } });
	});
});

describe('in a fleet that changes, a part', () => {
	const add = (position: number) => (fleet: Fleet) => void fleet.add(fleet.make(), position);

	test('is read again alone if a device comes after its beginning', async () => {
		const server = serve(95, { changes: new Map([[6, add(60)]]) });
		const items = server.fleet.devices.slice(35, 55);
		expect(await part(server, 35, 20)).toMatchObject({ settled: true, passes: 2, items, reportedTotal: 96 });
		expect(server.asked.filter((page) => page === 2 || page === 3)).toEqual([]);
	});

	test('is never longer than asked, and not settled, if the fleet grows all the time', async () => {
		const { items, settled } = await part(serve(95, { changes: always(addFirst) }), 35, 20);
		expect([items.length, settled]).toEqual([20, false]);
	});

	/** Reads parts of ten devices of 35; the change is before the third part. */
	test.each([
		{ name: 'joins the others if a device is added at the end', change: add(35), lacks: [] },
		{ name: 'lacks a device if one before it is removed', change: removeFirst, lacks: [20] },
	])('$name', async ({ change, lacks }) => {
		const server = serve(35);
		const then = server.fleet.devices.filter((_, position) => !lacks.includes(position));
		const devices: Device[] = [];
		for (const skip of [0, 10, 20, 30]) {
			if (skip === 20) change(server.fleet);
			devices.push(...(await part(server, skip, 10)).items);
		}
		expect(devices.slice(0, then.length)).toEqual(then);
	});
});
