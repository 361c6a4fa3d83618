import fc from 'fast-check';

import { identifyDevice, identifyListed } from '../../../nodes/DeviceManagement/core/device.ts';
import { Failure } from '../../../nodes/DeviceManagement/core/failure.ts';
import { type Metadata, PagedServer, type ServerScript } from '../../../testbed/pagedServer.mts';
import { type Device, Fleet } from '../../../testbed/platform/fleet.mts';
import { runs } from '../../../testbed/runs.mts';
import { fetchList, noSuchPage, type Shape, shape } from '../../../testbed/pageScripts.mts';

const RUNS = runs(1000);

const THIRTY: Shape = { numbering: 'one-based', fleetSize: 30, pageSize: 10, largestSize: 15, parallel: 1, turns: [0] };
const limits = fc.option(fc.integer({ min: 1, max: 60 }), { nil: undefined });

/** Reads the list as Get Many does. */
async function read(server: PagedServer, { pageSize, parallel: parallelRequests }: Shape, limit?: number, skip = 0) {
	const source = { ...server.source, identify: identifyListed, idOf: identifyDevice };
	const byId = limit === undefined && skip === 0 ? 'if unsteady' : undefined;
	return await fetchList(source, { pageSize, parallelRequests, skip, limit, byId });
}

const ids = (devices: readonly Device[]) => devices.map(({ id }) => id);

describe('a list that does not change', () => {
	test('is read with one more pass, whole or in part, although devices share IDs', async () => {
		const [idCounts, skips] = [fc.integer({ min: 1, max: 20 }), fc.integer({ min: 0, max: 30 })];
		await fc.assert(
			fc.asyncProperty(shape, idCounts, limits, skips, async (setting, idCount, limit, skip) => {
				const { devices } = Fleet.seeded({ size: setting.fleetSize });
				const fleet = new Fleet(devices.map((device, at) => ({ ...device, id: `id ${at % idCount}` })));
				const listing = await read(new PagedServer(fleet, setting), setting, limit, skip);
				const items = fleet.devices.slice(skip, limit && skip + limit);
				expect(listing).toMatchObject({ items, settled: true });
				const isOnePage = fleet.size <= Math.min(setting.pageSize, setting.largestSize);
				expect(listing.readings).toBeLessThanOrEqual(isOnePage ? 1 : 2);
			}),
			RUNS,
		);
	});

	/** A platform that reads one field only, or ignores the ID or the order, can't order devices with equal values. */
	const sorting = fc.record({
		idSort: fc.constantFrom('obeyed', 'refused', 'ignored'),
		severalFields: fc.constantFrom('obeyed', 'refused', 'first field'),
		sorting: fc.constantFrom('obeyed', 'obeyed', 'ignored'),
	});

	test('is read whole or is not settled, where devices with equal values have another order on each page', async () => {
		const [values, has] = [fc.integer({ min: 1, max: 6 }), fc.boolean()];
		await fc.assert(
			fc.asyncProperty(shape, sorting, values, has, has, async (any, habits, count, isSorted, hasTotal) => {
				// Pages of 10 and of 9 have no edge in common, at which both could repeat the same device, before device 90.
				const setting = { ...any, pageSize: any.pageSize + 9, largestSize: any.largestSize + 9 };
				const { devices } = Fleet.seeded({ size: setting.fleetSize });
				const fleet = new Fleet(devices.map((device, at) => ({ ...device, status: (at * 7) % count })));
				const server = new PagedServer(fleet, {
					...setting,
					// A second page that is the first one again, by chance, looks like a server that counts from 1.
					numbering: 'one-based',
					...(isSorted && { sort: 'status desc' }),
					...(hasTotal ? {} : { falsify: ({ totalElements: _, ...said }) => said }),
					sorting: { ...habits, equalValues: 'unsteady', ownSort: 'status asc' },
				});
				const outcome = await read(server, setting).catch((thrown: unknown) => thrown);
				if (outcome instanceof Failure) return void expect(outcome.details.kind).toBe('paging');
				const { items, settled, readings } = outcome as Awaited<ReturnType<typeof read>>;
				const [found, all] = [ids(items).sort(), ids(devices).sort()];
				if (settled) expect(found).toEqual(all);
				const sortsById = habits.sorting === 'obeyed' && habits.idSort === 'obeyed';
				if (sortsById && (!isSorted || habits.severalFields === 'obeyed') && hasTotal)
					expect({ settled, twice: readings < 3 }).toEqual({ settled: true, twice: true });
			}),
			RUNS,
		);
	});

	const SIZES = [10, 20, 25, 50, 100, 200, 500];
	/** A platform that accepts only these page sizes refuses others, or replaces them. */
	const offers = fc.record({
		sizes: fc.subarray(SIZES, { minLength: 2 }),
		// A list may fill a page.
		rows: fc.oneof(fc.integer({ min: 2, max: 600 }), fc.constantFrom(...SIZES)),
		others: fc.constantFrom('refused', 'rounded down', 'rounded up'),
		says: fc.subarray(['size', 'totalPages', 'last'] as const),
	});

	test('is read whole where a platform accepts few page sizes and lists a device twice, with a total of its rows', async () => {
		const has = fc.boolean();
		await fc.assert(
			fc.asyncProperty(offers, fc.nat(600), has, async ({ sizes, rows: count, others, says }, twice, isSet) => {
				const fits = (size: number) => sizes.includes(size) || others !== 'refused';
				// By default, the node tries these sizes first.
				const pageSize = isSet || ![1000, 200, 50, 10].some(fits) ? Math.max(...sizes) : 1000;
				const devices = Array.from({ length: count - 1 }, (_, at) => `${at}`);
				const rows = devices.toSpliced(twice % count, 0, '0');
				const fetchPage = async (page = 1, asked: number) => {
					if (!fits(asked)) throw noSuchPage;
					const [below, above] = [sizes.filter((size) => size <= asked), sizes.filter((size) => size >= asked)];
					const size = (others === 'rounded up' ? above[0] : below.at(-1)) ?? (above[0] || below.at(-1)) ?? 0;
					const totalPages = Math.ceil(rows.length / size);
					const said = { size, totalPages, last: page >= totalPages };
					const named = Object.fromEntries(says.map((name) => [name, said[name]]));
					const content = rows.slice((page - 1) * size, page * size);
					return { content, number: page - 1, totalElements: rows.length, ...named };
				};
				const source = { fetchPage, identify: (device: string) => device };
				const listing = await fetchList(source, { pageSize, parallelRequests: 2 });
				expect(listing).toMatchObject({ settled: true, items: [...new Set(rows)], reportedTotal: rows.length });
			}),
			RUNS,
		);
	});

	test('of rows is read whole with a wrong total, or fails if the total is too small and no number shows the pages', async () => {
		const numbers = fc.constantFrom('right', 'missing', 'always 0');
		const wrong = fc.integer({ min: -100, max: 100 });
		await fc.assert(
			fc.asyncProperty(shape, wrong, numbers, async (any, offBy, told) => {
				const setting = { ...any, pageSize: any.pageSize + 1, largestSize: any.largestSize + 1 };
				const server = new PagedServer(Fleet.seeded({ size: any.fleetSize }), {
					...setting,
					falsify: ({ number, totalElements = 0, ...honest }) => ({
						...honest,
						...(told !== 'missing' && { number: told === 'right' ? number : 0 }),
						totalElements: Math.max(0, totalElements + offBy),
					}),
				});
				const options = { pageSize: setting.pageSize, parallelRequests: setting.parallel };
				const reading = fetchList({ ...server.source, areRows: true }, options);
				const hasPages = any.fleetSize > Math.min(setting.pageSize, setting.largestSize);
				const isExcused = offBy < 0 && told !== 'right' && hasPages;
				if (isExcused) return void (await expect(reading).rejects.toMatchObject({ details: { kind: 'paging' } }));
				const { items, settled } = await reading;
				expect([settled, ...ids(items)]).toEqual([true, ...ids(server.fleet.devices)]);
			}),
			RUNS,
		);
	});
});

describe('a list that changes while it is read', () => {
	const KINDS = ['add', 'remove', 'move', 'correct'] as const;
	interface Change {
		request: number;
		kind: (typeof KINDS)[number];
		at: number;
		to: number;
	}
	const changesOf = (kinds: readonly Change['kind'][], maxLength: number) =>
		fc.uniqueArray(
			fc.record({
				request: fc.integer({ min: 1, max: 40 }),
				kind: fc.constantFrom(...kinds),
				at: fc.nat(1000),
				to: fc.nat(1000),
			}),
			{ selector: ({ request }) => request, minLength: 1, maxLength },
		);

	function apply({ kind, at, to }: Change, fleet: Fleet): Device | undefined {
		if (kind === 'add') fleet.add(fleet.make(), at % (fleet.size + 1));
		if (kind === 'add' || fleet.size === 0) return undefined;
		const device = fleet.at(at % fleet.size);
		if (kind === 'remove') return fleet.remove(device.sn);
		// A new serial number, in a list in the order of the edits.
		const { sn } = kind === 'correct' ? fleet.update(device.sn, { sn: fleet.make().sn }) : device;
		fleet.move(sn, to % fleet.size);
		return undefined;
	}

	/** Reads the list, and returns which of the devices that stayed all the time are in it. Undefined if it repeated itself. */
	async function readWhileChanging(
		setting: Shape,
		changes: readonly Change[],
		more: Partial<ServerScript> & { limit?: number | undefined } = {},
	) {
		const fleet = Fleet.seeded({ size: setting.fleetSize });
		const stayed = new Set(ids(fleet.devices));
		const change = (one: Change) => (moving: Fleet) => void stayed.delete(apply(one, moving)?.id ?? '');
		const { limit, ...script } = more;
		const server = new PagedServer(fleet, {
			...setting,
			changes: new Map(changes.map((one) => [one.request, change(one)])),
			...script,
		});
		const listing = await read(server, setting, limit).catch((thrown: unknown) => {
			// A list that changes at every request can look like a server that repeats itself.
			const mayRepeat = changes.length > 2 || script.falsify !== undefined;
			if (!(thrown instanceof Failure) || thrown.details.kind !== 'paging' || !mayRepeat) throw thrown;
		});
		if (listing === undefined) return undefined;
		expect(new Set(listing.items.map(identifyListed)).size).toBe(listing.items.length);
		const found = new Set(ids(listing.items));
		const present = [...stayed].map((id) => found.has(id));
		return { ...listing, present };
	}

	const ZERO: Shape = { ...THIRTY, numbering: 'zero-based' };
	const add = (request: number, at: number): Change => ({ request, kind: 'add', at, to: 0 });
	const remove = (...requests: number[]) =>
		requests.map((request): Change => ({ request, kind: 'remove', at: 0, to: 0 }));
	/** Found by random tests or in an attack. */
	const FOUND: Array<[Shape, Change[]]> = [
		// A device of page 1 gets another serial number and moves to the end, and page 2 lacks one.
		[THIRTY, [{ request: 2, kind: 'correct', at: 0, to: 29 }]],
		// Page 2 came before page 1.
		[{ ...ZERO, fleetSize: 4, pageSize: 1 }, remove(3)],
		// Pages became empty.
		[{ ...ZERO, fleetSize: 4, pageSize: 1 }, remove(3, 4, 5)],
		// A page past the end was late.
		[{ ...ZERO, fleetSize: 21, pageSize: 8, parallel: 2 }, [add(1, 0), add(3, 9), ...remove(4)]],
		// Two passes miss the same device.
		[{ ...ZERO, fleetSize: 3, pageSize: 2 }, [add(1, 0), add(3, 2), ...remove(6)]],
	];

	test.each([
		{ name: 'even unsettled, if devices are only added', kinds: ['add'] as const, most: 40, unsettled: true },
		{ name: 'even unsettled, after two changes', kinds: KINDS, most: 2, unsettled: true },
		{ name: 'if it is settled', kinds: KINDS, most: 40, unsettled: false },
	])('has every device that stayed all the time, $name', async ({ kinds, most, unsettled }) => {
		await fc.assert(
			fc.asyncProperty(shape, changesOf(kinds, most), async (setting, changes) => {
				const listing = await readWhileChanging(setting, changes);
				if (listing !== undefined && (unsettled || listing.settled)) expect(listing.present).not.toContain(false);
			}),
			{ ...RUNS, examples: kinds === KINDS ? FOUND.filter(([, changes]) => changes.length <= most) : [] },
		);
	});

	test('by removals only has no gap if it is settled, although the server reports no total', async () => {
		const said = fc.subarray(['number', 'size', 'totalPages', 'last'] as const);
		await fc.assert(
			fc.asyncProperty(shape, changesOf(['remove'], 10), said, limits, async (setting, changes, names, limit) => {
				const falsify = (honest: Metadata) => Object.fromEntries(names.map((name) => [name, honest[name]]));
				const listing = await readWhileChanging(setting, changes, { falsify, limit });
				if (listing?.settled !== true) return;
				const { present, items } = listing;
				// Removals keep the order, so a limited list begins with the first of the devices that stayed.
				const isWhole = limit === undefined || items.length < limit;
				expect(isWhole ? present : present.slice(0, present.lastIndexOf(true))).not.toContain(false);
			}),
			{
				...RUNS,
				// Found by random tests: without metadata before a short page, if page 2 becomes empty, and without a total.
				examples: [
					[{ ...THIRTY, fleetSize: 25 }, [], [], undefined],
					[{ ...THIRTY, fleetSize: 11 }, remove(3), [], undefined],
					[THIRTY, remove(2), ['totalPages', 'last'], undefined],
				],
			},
		);
	});
});
