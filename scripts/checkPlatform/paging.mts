/**
 * Checks how the platform counts, cuts and ends pages (section 1.2 of the API document). Each check sends a few requests
 * through the package's transport and compares devices, not metadata. It reads no more than the pages that it compares.
 */
import { type Device, identifyDevice } from '../../nodes/DeviceManagement/core/device.ts';
import { areSame as areSameBy, type Page } from '../../nodes/DeviceManagement/core/paging/page.ts';
import { number } from '../demo/tables.mts';
import { inWords, isRefusal, type Outcome, type Probe } from './probe.mts';
import { type Finding, no, RUN_AGAIN, unsure, yes } from './report.mts';

/** Devices on the first page that the check reads: the default of the API document. */
export const FIRST_SIZE = 10;
/** Sizes to try. The first is the nodes' default, the last one the most that they allow. */
const SIZES = [1000, 2000, 10_000];
/** Sizes to try if the platform refuses the first of those. */
const SMALLER_SIZES = [FIRST_SIZE, 20, 50, 100, 200, 500, 1000];
/** A page that no fleet has. */
const FAR_PAGE = 1_000_000;

const DETECTED = 'The nodes detect it.';
const STOPS_THERE = 'The nodes stop there.';
const KEEP_SIZE = 'Keep the default Page Size of 1,000.';

/** Whether two pages have the same devices in the same order. */
export const areSame = (one: readonly Device[], other: readonly Device[]) => areSameBy(identifyDevice, one, other);

/** Returns the page size for the check of page numbers, so that the first page becomes two; 0 for too few devices. */
function smallSize(first: Page<Device>): number {
	return Math.floor(first.content.length / 2);
}

/** Whether the platform calls its first page 0 or 1. `number` is undefined if the check can't tell. */
export async function checkFirstPage(probe: Probe, first: Page<Device>): Promise<{ finding: Finding; number?: 0 | 1 }> {
	const size = smallSize(first);
	if (size === 0) return { finding: unsure('too few devices', `Add devices, then check again. ${DETECTED}`) };
	// Sorted by ID, if the platform can: other orders may have equal values, which change places with the page size.
	const byId = { sort: 'id asc' };
	const sorted = await probe.page(FIRST_SIZE, undefined, byId);
	const { content } = sorted.value ?? first;
	const at = async (page: number) => {
		const { value, refusal } = await probe.page(size, page, sorted.value && byId);
		if (value === undefined) return inWords(refusal);
		if (areSame(value.content, content.slice(0, size))) return 'first';
		return areSame(value.content, content.slice(size, 2 * size)) ? 'second' : 'other devices';
	};
	const one = await at(1);
	if (one === 'second') return { finding: yes('0', DETECTED), number: 0 };
	if (one !== 'first') return { finding: unsure(`page=1: ${one}`, RUN_AGAIN) };
	const two = await at(2);
	if (two === 'second') return { finding: yes('1', DETECTED), number: 1 };
	if (two !== 'first') return { finding: unsure(`page=2: ${two}`, RUN_AGAIN) };
	const advice = 'The nodes can read the first page only. Set Page Size to more than the number of devices.';
	return { finding: no("'page' is ignored", advice) };
}

/**
 * Reads three small pages with the walker that Get Many uses.
 * @param sort the ID where equal values change their order
 */
export async function checkSeveralPages(probe: Probe, first: Page<Device>, sort: readonly string[]): Promise<Finding> {
	const size = smallSize(first);
	if (size === 0) return unsure('too few devices', 'Add devices, then run the check again.');
	const wanted = Math.min(3 * size, first.totalElements ?? first.content.length);
	const { value, refusal } = await probe.list(size, wanted, sort);
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

interface PageSizes {
	finding: Finding;
	/** The largest size that was accepted. */
	accepted: number;
	sample?: Sample;
}

/** The largest page that the platform accepts, and the largest one read of up to 1,000 devices. */
export async function checkPageSize(probe: Probe, sizes = SIZES): Promise<PageSizes> {
	const found: Omit<PageSizes, 'finding'> = { accepted: FIRST_SIZE };
	for (const size of sizes) {
		const began = performance.now();
		const { value, refusal } = await probe.page(size);
		if (value === undefined && sizes === SIZES && size === sizes[0]) return await checkPageSize(probe, SMALLER_SIZES);
		if (value === undefined) return { ...found, finding: findingOfRefusedSize(found.accepted, size, inWords(refusal)) };
		const { content, totalElements, size: said } = value;
		if (size <= 1000 && content.length > 0) found.sample = { devices: content, took: performance.now() - began };
		const hasAll = content.length < size && (totalElements === undefined || content.length >= totalElements);
		if (hasAll && said === undefined) {
			const advice = 'The whole fleet fits on one page: Page Size does not matter.';
			return { ...found, finding: unsure(`at least ${number(content.length)}`, advice) };
		}
		const cutTo = said ?? content.length;
		if (cutTo < size) {
			const advice = cutTo >= 1000 ? KEEP_SIZE : 'The nodes notice shorter pages. Nothing to do.';
			return { ...found, finding: yes(`${number(cutTo)}; larger pages are cut`, advice) };
		}
		found.accepted = size;
	}
	return { ...found, finding: yes(`${number(found.accepted)} or more`, KEEP_SIZE) };
}

function findingOfRefusedSize(accepted: number, size: number, words: string): Finding {
	const refused = `${number(size)} fails (${words})`;
	const smaller = `The nodes fall back to smaller pages. Set Page Size to ${accepted} to save requests.`;
	return yes(`${number(accepted)}; ${refused}`, accepted >= 1000 ? KEEP_SIZE : smaller);
}

/** The end of the list: whether the total and `last` are right there, and what comes after it. */
export async function checkEnd(
	probe: Probe,
	first: Page<Device>,
	firstPageNumber: 0 | 1,
): Promise<{ totals: Finding; pastEnd: Finding }> {
	const { totalElements: total } = first;
	if (total === undefined || total < first.content.length) {
		const pastEnd = findingPastEnd(await probe.page(FIRST_SIZE, FAR_PAGE), first, undefined);
		const found = total === undefined ? 'no total' : 'the total is wrong';
		return { totals: no(found, 'Count does not work. Get Many reads until a page is empty.'), pastEnd };
	}
	const pages = Math.ceil(total / FIRST_SIZE);
	const last = pages === 1 ? { value: first } : await probe.page(FIRST_SIZE, pages - 1 + firstPageNumber);
	const past = await probe.page(FIRST_SIZE, pages + firstPageNumber);
	return { totals: findingOfTotals(first, last, total), pastEnd: findingPastEnd(past, first, last.value) };
}

function findingOfTotals(first: Page<Device>, { value, refusal }: Outcome<Page<Device>>, total: number): Finding {
	if (value === undefined) return unsure(`last page: ${inWords(refusal)}`, RUN_AGAIN);
	const expected = total - FIRST_SIZE * (Math.ceil(total / FIRST_SIZE) - 1);
	if (value.content.length !== expected || (value.totalElements ?? total) !== total) {
		const advice = 'Count may be wrong, unless the fleet changed just now. Get Many reads past the total.';
		return unsure('the total does not match the pages', advice);
	}
	const isOnePage = total <= FIRST_SIZE;
	if (first.last === isOnePage && value.last === true) return yes('both are right', 'Count works.');
	const wrong = value.last === undefined ? 'missing' : 'wrong';
	return no(`the total is right, 'last' is ${wrong}`, "Count works. The nodes don't depend on 'last'.");
}

function findingPastEnd(
	{ value, refusal }: Outcome<Page<Device>>,
	first: Page<Device>,
	last: Page<Device> | undefined,
): Finding {
	if (value === undefined) {
		const words = inWords(refusal);
		return isRefusal(refusal) ? yes(`refused (${words})`, STOPS_THERE) : unsure(words, RUN_AGAIN);
	}
	if (value.content.length === 0) return yes('empty', STOPS_THERE);
	const isLast = last !== undefined && areSame(value.content, last.content);
	if (!isLast && !areSame(value.content, first.content)) {
		return unsure('more devices', 'The total may be wrong. Get Many reads on until no device is new.');
	}
	const found = isLast ? 'the last page again' : 'the first page again';
	if (last !== undefined) return yes(found, 'The nodes stop at the total.');
	return unsure(found, 'The nodes stop where devices repeat.');
}
