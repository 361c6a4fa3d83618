import { Failure } from '../../../nodes/DeviceManagement/core/failure.ts';
import { fetchPart } from '../../../nodes/DeviceManagement/core/paging/part.ts';
import { type Device, Fleet } from '../../../testbed/platform/fleet.mts';
import { type Metadata, PagedServer, type ServerScript } from '../../../testbed/pagedServer.mts';

const serve = (size: number, script: Partial<ServerScript> = {}) =>
	new PagedServer(Fleet.seeded({ size }), { numbering: 'one-based', largestSize: 2000, ...script });

const part = async ({ source }: PagedServer, skip: number, limit?: number, size = 10) =>
	await fetchPart(source, { pageSize: size, parallelRequests: 1, skip, limit });

/** Reads parts of ten devices until one comes short; something may happen to the fleet between two of them. */
async function inParts(server: PagedServer, between: (part: number) => void): Promise<Device[]> {
	const devices: Device[] = [];
	for (let number = 1, skip = 0; ; number++, skip += 10) {
		const { items } = await part(server, skip, 10);
		devices.push(...items);
		if (items.length < 10) return devices;
		between(number);
	}
}

const noSuchPage = new Failure({ kind: 'refused', cause: 'input', code: 10001, message: 'no such page', remedy: '' });
const withoutOffset = (honest: Metadata): Metadata => ({ ...honest, pageable: undefined });

describe('the requests', () => {
	test.each([
		{ server: 'that counts from 1', script: {}, asked: [undefined, 1, undefined, 31, 4, 5] },
		{ server: 'that counts from 0', script: { numbering: 'zero-based' }, asked: [undefined, 1, undefined, 30, 3, 4] },
		{
			server: 'that cuts pages to 4',
			script: { largestSize: 4 },
			asked: [undefined, 1, undefined, 33, 9, 10, 11, 12],
		},
		{
			server: 'that does not say where a page begins',
			script: { falsify: withoutOffset },
			asked: [undefined, 1, undefined, 31, 4, 5],
		},
		{
			server: 'that gives a wrong number',
			script: { falsify: (honest) => ({ ...honest, number: 7 }) },
			asked: [undefined, 1, undefined, 31, 4, 5],
		},
		{
			server: 'that does not say a total: the list from its beginning',
			script: { falsify: (honest) => ({ ...honest, totalElements: undefined }) },
			asked: [undefined, ...[undefined, 1, 2, 3, 4, 5], ...[undefined, 1, 2, 3, 4, 5]],
		},
		...[{ totalPages: undefined }, { totalPages: 9 }, { last: undefined }, { last: true }].map((said) => ({
			server: `that says ${JSON.stringify(said)} of the item that the part begins with: the list from its beginning`,
			script: { falsify: (honest: Metadata) => ({ ...honest, ...said }) },
			asked: [undefined, 1, undefined, 31, undefined, 2, 3, 4, 5],
		})),
	] satisfies Array<{ server: string; script: Partial<ServerScript>; asked: unknown[] }>)(
		'of a server $server',
		async ({ script, asked }) => {
			const server = serve(95, script);
			expect((await part(server, 35, 12)).items).toEqual(server.fleet.devices.slice(35, 47));
			expect(server.asked).toEqual(asked);
		},
	);

	test('for a part that begins on the first page, or in a list of one page, is the list from its beginning', async () => {
		const near = serve(95);
		expect((await part(near, 7, 12)).items).toEqual(near.fleet.devices.slice(7, 19));
		expect(near.asked).toEqual([undefined, 2]);
		const single = serve(9);
		expect((await part(single, 12)).items).toEqual([]);
		expect(single.asked).toEqual([undefined, undefined]);
	});

	test('for a part that begins with the last item is the list from its beginning, unless its offset shows where it is', async () => {
		// Some servers return their last page for a page past the end.
		for (const { falsify, asked } of [
			{ falsify: (honest: Metadata) => honest, asked: [undefined, 1, undefined, 31, 4] },
			{ falsify: withoutOffset, asked: [undefined, 1, undefined, 31, undefined, 2, 3, 4] },
		]) {
			const server = serve(31, { falsify });
			expect((await part(server, 30)).items).toEqual(server.fleet.devices.slice(30));
			expect(server.asked).toEqual(asked);
		}
	});

	test('for a small part far from the beginning, without a page count, are few large pages', async () => {
		const server = serve(5000, { largestSize: 600, falsify: (honest) => ({ ...honest, totalPages: undefined }) });
		const { items } = await part(server, 4999, 1, 1000);
		expect(items).toEqual(server.fleet.devices.slice(4999));
		// Four small pages, and nine of 600.
		expect(server.requests).toBe(13);
	});

	test('without skip are those of a list', async () => {
		const server = serve(95);
		expect((await part(server, 0, 12)).items).toEqual(server.fleet.devices.slice(0, 12));
		expect(server.asked).toEqual([undefined, 2]);
	});

	test.each([{}, { pastEnd: noSuchPage }, { pastEnd: 'last page' as const }])(
		'past the end gives nothing, and asks for nothing there (%j)',
		async (script) => {
			for (const numbering of ['one-based', 'zero-based'] as const) {
				for (const skip of [30, 31, 40, 1_000_000, Number.MAX_SAFE_INTEGER]) {
					const server = serve(30, { ...script, numbering });
					await expect(part(server, skip)).resolves.toEqual({
						items: [],
						settled: true,
						reportedTotal: 30,
						repeated: 0,
						passes: 1,
					});
					expect(server.asked).toEqual([undefined, 1, undefined, numbering === 'one-based' ? 30 : 29]);
				}
			}
		},
	);

	test('past the end by a total that is too small is read from the beginning', async () => {
		for (const said of [{ totalElements: 20 }, { totalElements: 20, totalPages: 20 }]) {
			const server = serve(30, { falsify: (honest) => ({ ...honest, ...said }) });
			expect((await part(server, 25)).items).toEqual(server.fleet.devices.slice(25));
		}
	});

	test('a size that is refused is replaced by a smaller one', async () => {
		const server = serve(95);
		const refused = new Failure({ kind: 'status', cause: 'input', httpStatus: 413, message: '', remedy: '' });
		const fetchPage: typeof server.source.fetchPage = async (page, size) => {
			if (size > 10) throw refused;
			return await server.source.fetchPage(page, size);
		};
		const options = { pageSize: 50, smallerSizes: [10], parallelRequests: 1, skip: 35, limit: 20 };
		const { items } = await fetchPart({ ...server.source, fetchPage }, options);
		expect(items).toEqual(server.fleet.devices.slice(35, 55));
	});

	test('a server that returns the first page for every page fails with a message', async () => {
		for (const script of [{}, { falsify: withoutOffset }]) {
			const server = serve(95, { ...script, ignoresPage: true });
			await expect(part(server, 30, 10)).rejects.toMatchObject({ details: { kind: 'paging' } });
		}
	});

	/** Changes what one page holds, by its page and size parameters. */
	const changing = (server: PagedServer, page: number, size: number, change: (content: Device[]) => Device[]) => ({
		...server.source,
		fetchPage: async (asked: number | undefined, askedSize: number) => {
			const answer = await server.source.fetchPage(asked, askedSize);
			const isIt = asked === page && askedSize === size;
			return isIt ? { ...answer, content: change([...answer.content]) } : answer;
		},
	});

	test.each([
		{ name: 'no page of one item', page: 31, size: 1, change: () => [] },
		{ name: 'two items on it', page: 31, size: 1, change: (content: Device[]) => [...content, ...content] },
		{ name: 'a page that is too short', page: 4, size: 10, change: (content: Device[]) => content.slice(0, 8) },
		{ name: 'a page that begins elsewhere', page: 4, size: 10, change: (content: Device[]) => content.reverse() },
	])('a server with $name has the list read from its beginning', async ({ page, size, change }) => {
		const server = serve(95);
		const source = changing(server, page, size, change);
		await fetchPart(source, { pageSize: 10, parallelRequests: 1, skip: 35, limit: 12 });
		expect(server.asked.filter((asked) => asked === undefined)).toHaveLength(3);
		expect(server.asked).toEqual(expect.arrayContaining([2, 3]));
	});

	test('a page whose offset is not that of its place has the list read from its beginning', async () => {
		const falsify = (honest: Metadata, asked: number | undefined) =>
			asked === 4 ? { ...honest, pageable: { offset: 40 } } : honest;
		const server = serve(95, { falsify });
		expect((await part(server, 35, 12)).items).toEqual(server.fleet.devices.slice(35, 47));
		expect(server.asked).toEqual([undefined, 1, undefined, 31, 4, undefined, 2, 3, 4, 5]);
	});

	const late = new Failure({ kind: 'timeout', cause: 'platform', message: 'late', remedy: '' });
	test.each([
		{ page: 'of the item it begins with', asked: 31, failure: late },
		{ page: 'that holds it', asked: 4, failure: noSuchPage },
	])('a page $page that fails fails the part, and is not requested in another size', async ({ asked, failure }) => {
		const server = serve(95);
		const sizes: number[] = [];
		const fetchPage: typeof server.source.fetchPage = async (page, size) => {
			if (page !== asked) return await server.source.fetchPage(page, size);
			sizes.push(size);
			throw failure;
		};
		const options = { pageSize: 10, smallerSizes: [5], parallelRequests: 1, skip: 35, limit: 12 };
		await expect(fetchPart({ ...server.source, fetchPage }, options)).rejects.toBe(failure);
		expect(sizes).toHaveLength(1);
	});

	test('says the whole list’s total', async () => {
		expect((await part(serve(95), 35, 12)).reportedTotal).toBe(95);
	});
});

describe('what a part knows of a fleet that moves', () => {
	test('a device that comes after its beginning while the part is read: it is read again, and nothing before it', async () => {
		const changes = new Map([[6, (fleet: Fleet) => void fleet.add(fleet.make(), 60)]]);
		const server = serve(95, { changes });
		const listing = await part(server, 35, 20);
		expect(listing).toMatchObject({ settled: true, passes: 2, items: server.fleet.devices.slice(35, 55) });
		expect(server.asked.filter((page) => page === 2 || page === 3)).toEqual([]);
	});

	test('a device that goes between the one that is looked at and the page it begins: the list is read from its beginning', async () => {
		const server = serve(95, { changes: new Map([[5, (fleet) => void fleet.remove(fleet.at(0).sn)]]) });
		expect((await part(server, 35, 12)).items).toEqual(server.fleet.devices.slice(35, 47));
		expect(server.asked.slice(0, 7)).toEqual([undefined, 1, undefined, 31, 4, undefined, 2]);
	});

	test('a fleet that shrinks to less than what is skipped: no more of what was met than fill the part', async () => {
		const shrink = (fleet: Fleet) => {
			for (let n = 0; n < 5; n++) fleet.remove(fleet.at(0).sn);
		};
		const changes = new Map(Array.from({ length: 16 }, (_, n) => [n + 1, shrink] as const));
		const listing = await part(serve(95, { changes }), 35, 12);
		expect(listing.settled).toBe(false);
		expect(listing.items.length).toBeLessThanOrEqual(12);
	});

	test('a fleet that never holds still: the part says so, and is as long as it was to be', async () => {
		const changes = new Map(Array.from({ length: 60 }, (_, n) => [n + 1, (fleet: Fleet) => void fleet.add()] as const));
		const listing = await part(serve(95, { changes }), 35, 20);
		expect(listing).toMatchObject({ settled: false, passes: 3 });
		expect(listing.items).toHaveLength(20);
	});

	test('devices that are added at the end between two parts come last, and no other is missed or repeated', async () => {
		const server = serve(35);
		const before = [...server.fleet.devices];
		const read = await inParts(server, () => void server.fleet.add(server.fleet.make(), server.fleet.size));
		expect(read.slice(0, 35)).toEqual(before);
		expect(read).toEqual(server.fleet.devices.slice(0, read.length));
	});
});

describe('what a part can’t know', () => {
	test('a device that is removed before it, between two parts: the next device moves into the part that was read', async () => {
		const server = serve(35);
		const before = [...server.fleet.devices];
		const read = await inParts(server, (number) => {
			if (number === 2) server.fleet.remove(server.fleet.at(5).sn);
		});
		expect(read).toEqual(before.filter((_, position) => position !== 20));
	});

	test('a device that is added before it, between two parts: the last device of the part that was read comes again', async () => {
		const server = serve(35);
		const before = [...server.fleet.devices];
		const read = await inParts(server, (number) => {
			if (number === 2) server.fleet.add(server.fleet.make(), 5);
		});
		expect(read).toEqual([...before.slice(0, 20), ...before.slice(19)]);
	});
});
