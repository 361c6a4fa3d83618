import fc from 'fast-check';

import { Failure } from '../../../nodes/DeviceManagement/core/failure.ts';
import { Fleet } from '../../../testbed/platform/fleet.mts';
import { type Metadata, PagedServer } from '../../../testbed/pagedServer.mts';

const wrongCount = fc.oneof(
	fc.constantFrom(0, 1, 2_000_000_000, Number.MAX_SAFE_INTEGER),
	fc.integer({ min: 0, max: 100 }),
);
const toldCount = fc.oneof(
	fc.constantFrom('right' as const, 'right' as const, 'missing' as const),
	wrongCount,
	fc.record({ offBy: fc.integer({ min: -6, max: 6 }) }),
);
const toldNumber = fc.oneof(
	fc.constantFrom('right' as const, 'right' as const, 'missing' as const),
	fc.constantFrom('counted from 1' as const, 'as asked' as const, 'one behind' as const),
	wrongCount,
);

/** The metadata of a page: each field right, missing or wrong. */
const tells = fc.record({
	number: toldNumber,
	totalElements: toldCount,
	totalPages: toldCount,
	last: fc.constantFrom('right' as const, 'right' as const, 'missing' as const, true, false),
	size: toldCount,
	offset: toldCount,
});
type Tells = typeof tells extends fc.Arbitrary<infer T> ? T : never;

const size = fc.integer({ min: 1, max: 15 });
export const habits = fc.record({
	numbering: fc.constantFrom('one-based' as const, 'zero-based' as const),
	fleetSize: fc.oneof(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max: 60 })),
	pageSize: size,
	largestSize: size,
	parallel: fc.integer({ min: 1, max: 8 }),
	turns: fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 1, maxLength: 5 }),
	pastEnd: fc.constantFrom('empty page', 'empty page of an empty list', 'last page', 'first page', 'code', 'status'),
	tells,
});
export type Habits = typeof habits extends fc.Arbitrary<infer T> ? T : never;

export const REFUSALS = {
	code: new Failure({ kind: 'refused', cause: 'input', code: 10001, httpStatus: 200, message: 'no page', remedy: '' }),
	status: new Failure({ kind: 'status', cause: 'input', httpStatus: 404, message: 'no page', remedy: '' }),
};

export function serve({ fleetSize, pastEnd, tells: told, ...script }: Habits): PagedServer {
	const deniesTheList = pastEnd === 'empty page of an empty list';
	return new PagedServer(Fleet.seeded({ size: fleetSize }), {
		...script,
		pastEnd: deniesTheList ? 'empty page' : pastEnd === 'code' || pastEnd === 'status' ? REFUSALS[pastEnd] : pastEnd,
		falsify(honest, asked) {
			const isPastEnd = (honest.number ?? 0) > 0 && (honest.number ?? 0) >= (honest.totalPages ?? 0);
			const denial = deniesTheList && isPastEnd ? { totalElements: 0, totalPages: 0 } : {};
			return { ...falsify(told, honest, asked), ...denial };
		},
	});
}

function falsify(told: Tells, honest: Metadata, asked: number | undefined): Metadata {
	const count = (what: Tells['totalElements'], right: number | undefined) => {
		if (what === 'missing') return undefined;
		if (what === 'right' || right === undefined) return right;
		return typeof what === 'number' ? what : Math.max(0, right + what.offBy);
	};
	const number = () => {
		if (told.number === 'as asked') return asked ?? 0;
		if (told.number === 'one behind') return Math.max((asked ?? 0) - 1, 0);
		if (told.number === 'counted from 1') return (honest.number ?? 0) + 1;
		return count(told.number, honest.number);
	};
	return {
		number: number(),
		size: count(told.size, honest.size),
		totalElements: count(told.totalElements, honest.totalElements),
		totalPages: count(told.totalPages, honest.totalPages),
		last: told.last === 'right' ? honest.last : told.last === 'missing' ? undefined : told.last,
		pageable: { offset: count(told.offset, honest.pageable?.offset) },
	};
}

const isNoLie = (told: unknown) => told === 'right' || told === 'missing';
export const looksOneBased = ({ numbering, tells: { number } }: Habits) =>
	numbering === 'zero-based' && number === 'one behind';

/** Fields that tell one and the same lie can't be told from the truth. */
export function canBeSeenThrough(setting: Habits): boolean {
	const { totalElements, totalPages, last } = setting.tells;
	if (looksOneBased(setting) && !isNoLie(totalElements)) return false;
	return [totalElements, totalPages, last].some(isNoLie);
}

/** Whether what the server says of the end is right, and enough to know a page past the end. */
export function tellsTheEnd(setting: Habits): boolean {
	const { totalElements, totalPages, last } = setting.tells;
	const said = [totalElements, totalPages, last];
	return said.every(isNoLie) && said.includes('right') && !looksOneBased(setting);
}

/** Lets a refusal pass where it may come: in words, and from a server that leaves open where it ends. */
export function refusalOf(setting: Habits, thrown: unknown): undefined {
	if (thrown !== REFUSALS.code && thrown !== REFUSALS.status) {
		expect(thrown).toMatchObject({ details: { kind: 'paging' } });
	}
	expect(setting.pastEnd).not.toMatch(/^empty page/);
	expect(tellsTheEnd(setting)).toBe(false);
	return undefined;
}
