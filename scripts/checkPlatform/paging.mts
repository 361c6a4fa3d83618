/**
 * Checks how the platform counts, cuts and ends pages (section 1.2 of the API document). Each check sends a few requests
 * through the package's transport and compares devices, not metadata. It reads no more than the pages that it compares.
 */
import { type Device, identifyDevice } from '../../nodes/DeviceManagement/core/device.ts';
import type { Page } from '../../nodes/DeviceManagement/core/paging/page.ts';
import { number } from '../demo/tables.mts';
import { inWords, isRefusal, type Outcome, type Probe } from './probe.mts';
import { type Finding, no, unsure, yes } from './rows.mts';

/** Devices on the first page that the check reads. */
export const FIRST_SIZE = 10;
/** Sizes by doubling; the largest is the most that the nodes allow. */
const SIZES = [125, 250, 500, 1000, 2000, 4000, 8000, 10_000];
/** A page that no fleet has. */
const FAR_PAGE = 1_000_000;

const RUN_AGAIN = 'Run the check again.';

/** Returns the identities of a page's devices, in order. */
export function idsOf(devices: readonly Device[]): string[] {
	return devices.map(identifyDevice);
}

export function areSame(one: readonly string[], other: readonly string[]): boolean {
	return one.length === other.length && one.every((id, position) => id === other[position]);
}

/** Returns the page size for the check of page numbers, so that the first page becomes two; 0 for too few devices. */
function smallSize(first: Page<Device>): number {
	return Math.floor(first.content.length / 2);
}

/** Whether the platform calls its first page 0 or 1. `number` is undefined if the check can't tell. */
export async function checkFirstPage(
	probe: Probe,
	first: Page<Device>,
): Promise<{ finding: Finding; number: 0 | 1 | undefined }> {
	const size = smallSize(first);
	if (size === 0) {
		return { finding: unsure('too few devices', `Add devices, then check again. ${DETECTED}`), number: undefined };
	}
	const [ids, next] = [idsOf(first.content).slice(0, size), idsOf(first.content).slice(size, 2 * size)];
	const at = async (page: number) => {
		const { value, refusal } = await probe.page(size, page);
		if (value === undefined) return inWords(refusal);
		const found = idsOf(value.content);
		return areSame(found, ids) ? 'first' : areSame(found, next) ? 'second' : 'other devices';
	};
	const one = await at(1);
	if (one === 'second') return { finding: yes('0', DETECTED), number: 0 };
	if (one !== 'first') return { finding: unsure(`page=1: ${one}`, RUN_AGAIN), number: undefined };
	const two = await at(2);
	if (two === 'second') return { finding: yes('1', DETECTED), number: 1 };
	if (two === 'first') {
		const advice = 'The nodes can read the first page only. Set Page Size to more than the number of devices.';
		return { finding: no("'page' is ignored", advice), number: undefined };
	}
	return { finding: unsure(`page=2: ${two}`, RUN_AGAIN), number: undefined };
}

const DETECTED = 'The nodes detect it.';

/** Reads three small pages with the walker that Get Many uses. */
export async function checkSeveralPages(probe: Probe, first: Page<Device>): Promise<Finding> {
	const size = smallSize(first);
	if (size === 0) return unsure('too few devices', 'Add devices, then run the check again.');
	const wanted = Math.min(3 * size, first.totalElements ?? first.content.length);
	const { value, refusal } = await probe.list(size, wanted);
	if (value === undefined) {
		if (refusal.kind === 'paging') return no('the list repeats devices', 'Get Many fails rather than lose a device.');
		return isRefusal(refusal) ? no(inWords(refusal), 'Get Many fails.') : unsure(inWords(refusal), RUN_AGAIN);
	}
	if (value.length < wanted) return unsure(`${value.length} of ${wanted} devices`, RUN_AGAIN);
	return yes('each device once', 'Get Many reads the whole list.');
}

/** A page that was read to measure the platform. */
export interface Sample {
	/** At least one. */
	devices: readonly Device[];
	/** Milliseconds until the package had read it. */
	took: number;
}

/** The largest page that the platform accepts, and the largest one read of up to 1,000 devices. */
export async function checkPageSize(
	probe: Probe,
	now: () => number,
): Promise<{ finding: Finding; sample: Sample | undefined }> {
	let sample: Sample | undefined;
	let accepted = 0;
	for (const size of SIZES) {
		const began = now();
		const { value, refusal } = await probe.page(size);
		if (value === undefined) return { finding: findingOfRefusedSize(accepted, size, inWords(refusal)), sample };
		const { content, totalElements, size: said } = value;
		if (size <= 1000 && content.length > 0) sample = { devices: content, took: now() - began };
		const hasAll = content.length < size && (totalElements === undefined || content.length >= totalElements);
		if (hasAll && said === undefined) {
			const found = `at least ${number(accepted)}`;
			return { finding: unsure(found, 'The whole fleet fits on one page: Page Size does not matter.'), sample };
		}
		const isCut = said === undefined ? content.length < size && !hasAll : said < size;
		if (isCut) return { finding: findingOfCut(said ?? content.length), sample };
		accepted = size;
	}
	return { finding: yes(`${number(accepted)} or more`, KEEP_SIZE), sample };
}

const KEEP_SIZE = 'Keep the default Page Size of 1,000.';

function findingOfCut(length: number): Finding {
	const advice = length >= 1000 ? KEEP_SIZE : 'The nodes notice shorter pages. Nothing to do.';
	return yes(`${number(length)}; larger pages are cut`, advice);
}

function findingOfRefusedSize(accepted: number, size: number, words: string): Finding {
	const refused = `${number(size)} fails (${words})`;
	if (accepted === 0)
		return no(refused, 'The nodes fall back to 50 devices a page. Set Page Size to 50 to save a request.');
	const advice =
		accepted >= 1000
			? KEEP_SIZE
			: `The nodes fall back to smaller pages. Set Page Size to ${accepted} to save requests.`;
	return yes(`${number(accepted)}; ${refused}`, advice);
}

/** The end of the list: whether the total and `last` are right there, and what comes after it. */
export async function checkEnd(
	probe: Probe,
	first: Page<Device>,
	firstPageNumber: 0 | 1,
): Promise<{ totals: Finding; pastEnd: Finding }> {
	const { totalElements: total } = first;
	if (total === undefined || total < first.content.length) {
		const past = await probe.page(FIRST_SIZE, FAR_PAGE);
		return {
			totals: no(
				total === undefined ? 'no total' : 'the total is wrong',
				'Count does not work. Get Many reads until a page is empty.',
			),
			pastEnd: findingPastEnd(past, first, undefined),
		};
	}
	const pages = Math.ceil(total / FIRST_SIZE);
	const last: Outcome<Page<Device>> =
		pages === 1 ? { value: first } : await probe.page(FIRST_SIZE, pages - 1 + firstPageNumber);
	const past = await probe.page(FIRST_SIZE, pages + firstPageNumber);
	return {
		totals: findingOfTotals(first, last, total),
		pastEnd: findingPastEnd(past, first, last.value),
	};
}

function findingOfTotals(first: Page<Device>, { value, refusal }: Outcome<Page<Device>>, total: number): Finding {
	if (value === undefined) return unsure(`last page: ${inWords(refusal)}`, RUN_AGAIN);
	const expected = total - FIRST_SIZE * (Math.ceil(total / FIRST_SIZE) - 1);
	if (value.content.length !== expected || (value.totalElements !== undefined && value.totalElements !== total)) {
		const advice = 'Count may be wrong, unless the fleet changed just now. Get Many reads past the total.';
		return unsure('the total does not match the pages', advice);
	}
	const isOnePage = total <= FIRST_SIZE;
	if (first.last === isOnePage && value.last === true) return yes('both are right', 'Count works.');
	const found =
		value.last === undefined ? "the total is right, 'last' is missing" : "the total is right, 'last' is wrong";
	return no(found, "Count works. The nodes don't depend on 'last'.");
}

function findingPastEnd(
	{ value, refusal }: Outcome<Page<Device>>,
	first: Page<Device>,
	last: Page<Device> | undefined,
): Finding {
	if (value === undefined) {
		const found = `refused (${inWords(refusal)})`;
		return isRefusal(refusal) ? yes(found, STOPS_THERE) : unsure(inWords(refusal), RUN_AGAIN);
	}
	const ids = idsOf(value.content);
	if (ids.length === 0) return yes('empty', STOPS_THERE);
	const isLast = last !== undefined && areSame(ids, idsOf(last.content));
	if (isLast || areSame(ids, idsOf(first.content))) {
		const found = isLast ? 'the last page again' : 'the first page again';
		if (last !== undefined) return yes(found, 'The nodes stop at the total.');
		return unsure(found, 'The nodes stop where devices repeat.');
	}
	return unsure('more devices', 'The total may be wrong. Get Many reads on until no device is new.');
}

const STOPS_THERE = 'The nodes stop there.';
