/**
 * Checks how the platform counts and cuts pages (section 1.2 of the API document). Each check sends a few requests
 * through the package's transport and compares devices, not metadata. It reads no more than the pages that it compares.
 */
import { type Device, identifyDevice } from '../../nodes/DeviceManagement/core/device.ts';
import type { Page } from '../../nodes/DeviceManagement/core/paging/page.ts';
import { number } from '../terminal.mts';
import { type FetchPage, FIRST_SIZE, inWords, type Probe } from './probe.mts';
import { type Finding, ifRefused, no, RUN_AGAIN, unsure, yes } from './report.mts';

/** Sizes to try: the nodes' default first. */
const SIZES = [1000, 500, 200, 100, 50, 20, FIRST_SIZE];

const DETECTED = 'The nodes detect it.';

/** Whether two pages have the same devices in the same order. */
const areSame = (one: readonly Device[], other: readonly Device[]) =>
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

/** Reads three small pages as Get Many does. */
export async function checkSeveralPages(probe: Probe, first: Page<Device>): Promise<Finding> {
	const size = Math.floor(first.content.length / 2);
	if (size === 0) return unsure('too few devices', 'Add devices, then run the check again.');
	const wanted = Math.min(3 * size, first.totalElements ?? first.content.length);
	const { value, refusal } = await probe.list(size, wanted);
	if (refusal?.kind === 'paging') return no('the list repeats devices', 'Get Many fails rather than lose a device.');
	if (refusal) return ifRefused(refusal, (words) => no(words, 'Get Many fails.'));
	if (value.items.length < wanted) return unsure(`${value.items.length} of ${wanted} devices`, RUN_AGAIN);
	return yes('each device once', 'Get Many reads the whole list.');
}

/** The longest page that the platform accepts, up to the nodes' default. */
export async function checkPageSize(fetchPage: FetchPage, first: Page<Device>) {
	let failed = '';
	for (const size of SIZES) {
		const { value, refusal } = await fetchPage(size);
		if (value === undefined) failed = `; ${number(size)} fails (${inWords(refusal)})`;
		else {
			const { content, totalElements = 0 } = value;
			const { size: cutTo = content.length < totalElements ? content.length : size } = value;
			const advice =
				size < 1000 ? `Set Page Size to ${size} to save requests.` : 'Keep the default Page Size of 1,000.';
			const finding =
				cutTo < size
					? yes(`${number(cutTo)}; larger pages are cut`, 'The nodes notice shorter pages. Nothing to do.')
					: yes(number(size) + failed, advice);
			return { finding, accepted: size, sample: content };
		}
	}
	return { finding: unsure(failed.slice(2), RUN_AGAIN), accepted: FIRST_SIZE, sample: first.content };
}

/** Whether the total is right: the last page has to have the rest of it. */
export async function checkTotal(fetchPage: FetchPage, first: Page<Device>, firstPageNumber: number): Promise<Finding> {
	const { totalElements: total } = first;
	if (total === undefined || total < first.content.length) {
		const found = total === undefined ? 'no total' : 'the total is wrong';
		return no(found, 'Count does not work. Get Many reads until a page is empty.');
	}
	const before = Math.ceil(total / FIRST_SIZE) - 1;
	const { value, refusal } = before === 0 ? { value: first } : await fetchPage(FIRST_SIZE, before + firstPageNumber);
	if (value === undefined) return unsure(`last page: ${inWords(refusal)}`, RUN_AGAIN);
	const isRight = value.content.length === total - FIRST_SIZE * before && (value.totalElements ?? total) === total;
	if (isRight) return yes('right', 'Count works.');
	const advice = 'Count may be wrong, unless the list changed just now. Get Many reads past the total.';
	return unsure('the total does not match the pages', advice);
}
