/**
 * Checks how the platform counts, cuts and ends pages (section 1.2 of the API document). Each check sends a few requests
 * through the package's transport and compares devices, not metadata. It reads no more than the pages that it compares.
 */
import { type Device, identifyDevice } from '../../nodes/DeviceManagement/core/device.ts';
import type { Page } from '../../nodes/DeviceManagement/core/paging/page.ts';
import { number } from '../demo/tables.mts';
import { type FetchPage, FIRST_SIZE, inWords, type Outcome, type Probe } from './probe.mts';
import { type Finding, type Findings, ifRefused, no, RUN_AGAIN, unsure, yes } from './report.mts';

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
export const areSame = (one: readonly Device[], other: readonly Device[]) =>
	one.map(identifyDevice).join() === other.map(identifyDevice).join();

/** Whether the platform calls its first page 0 or 1. */
export async function checkFirstPage(fetchPage: FetchPage, first: Page<Device>): Promise<Finding> {
	// The first page becomes two.
	const size = Math.floor(first.content.length / 2);
	if (size === 0) return unsure('too few devices', `Add devices, then check again. ${DETECTED}`);
	// Sorted by ID, if the platform can: other orders may have equal values, which change places with the page size.
	const byId = { sort: ['id asc'] };
	const sorted = await fetchPage(FIRST_SIZE, undefined, byId);
	const { content } = sorted.value ?? first;
	for (const page of [1, 2]) {
		const { value, refusal } = await fetchPage(size, page, sorted.value && byId);
		if (refusal) return unsure(`page=${page}: ${inWords(refusal)}`, RUN_AGAIN);
		if (areSame(value.content, content.slice(0, size))) continue;
		if (areSame(value.content, content.slice(size, 2 * size))) return yes(String(page - 1), DETECTED);
		return unsure(`page=${page}: other devices`, RUN_AGAIN);
	}
	const advice = 'The nodes can read the first page only. Set Page Size to more than the number of devices.';
	return no("'page' is ignored", advice);
}

/**
 * Reads three small pages with the walker that Get Many uses.
 * @param sort the ID where equal values change their order
 */
export async function checkSeveralPages(probe: Probe, first: Page<Device>, sort: readonly string[]): Promise<Finding> {
	const size = Math.floor(first.content.length / 2);
	if (size === 0) return unsure('too few devices', 'Add devices, then run the check again.');
	const wanted = Math.min(3 * size, first.totalElements ?? first.content.length);
	const { value, refusal } = await probe.list(size, wanted, sort);
	if (refusal?.kind === 'paging') return no('the list repeats devices', 'Get Many fails rather than lose a device.');
	if (refusal) return ifRefused(refusal, (words) => no(words, 'Get Many fails.'));
	if (value.items.length < wanted) return unsure(`${value.items.length} of ${wanted} devices`, RUN_AGAIN);
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
export async function checkPageSize(fetchPage: FetchPage, sizes = SIZES): Promise<PageSizes> {
	const found: Omit<PageSizes, 'finding'> = { accepted: FIRST_SIZE };
	const largest = (size: number, rest: string, advice: string) => {
		return { ...found, finding: yes(`${number(size)}${rest}`, size >= 1000 ? KEEP_SIZE : advice) };
	};
	for (const size of sizes) {
		const began = performance.now();
		const { value, refusal } = await fetchPage(size);
		if (value === undefined) {
			if (sizes === SIZES && size === sizes[0]) return await checkPageSize(fetchPage, SMALLER_SIZES);
			const advice = `The nodes fall back to smaller pages. Set Page Size to ${found.accepted} to save requests.`;
			return largest(found.accepted, `; ${number(size)} fails (${inWords(refusal)})`, advice);
		}
		const { content, totalElements, size: said } = value;
		if (size <= 1000 && content.length > 0) found.sample = { devices: content, took: performance.now() - began };
		const hasAll = content.length < size && (totalElements === undefined || content.length >= totalElements);
		if (hasAll && said === undefined) {
			const advice = 'The whole fleet fits on one page: Page Size does not matter.';
			return { ...found, finding: unsure(`at least ${number(content.length)}`, advice) };
		}
		const cutTo = said ?? content.length;
		if (cutTo < size) return largest(cutTo, '; larger pages are cut', 'The nodes notice shorter pages. Nothing to do.');
		found.accepted = size;
	}
	return largest(found.accepted, ' or more', KEEP_SIZE);
}

/** The end of the list: whether the total and `last` are right there, and what comes after it. */
export async function checkEnd(fetchPage: FetchPage, first: Page<Device>, firstPageNumber: number): Promise<Findings> {
	const { totalElements: total } = first;
	if (total === undefined || total < first.content.length) {
		const pastEnd = findingPastEnd(await fetchPage(FIRST_SIZE, FAR_PAGE), first);
		const found = total === undefined ? 'no total' : 'the total is wrong';
		return { totals: no(found, 'Count does not work. Get Many reads until a page is empty.'), pastEnd };
	}
	const pages = Math.ceil(total / FIRST_SIZE);
	const last = pages === 1 ? { value: first } : await fetchPage(FIRST_SIZE, pages - 1 + firstPageNumber);
	const past = await fetchPage(FIRST_SIZE, pages + firstPageNumber);
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

function findingPastEnd({ value, refusal }: Outcome<Page<Device>>, first: Page<Device>, last?: Page<Device>): Finding {
	if (refusal) return ifRefused(refusal, (words) => yes(`refused (${words})`, STOPS_THERE));
	if (value.content.length === 0) return yes('empty', STOPS_THERE);
	const isLast = last !== undefined && areSame(value.content, last.content);
	if (!isLast && !areSame(value.content, first.content)) {
		return unsure('more devices', 'The total may be wrong. Get Many reads on until no device is new.');
	}
	const found = isLast ? 'the last page again' : 'the first page again';
	if (last !== undefined) return yes(found, 'The nodes stop at the total.');
	return unsure(found, 'The nodes stop where devices repeat.');
}
