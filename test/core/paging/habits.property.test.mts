import fc from 'fast-check';

import type { Listing } from '../../../nodes/DeviceManagement/core/paging/list.ts';
import { type Metadata, PagedServer } from '../../../testbed/pagedServer.mts';
import { type Device, Fleet } from '../../../testbed/platform/fleet.mts';
import { runs } from '../../../testbed/runs.mts';
import {
	failure,
	fetchList,
	fetchPart,
	noSuchPage,
	type Options as ListOptions,
	type Shape,
	shape,
} from '../../../testbed/pageScripts.mts';

/**
 * The promise, for a list that does not change: whatever a server says of its pages and returns past the end, a user gets each
 * device once, in the server's order, or a message that says why not. A message comes only from a server that says too little of
 * where its list ends, and past the end repeats or refuses a page: `expectExcuse`. A server that tells the same wrong list in all
 * its fields looks like a right one: `canBeSeenThrough` leaves it out.
 */
interface Promised {
	/** What the user gets, counted from the first device. */
	gets: string;
	cases: number;
	/** Whether it believes a wrong number that only a count of the whole list would show. */
	believesNumbers?: boolean;
	read(server: PagedServer, options: ListOptions, amount: number, sizes: readonly number[]): Promise<Device[]>;
	/** The devices that it returns. */
	range(amount: number): [from: number, to?: number];
}

test.each<Promised>([
	{
		gets: 'all devices',
		cases: 3000,
		range: () => [0],
		read: async ({ source }, options) => settled(await fetchList(source, options)),
	},
	{
		gets: 'the devices up to a limit',
		cases: 3000,
		believesNumbers: true,
		range: (limit) => [0, limit],
		read: async ({ source }, options, limit) => settled(await fetchList(source, { ...options, limit })),
	},
	{
		gets: 'all devices after the first ones',
		cases: 1000,
		range: (skip) => [skip],
		read: async ({ source }, options, skip) => settled(await fetchPart(source, { ...options, skip })),
	},
	{ gets: 'all devices in parts', cases: 1000, believesNumbers: true, range: () => [0], read: readParts },
])('from any server, a user gets $gets once and in order, or a message', async (promised) => {
	const { cases, believesNumbers = false, read, range } = promised;
	await fc.assert(
		fc.asyncProperty(habits, fc.integer({ min: 1, max: 70 }), partSizes, async (habit, amount, sizes) => {
			fc.pre(canBeSeenThrough(habit) && !(believesNumbers && looksOneBased(habit)));
			const server = serve(habit);
			const { pageSize, parallel } = habit.shape;
			const options = { pageSize, parallelRequests: parallel };
			const devices = await read(server, options, amount, sizes).catch((thrown) => expectExcuse(habit, thrown));
			if (devices === undefined) return;
			expect(ids(devices)).toEqual(ids(server.fleet.devices.slice(...range(amount))));
			expect(server.peakInFlight).toBeLessThanOrEqual(parallel);
		}),
		{ ...runs(cases), examples: FOUND.map((habit) => [habit, 70, [10]]) },
	);
});

/** Whether the total or `last` tells the end rightly. If neither does, nothing could distinguish the list from a right one. */
function canBeSeenThrough(habit: Habits): boolean {
	return endOf(habit).some(isHonest) && (!looksOneBased(habit) || isHonest(habit.tells.totalElements));
}

/** Expects a message, and only if the server says too little of its end, and repeats or refuses a page past it. */
function expectExcuse(habit: Habits, thrown: unknown): undefined {
	const isOfServer = thrown === REFUSALS.code || thrown === REFUSALS.status;
	if (!isOfServer) expect(thrown).toMatchObject({ details: { kind: 'paging' } });
	expect(habit.pastEnd).not.toMatch(/^empty page/);
	const saysEnd = endOf(habit).includes('right') && endOf(habit).every(isHonest) && isHonest(habit.tells.totalPages);
	expect(saysEnd && !looksOneBased(habit)).toBe(false);
}

const isHonest = (told: unknown) => told === 'right' || told === 'missing';
const endOf = ({ tells: { totalElements, last } }: Habits) => [totalElements, last];
const looksOneBased = ({ shape: { numbering }, tells }: Habits) =>
	numbering === 'zero-based' && tells.number === 'one behind';

const partSizes = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 4 });
const ids = (devices: readonly Device[]) => devices.map(({ id }) => id);

function settled(listing: Listing<Device>): Device[] {
	expect(listing.settled).toBe(true);
	return listing.items;
}

/** Reads parts of these sizes in turn, to the end and a part beyond. */
async function readParts(...[{ source, fleet }, options, , sizes]: Parameters<Promised['read']>): Promise<Device[]> {
	const devices: Device[] = [];
	for (let skip = 0, turn = 0; ; turn++) {
		const limit = sizes[turn % sizes.length] ?? 1;
		devices.push(...settled(await fetchPart(source, { ...options, skip, limit })));
		if (skip > fleet.size) return devices;
		skip += limit;
	}
}

const wrongCount = fc.oneof(
	fc.constantFrom(0, 1, 2_000_000_000, Number.MAX_SAFE_INTEGER),
	fc.integer({ min: 0, max: 100 }),
);
const honest = fc.constantFrom('right' as const, 'right' as const, 'missing' as const);
const count = fc.oneof(honest, wrongCount, fc.record({ offBy: fc.integer({ min: -6, max: 6 }) }));
/** Counted from 1, as requested, or one behind. */
const oddNumber = fc.constantFrom<'as asked' | 'one behind' | { offBy: number }>('as asked', 'one behind', {
	offBy: 1,
});
const REFUSALS = { code: noSuchPage, status: failure({ httpStatus: 404 }) };

/** What a server returns past the end, and the metadata that it says. */
const habits = fc.record({
	shape,
	pastEnd: fc.constantFrom('empty page', 'empty page of an empty list', 'last page', 'first page', 'code', 'status'),
	/** Each field is right, missing or wrong. */
	tells: fc.record({
		number: fc.oneof(honest, oddNumber, wrongCount),
		totalElements: count,
		totalPages: count,
		last: fc.oneof(honest, fc.boolean()),
		size: count,
		offset: fc.oneof(count, fc.record({ pagesOff: fc.constantFrom(-1, 1) })),
	}),
});
type Habits = typeof habits extends fc.Arbitrary<infer T> ? T : never;
type Tells = Habits['tells'];

/** A setting that random tests found: it tells only these fields. */
function found(numbering: Shape['numbering'], fleetSize: number, pageSize: number, tells: Partial<Tells>): Habits {
	const silent = { totalElements: 'missing', totalPages: 'missing', size: 'missing', offset: 'missing' } as const;
	return {
		shape: { numbering, fleetSize, pageSize, largestSize: 10, parallel: 2, turns: [0] },
		pastEnd: 'empty page',
		tells: { ...silent, number: 'missing', last: 'missing', ...tells },
	};
}
const FOUND: readonly Habits[] = [
	found('one-based', 35, 20, { size: 20 }),
	found('one-based', 30, 10, { number: 'right', last: 'right', totalPages: 'right', totalElements: 2e9 }),
	found('zero-based', 2, 1, { number: Number.MAX_SAFE_INTEGER, last: 'right', totalPages: 0 }),
];

function serve({ shape, pastEnd, tells }: Habits): PagedServer {
	const deniesTheList = pastEnd === 'empty page of an empty list';
	return new PagedServer(Fleet.seeded({ size: shape.fleetSize }), {
		...shape,
		pastEnd: deniesTheList ? 'empty page' : pastEnd === 'code' || pastEnd === 'status' ? REFUSALS[pastEnd] : pastEnd,
		falsify(right, asked) {
			const isPastEnd = (right.number ?? 0) > 0 && (right.number ?? 0) >= (right.totalPages ?? 0);
			const denial = deniesTheList && isPastEnd ? { totalElements: 0, totalPages: 0 } : {};
			return { ...falsify(tells, right, asked ?? 0), ...denial };
		},
	});
}

function falsify(tells: Tells, right: Metadata, asked: number): Metadata {
	const odd = new Map<unknown, number>(Object.entries({ 'as asked': asked, 'one behind': Math.max(asked - 1, 0) }));
	const told = (what: Tells['number'], value = 0) => {
		if (typeof what === 'object') return Math.max(0, value + what.offBy);
		return what === 'right' ? value : typeof what === 'number' ? what : odd.get(what);
	};
	const { offset: said } = tells;
	const isPagesOff = typeof said === 'object' && 'pagesOff' in said;
	const atPage = (right.pageable?.offset ?? 0) + (isPagesOff ? said.pagesOff : 0) * (right.size ?? 0);
	const offset = isPagesOff ? atPage : told(said, right.pageable?.offset);
	return {
		number: told(tells.number, right.number),
		size: told(tells.size, right.size),
		totalElements: told(tells.totalElements, right.totalElements),
		totalPages: told(tells.totalPages, right.totalPages),
		last: tells.last === 'right' ? right.last : tells.last === 'missing' ? undefined : tells.last,
		pageable: { offset: offset === undefined ? undefined : Math.max(0, offset) },
	};
}
