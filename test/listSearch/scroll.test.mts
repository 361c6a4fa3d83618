import { Failure } from '../../nodes/DeviceManagement/core/failure.ts';
import { type Place, scrollPage } from '../../nodes/DeviceManagement/listSearch/scroll.ts';
import { type Device, Fleet } from '../../testbed/platform/fleet.mts';
import { PagedServer, type ServerScript } from '../../testbed/pagedServer.mts';

const noSuchPage = new Failure({ kind: 'refused', cause: 'input', code: 10001, message: 'no such page', remedy: '' });

const serve = (size: number, script: Partial<ServerScript>) =>
	new PagedServer(Fleet.seeded({ size }), { numbering: 'one-based', largestSize: 2000, ...script });

async function scroll({ source }: PagedServer): Promise<Device[]> {
	const devices: Device[] = [];
	let place: Place | undefined;
	do {
		const { items, next } = await scrollPage(source, 10, place);
		devices.push(...items);
		place = next;
	} while (place !== undefined);
	return devices;
}

test('asks a server that counts from 1 for its pages and nothing else', async () => {
	const server = serve(25, {});
	expect(await scroll(server)).toEqual(server.fleet.devices);
	expect(server.asked).toEqual([undefined, 2, 3]);
});

test('asks a server that counts from 0 once for page 1 and the first page again', async () => {
	const server = serve(45, { numbering: 'zero-based' });
	expect(await scroll(server)).toEqual(server.fleet.devices);
	expect(server.asked).toEqual([undefined, 2, 1, undefined, 2, 3, 4]);
});

test('is not misled by a device that is added between two pages while the numbering is found out', async () => {
	const server = serve(25, { falsify: () => ({}), changes: new Map([[2, (fleet) => void fleet.add()]]) });
	const before = server.fleet.devices.map(({ sn }) => sn);
	const seen = (await scroll(server)).map(({ sn }) => sn);
	expect(new Set(seen)).toEqual(new Set(before));
});

test.each(['one-based', 'zero-based'] as const)(
	'ends at the refusal of a page past the end (%s)',
	async (numbering) => {
		const server = serve(20, { numbering, pastEnd: noSuchPage, falsify: ({ last: _, ...rest }) => rest });
		expect(await scroll(server)).toEqual(server.fleet.devices);
	},
);

test('says the refusal where nothing speaks for the end', async () => {
	const server = serve(20, { pastEnd: noSuchPage, falsify: () => ({}) });
	await expect(scroll(server)).rejects.toBe(noSuchPage);
});

test('says at once what is no refusal of a page', async () => {
	const late = new Failure({ kind: 'timeout', cause: 'platform', message: 'late', remedy: '' });
	const server = serve(20, { pastEnd: late, falsify: ({ last: _, ...rest }) => rest });
	await expect(scroll(server)).rejects.toBe(late);
});

test('ends at the refusal of a page past the end, if only the last page said so', async () => {
	const server = serve(30, { pastEnd: noSuchPage, falsify: ({ last }) => ({ last }) });
	expect(await scroll(server)).toEqual(server.fleet.devices);
});

test('ends with a short page without metadata', async () => {
	const server = serve(25, { falsify: () => ({}) });
	expect(await scroll(server)).toEqual(server.fleet.devices);
	expect(server.asked).toEqual([undefined, 1, undefined, 2, 3]);
});

test.each(['first page', 'last page'] as const)('ends where the %s comes again past the end', async (pastEnd) => {
	const server = serve(20, { pastEnd, falsify: () => ({}) });
	expect(await scroll(server)).toEqual(server.fleet.devices);
});

test('ends with an empty page, with any metadata', async () => {
	const server = serve(20, { falsify: (honest) => ({ ...honest, totalElements: 90, totalPages: 9, last: false }) });
	expect(await scroll(server)).toEqual(server.fleet.devices);
	expect(server.asked).toEqual([undefined, 2, 3]);
});
