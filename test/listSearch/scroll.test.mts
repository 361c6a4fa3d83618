import type { Failure } from '../../nodes/DeviceManagement/core/failure.ts';
import { Fleet } from '../../testbed/platform/fleet.mts';
import { PagedServer, type ServerScript } from '../../testbed/pagedServer.mts';
import { late, noSuchPage, scrollThrough } from '../core/paging/pages.mts';

const serve = (size: number, script: Partial<ServerScript>) =>
	new PagedServer(Fleet.seeded({ size }), { numbering: 'one-based', largestSize: 2000, ...script });

const scroll = async ({ source }: PagedServer) => await scrollThrough(source, 10);

/** No page has metadata. */
const falsify = () => ({});
const withoutLast: NonNullable<ServerScript['falsify']> = ({ last: _, ...rest }) => rest;

test.each<[what: string, size: number, script: Partial<ServerScript>, pages?: Array<number | undefined>]>([
	['counts from 1', 25, {}, [undefined, 2, 3]],
	[
		'counts from 0: page 1 and the first page once more',
		25,
		{ numbering: 'zero-based' },
		[undefined, 2, 1, undefined, 2],
	],
	['has no metadata and ends with a short page', 25, { falsify }, [undefined, 1, undefined, 2, 3, 4]],
	[
		'ends with an empty page, with wrong metadata',
		20,
		{ falsify: (honest) => ({ ...honest, totalElements: 90, totalPages: 9, last: false }) },
		[undefined, 2, 3],
	],
	['refuses a page past the end', 20, { pastEnd: noSuchPage, falsify: withoutLast }, [undefined, 2, 3]],
	['repeats its first page past the end', 20, { pastEnd: 'first page', falsify }],
	['repeats its last page past the end', 20, { pastEnd: 'last page', falsify }],
])('reads each device once from a server that %s', async (_what, size, script, pages = undefined) => {
	const server = serve(size, script);
	expect(await scroll(server)).toEqual(server.fleet.devices);
	if (pages !== undefined) expect(server.asked).toEqual(pages);
});

test('is not misled by a device that is added between two pages while the numbering is found out', async () => {
	const server = serve(25, { falsify, changes: new Map([[2, (fleet) => void fleet.add()]]) });
	const before = server.fleet.devices.map(({ sn }) => sn);
	const seen = (await scroll(server)).map(({ sn }) => sn);
	expect(new Set(seen)).toEqual(new Set(before));
});

test.each<[what: string, Failure, NonNullable<ServerScript['falsify']>]>([
	['a refusal of a page, if nothing indicates the end', noSuchPage, falsify],
	['any other failure', late, withoutLast],
])('throws %s', async (_what, pastEnd, metadata) => {
	await expect(scroll(serve(20, { pastEnd, falsify: metadata }))).rejects.toBe(pastEnd);
});
