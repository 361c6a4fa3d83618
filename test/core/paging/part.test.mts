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
	] satisfies Array<{ server: string; script: Partial<ServerScript>; asked: unknown[] }>)(
		'of a server $server',
		async ({ script, asked }) => {
			const server = serve(95, script);
			expect((await part(server, 35, 12)).items).toEqual(server.fleet.devices.slice(35, 47));
			expect(server.asked).toEqual(asked);
		},
	);

	test('for nothing to skip is what a list asks for', async () => {
		const server = serve(95);
		expect((await part(server, 0, 12)).items).toEqual(server.fleet.devices.slice(0, 12));
		expect(server.asked).toEqual([undefined, 2]);
	});

	test.each([{}, { pastEnd: noSuchPage }, { pastEnd: 'last page' as const }])('past the end gives nothing (%j)', async (script) => {
		for (const numbering of ['one-based', 'zero-based'] as const) {
			for (const skip of [30, 31, 40, 1_000_000]) {
				await expect(part(serve(30, { ...script, numbering }), skip)).resolves.toMatchObject({ items: [], settled: true });
			}
		}
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
