import fc from 'fast-check';

import { fetchList } from '../../../nodes/DeviceManagement/core/paging/passes.ts';
import { type Place, placeSchema, scrollPage } from '../../../nodes/DeviceManagement/listSearch/scroll.ts';
import type { PagedServer } from '../../../testbed/pagedServer.mts';
import type { Device } from '../../../testbed/platform/fleet.mts';
import { runs } from '../../../testbed/runs.mts';
import { canBeSeenThrough, habits, looksOneBased, refusalOf, serve } from './habits.mts';

const RUNS = runs(3000);

const ids = (devices: Iterable<Device>) => Array.from(devices, ({ id }) => id);

describe('an unchanged fleet, on any server', () => {
	test('is listed exactly, or fails with a message', async () => {
		await fc.assert(
			fc.asyncProperty(habits, async (setting) => {
				fc.pre(canBeSeenThrough(setting));
				const server = serve(setting);
				const options = { pageSize: setting.pageSize, parallelRequests: setting.parallel } as const;
				const listing = await fetchList(server.source, options).catch((thrown) => refusalOf(setting, thrown));
				if (listing === undefined) return;
				expect(ids(listing.items)).toEqual(ids(server.fleet.devices));
				expect(listing.settled).toBe(true);
				expect(server.peakInFlight).toBeLessThanOrEqual(setting.parallel);
			}),
			RUNS,
		);
	});

	test('returns exactly its first N for a limit, or fails with a message', async () => {
		await fc.assert(
			fc.asyncProperty(habits, fc.integer({ min: 1, max: 70 }), async (setting, limit) => {
				// Where only a count would show that numbers are wrong, and no count is made, they are believed.
				fc.pre(canBeSeenThrough(setting) && !looksOneBased(setting));
				const server = serve(setting);
				const options = { pageSize: setting.pageSize, parallelRequests: setting.parallel, limit } as const;
				const listing = await fetchList(server.source, options).catch((thrown) => refusalOf(setting, thrown));
				if (listing === undefined) return;
				expect(ids(listing.items)).toEqual(ids(server.fleet.devices).slice(0, limit));
				expect(listing.settled).toBe(true);
			}),
			RUNS,
		);
	});

	test('is scrolled through exactly, or fails with a message', async () => {
		await fc.assert(
			fc.asyncProperty(habits, async (setting) => {
				fc.pre(canBeSeenThrough(setting) && !looksOneBased(setting));
				const server = serve(setting);
				const scrolled = await scroll(server, setting.pageSize).catch((thrown) => refusalOf(setting, thrown));
				if (scrolled === undefined) return;
				expect(ids(scrolled)).toEqual(ids(server.fleet.devices));
			}),
			RUNS,
		);
	});

	async function scroll(server: PagedServer, pageSize: number): Promise<Device[]> {
		const devices: Device[] = [];
		let place: Place | undefined;
		do {
			const { items, next } = await scrollPage(server.source, pageSize, place);
			devices.push(...items);
			place = next && placeSchema.parse(JSON.parse(JSON.stringify(next)));
		} while (place !== undefined);
		return devices;
	}
});
