/**
 * Checks how the platform counts and cuts pages (section 1.2 of the API document). Each check sends a few requests through the
 * package's transport, and counts the devices that it gets.
 */
import type { Device } from '../../nodes/DeviceManagement/core/device.ts';
import type { Page } from '../../nodes/DeviceManagement/core/paging/page.ts';
import { number } from '../terminal.mts';
import { type FetchPage, FIRST_SIZE, inWords, type Probe } from './probe.mts';
import { type Finding, ifRefused, no, RUN_AGAIN, unsure, yes } from './report.mts';

/** Sizes to try: the nodes' default first. */
const SIZES = [1000, 500, 200, 100, 50, 20, FIRST_SIZE];

const ONE_PAGE = "Get Many fails. If 'page' is ignored, set Page Size to more than the number of devices.";

/** Reads three small pages as Get Many does. */
export async function checkSeveralPages(probe: Probe, first: Page<Device>): Promise<Finding> {
	const size = Math.floor(first.content.length / 2);
	if (size === 0) return unsure('too few devices', 'Add devices, then run the check again.');
	const wanted = Math.min(3 * size, first.totalElements ?? first.content.length);
	const { value, refusal } = await probe.list(size, wanted);
	if (refusal?.kind === 'paging') return no('the list repeats devices', ONE_PAGE);
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
export async function checkTotal(fetchPage: FetchPage, first: Page<Device>): Promise<Finding> {
	const { totalElements: total } = first;
	if (total === undefined || total < first.content.length) {
		const found = total === undefined ? 'no total' : 'the total is wrong';
		return no(found, 'Count does not work. Get Many reads until a page is empty.');
	}
	// A last page that isn't full differs from the one before it, whichever number the platform gives to the first page.
	const size = [FIRST_SIZE, 9, 7].find((each) => total % each > 0) ?? FIRST_SIZE;
	const last = Math.floor(total / size);
	let failed: string | undefined;
	for (const number of [last + 1, last]) {
		const { value, refusal } = await fetchPage(size, number);
		if (value === undefined) failed = `last page: ${inWords(refusal)}`;
		else if (value.content.length === total % size && (value.totalElements ?? total) === total) {
			return yes('right', 'Count works.');
		}
	}
	if (failed !== undefined) return unsure(failed, RUN_AGAIN);
	const advice = 'Count may be wrong, unless the list changed just now. Get Many reads past the total.';
	return unsure('the total does not match the pages', advice);
}
