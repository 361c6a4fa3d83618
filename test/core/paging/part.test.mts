import { Failure } from '../../../nodes/DeviceManagement/core/failure.ts';
import { readPart } from '../../../nodes/DeviceManagement/core/paging/part.ts';
import { type Device, Fleet } from '../../../testbed/platform/fleet.mts';
import { type Metadata, PagedServer, type ServerScript } from '../../../testbed/pagedServer.mts';

const serve = (size: number, script: Partial<ServerScript> = {}) =>
	new PagedServer(Fleet.seeded({ size }), { numbering: 'one-based', largestSize: 2000, ...script });

const part = async ({ source }: PagedServer, skip: number, limit?: number, size = 10) =>
	await readPart(source, { sizes: [size], parallelRequests: 1, skip, limit });

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
/** The page that no list has, with a size of ten. */
const BEYOND = 214_748_363;

describe('what is asked for', () => {
	test.each([
		{ server: 'that counts from 1', script: {}, asked: [BEYOND, 4, 5] },
		{ server: 'that counts from 0', script: { numbering: 'zero-based' }, asked: [BEYOND, 3, 4] },
		{ server: 'that cuts pages to 4', script: { largestSize: 4 }, asked: [BEYOND, 9, 10, 11, 12] },
		{
			server: 'that counts from 0 and cuts pages to 4',
			script: { numbering: 'zero-based', largestSize: 4 },
			asked: [BEYOND, 8, 9, 10, 11],
		},
		{
			server: 'that does not say where a page begins: three devices more',
			script: { falsify: withoutOffset },
			asked: [BEYOND, undefined, 1, 31, 4, 5],
		},
		{
			server: 'that counts number from 1: three devices more',
			script: { falsify: (honest) => ({ ...honest, number: (honest.number ?? 0) + 1 }) },
			asked: [BEYOND, undefined, 1, 31, 4, 5],
		},
		{
			server: 'that answers with its last page instead: three devices more',
			script: { numbering: 'zero-based', pastEnd: 'last page' },
			asked: [BEYOND, undefined, 1, 30, 3, 4],
		},
		{
			server: 'that refuses the page: its first page, and three devices more',
			script: { pastEnd: noSuchPage },
			asked: [BEYOND, undefined, undefined, 1, 31, 4, 5],
		},
		{
			server: 'that says nothing: all pages before it, too',
			script: { falsify: () => ({}) },
			asked: [BEYOND, undefined, undefined, 1, 2, 3, 4, 5],
		},
		{
			server: 'that refuses the page, and does not say where one begins',
			script: { pastEnd: noSuchPage, falsify: withoutOffset },
			asked: [BEYOND, undefined, undefined, 1, 31, 4, 5],
		},
	] satisfies Array<{ server: string; script: Partial<ServerScript>; asked: unknown[] }>)(
		'of a server $server',
		async ({ script, asked }) => {
			const server = serve(95, script);
			expect((await part(server, 35, 12)).items).toEqual(server.fleet.devices.slice(35, 47));
			expect(server.asked).toEqual(asked);
		},
	);

	test.each([
		{ said: { size: undefined } },
		{ said: { size: 0 } },
		{ said: { size: 20, totalPages: 5 } },
		{ said: { totalElements: undefined } },
		{ said: { totalElements: 0, totalPages: 0 } },
		{ said: { totalPages: undefined } },
		{ said: { totalPages: 9 } },
		{ said: { last: undefined } },
		{ said: { last: false } },
		{ said: { pageable: { offset: 0 } }, pastEnd: 'last page' as const },
		{ said: { last: false }, pastEnd: 'last page' as const },
		{ said: { totalElements: 96 }, pastEnd: 'last page' as const },
	])('of a server that says $said of the page past the end: what a server is asked for that refuses it', async ({ said, pastEnd }) => {
		const falsify = (honest: Metadata, asked: number | undefined) => (asked === BEYOND ? { ...honest, ...said } : honest);
		const server = serve(95, { falsify, ...(pastEnd === undefined ? {} : { pastEnd }) });
		expect((await part(server, 35, 12)).items).toEqual(server.fleet.devices.slice(35, 47));
		expect(server.asked).toEqual([BEYOND, undefined, undefined, 1, 31, 4, 5]);
	});

	test.each([
		{ said: { size: 20, totalPages: 5 } },
		{ said: { totalElements: 5, totalPages: 1 } },
		{ said: { last: true } },
		{ said: { pageable: { offset: 10 } } },
	])('of a server that refuses the page past the end and says $said of the first one: the list from its beginning', async ({ said }) => {
		const falsify = (honest: Metadata, asked: number | undefined) => (asked === undefined ? { ...honest, ...said } : honest);
		const server = serve(95, { pastEnd: noSuchPage, falsify });
		expect((await part(server, 35, 12)).items).toEqual(server.fleet.devices.slice(35, 47));
		expect(server.asked.slice(0, 6)).toEqual([BEYOND, undefined, undefined, 1, 2, 3]);
	});

	test('of a server that gives the page past the end another number, by which it would lie elsewhere: three devices more', async () => {
		const falsify = (honest: Metadata, asked: number | undefined) =>
			asked === BEYOND ? { ...honest, number: 20, pageable: { offset: 200 } } : honest;
		const server = serve(95, { falsify });
		expect((await part(server, 35, 12)).items).toEqual(server.fleet.devices.slice(35, 47));
		expect(server.asked).toEqual([BEYOND, undefined, 1, 31, 4, 5]);
	});

	test('for a part on the first page, no device is looked at before it', async () => {
		const server = serve(2, { falsify: withoutOffset });
		expect((await part(server, 1)).items).toEqual(server.fleet.devices.slice(1));
		expect(server.asked).toEqual([BEYOND, undefined, 1, undefined]);
	});

	test('for nothing to skip is what a list asks for', async () => {
		const server = serve(95);
		expect((await part(server, 0, 12)).items).toEqual(server.fleet.devices.slice(0, 12));
		expect(server.asked).toEqual([undefined, 2]);
	});

	test.each([{}, { pastEnd: noSuchPage }, { pastEnd: 'last page' as const }])('past the end gives nothing (%j)', async (script) => {
		for (const numbering of ['one-based', 'zero-based'] as const) {
			for (const size of [1, 30]) {
				for (const skip of [size, size + 1, 40, 1_000_000]) {
					await expect(part(serve(size, { ...script, numbering }), skip)).resolves.toMatchObject({ items: [], settled: true });
				}
			}
		}
	});

	test('past the end of a server that refuses is one page more', async () => {
		const server = serve(30, { pastEnd: noSuchPage });
		await expect(part(server, 40)).resolves.toMatchObject({ items: [], settled: true, reportedTotal: 40 });
		expect(server.asked).toEqual([BEYOND, undefined, undefined, 1, 5]);
	});

	test('a size that is refused is replaced by a smaller one', async () => {
		const server = serve(95);
		const refused = new Failure({ kind: 'status', cause: 'input', httpStatus: 413, message: '', remedy: '' });
		const fetchPage: typeof server.source.fetchPage = async (page, size) => {
			if (size > 10) throw refused;
			return await server.source.fetchPage(page, size);
		};
		const source = { ...server.source, fetchPage };
		const { items } = await readPart(source, { sizes: [50, 10], parallelRequests: 1, skip: 35, limit: 20 });
		expect(items).toEqual(server.fleet.devices.slice(35, 55));
	});

	test('a server that answers every page with the first one is refused in words', async () => {
		const server = serve(95, { ignoresPage: true, falsify: withoutOffset });
		await expect(part(server, 35, 12)).rejects.toMatchObject({ details: { kind: 'paging' } });
		// On one page nothing but its first device shows it.
		await expect(part(server, 30, 10)).rejects.toMatchObject({ details: { kind: 'paging' } });
	});

	test('a server that has no page of one device is read from the beginning, by its items alone', async () => {
		const server = serve(95, { falsify: withoutOffset });
		const fetchPage: typeof server.source.fetchPage = async (page, size) => {
			const answer = await server.source.fetchPage(page, size);
			return size === 1 && page === 31 ? { ...answer, content: [] } : answer;
		};
		const source = { ...server.source, fetchPage };
		const { items } = await readPart(source, { sizes: [10], parallelRequests: 1, skip: 35, limit: 12 });
		expect(items).toEqual(server.fleet.devices.slice(35, 47));
		expect(server.asked).toEqual([BEYOND, undefined, 1, 31, undefined, 1, 2, 3, 4, 5]);
	});

	const late = new Failure({ kind: 'timeout', cause: 'platform', message: 'late', remedy: '' });
	test.each([
		{ page: 'past the end', asked: BEYOND, skip: 35, failure: late },
		{ page: 'that holds the part', asked: 4, skip: 35, failure: noSuchPage },
		{ page: 'that is the last one', asked: 10, skip: 92, failure: noSuchPage },
		{ page: 'behind the last one', asked: 11, skip: 101, failure: late },
	])('a page $page that fails fails the part', async ({ asked, skip, failure }) => {
		const server = serve(95);
		const fetchPage: typeof server.source.fetchPage = async (page, size) => {
			if (page === asked) throw failure;
			return await server.source.fetchPage(page, size);
		};
		const source = { ...server.source, fetchPage };
		await expect(readPart(source, { sizes: [10], parallelRequests: 1, skip, limit: 5 })).rejects.toBe(failure);
	});

	test('a page that is not where it should be, or not as long, has the list read from its beginning', async () => {
		const elsewhere = (honest: Metadata, asked: number | undefined) => (asked === 4 ? { ...honest, pageable: { offset: 40 } } : honest);
		const server = serve(95, { falsify: elsewhere });
		expect((await part(server, 35, 5)).items).toEqual(server.fleet.devices.slice(35, 40));
		expect(server.asked).toEqual([BEYOND, 4, undefined, 1, 2, 3, 4]);

		const short = serve(95);
		const fetchPage: typeof short.source.fetchPage = async (page, size) => {
			const answer = await short.source.fetchPage(page, size);
			return page === 4 ? { ...answer, content: answer.content.slice(0, 8) } : answer;
		};
		await readPart({ ...short.source, fetchPage }, { sizes: [10], parallelRequests: 1, skip: 35, limit: 5 });
		expect(short.asked.slice(0, 7)).toEqual([BEYOND, 4, 5, undefined, 1, 2, 3]);
	});

	test('says the whole list’s total', async () => {
		expect((await part(serve(95), 35, 12)).reportedTotal).toBe(95);
	});

	test('a total that a page past the end denies is not believed', async () => {
		const falsify = (honest: Metadata) =>
			(honest.number ?? 0) < (honest.totalPages ?? 0) ? honest : { ...honest, totalElements: 0, totalPages: 0 };
		const server = serve(95, { falsify });
		expect((await part(server, 35, 12)).items).toEqual(server.fleet.devices.slice(35, 47));
	});
});

describe('what a part knows of a fleet that moves', () => {
	test('a device that comes or goes while the part is read: it is read again, and nothing before it', async () => {
		const server = serve(95, { changes: new Map([[3, (fleet) => void fleet.add()]]) });
		const listing = await part(server, 35, 20);
		expect(listing).toMatchObject({ settled: true, passes: 2, items: server.fleet.devices.slice(35, 55) });
		expect(server.asked.filter((page) => page === 2 || page === 3)).toEqual([]);
	});

	test('a device that goes between the one that is looked at and the page it begins: the list is read from its beginning', async () => {
		const server = serve(95, {
			falsify: withoutOffset,
			changes: new Map([[5, (fleet) => void fleet.remove(fleet.at(0).sn)]]),
		});
		expect((await part(server, 35, 12)).items).toEqual(server.fleet.devices.slice(35, 47));
		expect(server.asked.slice(0, 8)).toEqual([BEYOND, undefined, 1, 31, 4, 5, undefined, 1]);
	});

	test('a fleet that shrinks to less than what is skipped: no more of what was met than fill the part', async () => {
		const shrink = (fleet: Fleet) => {
			for (let n = 0; n < 5; n++) fleet.remove(fleet.at(0).sn);
		};
		const changes = new Map(Array.from({ length: 16 }, (_, n) => [n + 1, shrink] as const));
		const server = serve(95, { falsify: (honest) => ({ ...honest, size: undefined }), changes });
		const listing = await part(server, 35, 12);
		expect(listing).toMatchObject({ settled: false, items: [] });
		expect(listing.metOtherwise).toHaveLength(12);
	});

	test('a fleet that never holds still: the part says so, and is as long as it was to be', async () => {
		const changes = new Map(Array.from({ length: 60 }, (_, n) => [n + 1, (fleet: Fleet) => void fleet.add()] as const));
		const listing = await part(serve(95, { changes }), 35, 20);
		expect(listing).toMatchObject({ settled: false, passes: 3 });
		expect(listing.items.length + listing.metOtherwise.length).toBe(20);
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
	test('a device that is removed before it, between two parts: the next device slips into the part that was read', async () => {
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
