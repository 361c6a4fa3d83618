import fc from 'fast-check';

import { Failure } from '../../../nodes/DeviceManagement/core/failure.ts';
import { fetchPart } from '../../../nodes/DeviceManagement/core/paging/part.ts';
import { type Device, Fleet } from '../../../testbed/platform/fleet.mts';
import { PagedServer } from '../../../testbed/pagedServer.mts';
import { runs } from '../../../testbed/runs.mts';
import { canBeSeenThrough, habits, looksOneBased, refusalOf, serve } from './habits.mts';

const RUNS = runs(1000);

const ids = (devices: Iterable<Device>) => Array.from(devices, ({ id }) => id);
const partSize = fc.integer({ min: 1, max: 30 });

/** Reads a fleet in parts of these sizes in turn, to the end of the fleet and a part beyond. */
async function readParts(server: PagedServer, sizes: readonly number[], asked: { pageSize: number; parallel: number }) {
	const devices: Device[] = [];
	for (let skip = 0, turn = 0; ; turn++) {
		const limit = sizes[turn % sizes.length] ?? 1;
		const { items, settled } = await fetchPart(server.source, {
			pageSize: asked.pageSize,
			parallelRequests: asked.parallel,
			skip,
			limit,
		});
		expect(settled).toBe(true);
		devices.push(...items);
		if (skip > server.fleet.size) return devices;
		skip += limit;
	}
}

describe('parts of a fleet that stands still', () => {
	test('join without a gap or an overlap for any server, or fail with a message', async () => {
		await fc.assert(
			fc.asyncProperty(habits, fc.array(partSize, { minLength: 1, maxLength: 4 }), async (setting, sizes) => {
				// As any list with a limit, the first part believes numbers that only a count would show to be wrong.
				fc.pre(canBeSeenThrough(setting) && !looksOneBased(setting));
				const server = serve(setting);
				const devices = await readParts(server, sizes, setting).catch((thrown) => refusalOf(setting, thrown));
				if (devices !== undefined) expect(ids(devices)).toEqual(ids(server.fleet.devices));
			}),
			RUNS,
		);
	});

	test('end with all the rest without a limit', async () => {
		await fc.assert(
			fc.asyncProperty(habits, fc.integer({ min: 0, max: 70 }), async (setting, skip) => {
				fc.pre(canBeSeenThrough(setting));
				const server = serve(setting);
				const { pageSize, parallel: parallelRequests } = setting;
				const reading = fetchPart(server.source, { pageSize, parallelRequests, skip });
				const listing = await reading.catch((thrown) => refusalOf(setting, thrown));
				if (listing === undefined) return;
				expect(ids(listing.items)).toEqual(ids(server.fleet.devices).slice(skip));
				expect(listing.settled).toBe(true);
				expect(server.peakInFlight).toBeLessThanOrEqual(parallelRequests);
			}),
			RUNS,
		);
	});

	const honest = fc.record({
		numbering: fc.constantFrom('one-based' as const, 'zero-based' as const),
		largestSize: fc.integer({ min: 1, max: 15 }),
		turns: fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 1, maxLength: 5 }),
	});

	test('hold every record of a list that has some records twice, or fail with a message', async () => {
		const pairs = fc.array(fc.tuple(fc.nat(39), fc.integer({ min: 1, max: 4 })), { minLength: 1, maxLength: 8 });
		const parts = fc.tuple(fc.integer({ min: 5, max: 15 }), fc.array(partSize, { minLength: 1, maxLength: 4 }));
		await fc.assert(
			fc.asyncProperty(honest, pairs, parts, async (script, twice, [pageSize, sizes]) => {
				const server = new PagedServer(Fleet.seeded({ size: 40 }), script);
				const { fetchPage } = server.source;
				const { devices } = server.fleet;
				// A device a few places further takes the place of the first one.
				const instead = new Map(twice.map(([at, further]) => [devices[at], devices[at + further]]));
				const replaced = (device: Device) => instead.get(device) ?? device;
				server.source.fetchPage = async (page, size) => {
					const { content, ...metadata } = await fetchPage(page, size);
					return { ...metadata, content: content.map(replaced) };
				};
				const reading = readParts(server, sizes, { pageSize, parallel: 4 });
				// A page without a new record can look like an ignored page number.
				const read = await reading.catch((thrown: unknown) => void expect(thrown).toBeInstanceOf(Failure));
				if (read !== undefined) expect(new Set(ids(read))).toEqual(new Set(ids(devices.map(replaced))));
			}),
			RUNS,
		);
	});

	test('cost the first page and three requests for one device more than the pages that hold them', async () => {
		const part = fc.record({
			skip: fc.integer({ min: 1, max: 90 }),
			limit: fc.option(fc.integer({ min: 1, max: 60 }), { nil: undefined }),
			pageSize: fc.integer({ min: 1, max: 15 }),
			parallelRequests: fc.integer({ min: 1, max: 8 }),
		});
		await fc.assert(
			fc.asyncProperty(
				honest,
				fc.integer({ min: 1, max: 80 }),
				part,
				async (script, size, { skip, limit, pageSize, parallelRequests }) => {
					const server = new PagedServer(Fleet.seeded({ size }), script);
					const asked = Math.min(pageSize, limit ?? Infinity);
					const { items } = await fetchPart(server.source, { pageSize: asked, parallelRequests, skip, limit });
					expect(ids(items)).toEqual(ids(server.fleet.devices).slice(skip, skip + (limit ?? Infinity)));
					const pageLength = Math.min(asked, script.largestSize);
					const end = Math.min(size, skip + (limit ?? Infinity));
					// What begins on the first pages of a list is read from its beginning, and past the end nothing is.
					const isNear = skip < asked || skip < pageLength || size <= pageLength;
					const pages = Math.ceil(end / pageLength) - (isNear ? 0 : Math.floor(skip / pageLength));
					// A server that counts from 0 may be asked for one page more where the list is read from its beginning.
					expect(server.requests).toBeLessThanOrEqual(isNear ? pages + 2 : 4 + (skip >= size ? 0 : pages));
				},
			),
			RUNS,
		);
	});
});
