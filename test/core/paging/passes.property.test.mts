import fc from 'fast-check';

import { identifyDevice, identifyListed } from '../../../nodes/DeviceManagement/core/device.ts';
import { Failure } from '../../../nodes/DeviceManagement/core/failure.ts';
import { type Listing, fetchList } from '../../../nodes/DeviceManagement/core/paging/passes.ts';
import { type Device, Fleet } from '../../../testbed/platform/fleet.mts';
import { type Metadata, PagedServer, type ServerScript } from '../../../testbed/pagedServer.mts';
import { runs } from '../../../testbed/runs.mts';

const RUNS = runs(1000);

const numbering = fc.constantFrom('one-based' as const, 'zero-based' as const);
const fleetSize = fc.oneof(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max: 80 }));
const size = fc.integer({ min: 1, max: 15 });
const parallel = fc.integer({ min: 1, max: 8 });
const turns = fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 1, maxLength: 5 });

const shape = fc.record({ numbering, fleetSize, pageSize: size, largestSize: size, parallel, turns });
type Shape = typeof shape extends fc.Arbitrary<infer T> ? T : never;

const THIRTY: Shape = { numbering: 'one-based', fleetSize: 30, pageSize: 10, largestSize: 15, parallel: 1, turns: [0] };

function serve({ fleetSize: devices, ...script }: Shape, extra: Partial<ServerScript> = {}): PagedServer {
	return new PagedServer(Fleet.seeded({ size: devices }), { ...script, ...extra });
}

/** Reads the list as Get Many does. */
async function read(server: PagedServer, { pageSize, parallel: parallelRequests }: Shape, limit?: number, skip = 0) {
	const source = { ...server.source, identify: identifyListed, idOf: identifyDevice };
	return await fetchList(source, { pageSize, parallelRequests, skip, limit });
}

const ids = (devices: Iterable<Device>) => Array.from(devices, ({ id }) => id);

function expectEachOnce({ items }: Listing<Device>): void {
	expect(new Set(items.map(identifyListed)).size).toBe(items.length);
}

describe('a fleet that stands still', () => {
	test('is read whole or in part with one more pass, although devices share IDs', async () => {
		const limits = fc.option(fc.integer({ min: 1, max: 60 }), { nil: undefined });
		const skips = fc.integer({ min: 0, max: 30 });
		await fc.assert(
			fc.asyncProperty(shape, fc.integer({ min: 1, max: 20 }), limits, skips, async (setting, idCount, limit, skip) => {
				const { devices } = Fleet.seeded({ size: setting.fleetSize });
				const sharing = new Fleet(devices.map((device, at) => ({ ...device, id: `id ${at % idCount}` })));
				const listing = await read(new PagedServer(sharing, setting), setting, limit, skip);
				const items = sharing.devices.slice(skip, limit && skip + limit);
				expect(listing).toMatchObject({ items, settled: true });
				const isOnePage = sharing.size <= Math.min(setting.pageSize, setting.largestSize);
				expect(listing.passes).toBeLessThanOrEqual(isOnePage ? 1 : 2);
			}),
			RUNS,
		);
	});

	test('is read whole although devices share IDs and one is added during a pass', async () => {
		const { devices } = Fleet.seeded({ size: 30 });
		for (const request of [2, 3, 4, 5, 6]) {
			const fleet = new Fleet(devices.map((device, at) => ({ ...device, id: `id ${at % 20}` })));
			const changes = new Map([[request, () => void fleet.add()]]);
			const listing = await read(new PagedServer(fleet, { ...THIRTY, changes }), THIRTY);
			expect(listing).toMatchObject({ items: fleet.devices, settled: true });
		}
	});

	test('is read whole, or fails with the reason if a request fails', async () => {
		const failing = fc.uniqueArray(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 4 });
		await fc.assert(
			fc.asyncProperty(shape, failing, async (setting, requests) => {
				const failure = new Failure({ kind: 'timeout', cause: 'platform', message: 'no answer', remedy: 'wait' });
				const untroubled = serve(setting);
				await read(untroubled, setting);
				const server = serve(setting, { failing: new Map(requests.map((request) => [request, failure])) });
				const outcome = await read(server, setting).catch((error: unknown) => error);
				const isMet = Math.min(...requests) <= untroubled.requests;
				// If pages count from 0, the list may be whole without one of the requests.
				if (isMet && (outcome === failure || setting.numbering === 'one-based')) expect(outcome).toBe(failure);
				else expect(outcome).toMatchObject({ settled: true, items: server.fleet.devices });
			}),
			RUNS,
		);
	});
});

describe('a fleet that moves while it is read', () => {
	type Change = { request: number; kind: 'add' | 'remove' | 'move' | 'correct'; at: number; to: number };
	const change = (kind: fc.Arbitrary<Change['kind']>) =>
		fc.record({ request: fc.integer({ min: 1, max: 40 }), kind, at: fc.nat(1000), to: fc.nat(1000) });
	const ANY_KIND = fc.constantFrom('add' as const, 'remove' as const, 'move' as const, 'correct' as const);
	const changesOf = (kind: fc.Arbitrary<Change['kind']>, maxLength: number) =>
		fc.uniqueArray(change(kind), { selector: ({ request }) => request, minLength: 1, maxLength });

	// Found in an attack: a device of page 1 gets another serial number and moves to the end, and page 2 lacks one.
	const CORRECTED: Change[] = [{ request: 2, kind: 'correct', at: 0, to: 29 }];

	/** Applies changes and remembers what was there the whole time. */
	function churn(changes: readonly Change[], fleet: Fleet) {
		const always = new Set(ids(fleet.devices));
		const apply =
			({ kind, at, to }: Change) =>
			(moving: Fleet) => {
				if (kind === 'add') {
					moving.add(moving.make(), at % (moving.size + 1));
				} else if (moving.size > 0) {
					const { sn, id } = moving.at(at % moving.size);
					if (kind === 'move') return moving.move(sn, to % moving.size);
					// An edit of the serial number, in a list in the order of the edits.
					if (kind === 'correct') return moving.move(moving.update(sn, { sn: moving.make().sn }).sn, to % moving.size);
					moving.remove(sn);
					always.delete(id);
				}
				return undefined;
			};
		return { always, script: new Map(changes.map((one) => [one.request, apply(one)])) };
	}

	async function readWhileMoving(
		setting: Shape,
		changes: readonly Change[],
		{ limit, ...extra }: Partial<ServerScript> & { limit?: number | undefined } = {},
	) {
		const fleet = Fleet.seeded({ size: setting.fleetSize });
		const { always, script } = churn(changes, fleet);
		const server = new PagedServer(fleet, { ...setting, changes: script, ...extra });
		const listing = await read(server, setting, limit);
		expectEachOnce(listing);
		const met = new Set(ids(listing.items));
		return { listing, met, always: [...always], missing: [...always].filter((id) => !met.has(id)), server };
	}

	test('holds every device that was there the whole time, or is refused, however often devices only come', async () => {
		// The last pass asks for one page at a time: what only moves towards the end can't be missed then.
		await fc.assert(
			fc.asyncProperty(shape, changesOf(fc.constant('add'), 40), async (setting, changes) => {
				const outcome = await readWhileMoving(setting, changes).catch(refusalOf);
				if (!(outcome instanceof Failure)) expect(outcome.missing).toEqual([]);
			}),
			RUNS,
		);
	});

	test('holds every device that was there the whole time, for any two changes, read in parallel', async () => {
		await fc.assert(
			fc.asyncProperty(shape, changesOf(ANY_KIND, 2), async (setting, changes) => {
				expect((await readWhileMoving(setting, changes)).missing).toEqual([]);
			}),
			{ ...RUNS, examples: [[THIRTY, CORRECTED]] },
		);
	});

	test('never returns an incomplete list as settled, for any change between two requests', async () => {
		await fc.assert(
			fc.asyncProperty(shape, changesOf(ANY_KIND, 40), async (setting, changes) => {
				// A fleet that is rearranged at every request can look like a server that repeats itself. A refusal
				// is loud; it is not a list with something missing.
				const outcome = await readWhileMoving(setting, changes).catch(refusalOf);
				if (outcome instanceof Failure) return;
				if (outcome.listing.settled) expect(outcome.missing).toEqual([]);
			}),
			RUNS,
		);
	});

	test('never returns a list as settled that lacks devices, if devices are removed and the server reports no total', async () => {
		const said = fc.subarray(['number', 'size', 'totalPages', 'last'] as const);
		const limits = fc.option(fc.integer({ min: 1, max: 60 }), { nil: undefined });
		const removals = changesOf(fc.constant('remove'), 10);
		await fc.assert(
			fc.asyncProperty(shape, removals, said, limits, async (setting, changes, names, limit) => {
				const falsify = (honest: Metadata) => Object.fromEntries(names.map((name) => [name, honest[name]]));
				const outcome = await readWhileMoving(setting, changes, { falsify, limit }).catch(refusalOf);
				if (outcome instanceof Failure || !outcome.listing.settled) return;
				const { always, met, missing, listing } = outcome;
				if (limit === undefined || listing.items.length < limit) expect(missing).toEqual([]);
				// Removals keep the order, so a limited list begins with the first of the devices that stayed.
				const kept = always.filter((id) => met.has(id));
				expect(kept).toEqual(always.slice(0, kept.length));
			}),
			RUNS,
		);
	});

	function refusalOf(error: unknown): Failure {
		if (error instanceof Failure && error.details.kind === 'paging') return error;
		throw error;
	}
});
