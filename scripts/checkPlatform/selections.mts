/**
 * Checks whether the platform obeys sort orders and filters (sections 1.3, 1.4 and 4.1 of the API document). It compares devices,
 * because a platform may ignore both and say nothing. It reads the first page only.
 */
import { type FetchPage, FIRST_SIZE, inWords, isRefusal } from './probe.mts';
import { type Finding, ifRefused, no, RUN_AGAIN, unsure, yes } from './report.mts';

/** Devices that are compared in each direction; fewer if the platform refuses so many. */
const SORTED_SIZE = 50;

const WHOLE_LIST = 'Device Created and Device Updated read all devices at each poll. Sort in n8n.';

/** Whether the platform sorts by its times, as the trigger asks for: its first devices in both directions have to be in order, and differ. */
export async function checkOrder(page: FetchPage, accepted: number): Promise<Finding> {
	for (const field of ['createTime', 'updateTime'] as const) {
		const sorted: string[][] = [];
		for (const direction of ['asc', 'desc']) {
			const size = Math.min(SORTED_SIZE, accepted);
			const { value, refusal } = await page(size, undefined, { sort: [`${field} ${direction}`] });
			if (value === undefined) return ifRefused(refusal, (words) => no(`refused (${words})`, WHOLE_LIST));
			// Devices without a time may be anywhere.
			sorted.push(value.content.flatMap(({ [field]: time }) => time ?? []).map(String));
		}
		const [up = [], down = []] = sorted;
		if (!isRising(up) || !isRising(down.toReversed())) return no(`ignored: ${field}`, WHOLE_LIST);
		// An ignored direction changes nothing, and neither does one where all values are equal.
		if (up.join() === down.join())
			return unsure(`too few different values: ${field}`, `If it is ignored: ${WHOLE_LIST}`);
	}
	return yes('obeyed', 'Device Created and Device Updated read the newest devices only.');
}

const isRising = (times: readonly string[]) => times.every((time, at) => (times[at - 1] ?? '') <= time);

const NO_DEVICE = 'no-device-has-this-7f3a9c';

/** The filters of the API document that the platform gets, with values that no device has. A space separates a key from its value. */
export const FILTERS = {
	attributes: `site ${NO_DEVICE}`,
	compositeStatus: 987_654_321,
	name: NO_DEVICE,
	tags: NO_DEVICE,
};

/** Whether the platform obeys the filters: each has to leave no device. */
export async function checkFilters(page: FetchPage): Promise<Finding> {
	const [ignored, refused]: [string[], string[]] = [[], []];
	for (const [name, value] of Object.entries(FILTERS)) {
		// Only a number is a part of the body.
		const selection =
			typeof value === 'number' ? { body: JSON.stringify({ [name]: value }) } : { query: { [name]: value } };
		const { value: found, refusal } = await page(FIRST_SIZE, undefined, selection);
		if (refusal !== undefined && !isRefusal(refusal)) return unsure(`${name}: ${inWords(refusal)}`, RUN_AGAIN);
		if (refusal !== undefined) refused.push(name);
		else if (found.content.length > 0) ignored.push(name);
	}
	if (ignored.length > 0) {
		return no(`ignored: ${ignored.join(', ')}`, "Don't use these filters. Add n8n's Filter node after Get Many.");
	}
	if (refused.length > 0) {
		return unsure(`refused: ${refused.join(', ')}`, 'Try them in Get Many with values of your platform.');
	}
	return yes('obeyed', 'You can use them in Get Many.');
}
