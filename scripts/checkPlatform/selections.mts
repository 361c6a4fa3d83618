/**
 * Checks whether the platform obeys sort orders and filters (sections 1.3, 1.4 and 4.1 of the API document). It compares devices,
 * because a platform may ignore both and say nothing. It reads the first page only.
 */
import type { Device } from '../../nodes/DeviceManagement/core/device.ts';
import type { Page } from '../../nodes/DeviceManagement/core/paging/page.ts';
import { areSame, FIRST_SIZE } from './paging.mts';
import { type FetchPage, inWords, isRefusal, type Refusal, type Selection } from './probe.mts';
import { type CheckId, type Finding, no, RUN_AGAIN, unsure, yes } from './report.mts';

/** Devices that are compared in each direction of a sort order; fewer if the platform refuses so many. */
const SORTED_SIZE = 50;

/** A sort order to check, and what depends on it. */
interface Order {
	/** As the `sort` parameter names it. */
	field: string;
	read(device: Device): unknown;
	obeyed: string;
	ignored: string;
}

export const BY_CREATE_TIME: Order = {
	field: 'createTime',
	read: ({ createTime }) => createTime,
	obeyed: 'Device Created reads the newest devices only.',
	ignored: 'Device Created reads the whole fleet at each poll.',
};

export const BY_UPDATE_TIME: Order = {
	field: 'updateTime',
	read: ({ updateTime }) => updateTime,
	obeyed: 'Device Updated reads the latest changes only.',
	ignored: 'Device Updated reads the whole fleet at each poll.',
};

/** The order by an attribute. */
export function byAttribute(key: string): Order {
	return {
		field: `attributes.${key}`,
		read: ({ attributes }) => Object(attributes)[key],
		obeyed: 'Get Many can sort by attributes.',
		ignored: "Don't sort by attributes in Get Many. Add n8n's Sort node after it.",
	};
}

/** The attribute with the most different values that can be sorted; undefined where the devices have none. */
export function attributeToTry(devices: readonly Device[]): string | undefined {
	const values = new Map<string, Set<unknown>>();
	for (const [key, value] of devices.flatMap(({ attributes }) => Object.entries(Object(attributes)))) {
		// A comma or a space in a key is a separator in a sort or a filter.
		if (!/^[\p{L}\p{N}_-]{1,64}$/u.test(key) || !isSortable(value)) continue;
		values.set(key, (values.get(key) ?? new Set()).add(value));
	}
	const [best] = [...values].sort(([, one], [, other]) => other.size - one.size);
	return best?.[0];
}

/** Whether the platform sorts by a field: its first devices in both directions have to be in order, and differ. */
export async function checkOrder(page: FetchPage, order: Order, largestSize: number): Promise<Finding> {
	const { field, read, obeyed, ignored } = order;
	const size = Math.min(SORTED_SIZE, largestSize);
	const sorted: Device[][] = [];
	for (const direction of ['asc', 'desc']) {
		const { value, refusal } = await page(size, undefined, { sort: `${field} ${direction}` });
		if (value === undefined) return findingOfRefusal(refusal, ignored);
		sorted.push([...value.content]);
	}
	const [up = [], down = []] = sorted;
	if (!isRising(up.map(read)) || !isRising(down.map(read).reverse())) return no('ignored', ignored);
	// An ignored direction changes nothing, and neither does one where all values are equal.
	if (areSame(up, down) || ![...up, ...down].map(read).some(isSortable)) {
		return unsure('too few different values', `If it is ignored: ${ignored}`);
	}
	return yes('obeyed', obeyed);
}

function findingOfRefusal(refusal: Refusal, advice: string): Finding {
	const words = inWords(refusal);
	return isRefusal(refusal) ? no(`refused (${words})`, advice) : unsure(words, RUN_AGAIN);
}

/** Whether the platform sorts by the ID last, as the nodes do where devices repeat. */
export async function checkTwoFields(page: FetchPage, largestSize: number): Promise<Finding> {
	const size = Math.min(SORTED_SIZE, largestSize);
	const { value, refusal } = await page(size, undefined, { sort: 'onlineStatus,id asc' });
	const ignored = 'If devices repeat, Get Many fails. Then sort by a field with different values.';
	if (value === undefined) return findingOfRefusal(refusal, ignored);
	const statuses = value.content.map(({ onlineStatus }) => onlineStatus);
	const idsOf = (status: unknown) => value.content.filter((_, at) => statuses[at] === status).map(({ id }) => id);
	const isObeyed = isRising(statuses) && statuses.every((status) => isRising(idsOf(status)));
	return isObeyed ? yes('obeyed', 'If devices repeat, the nodes sort by ID last.') : no('ignored', ignored);
}

/** Whether equal values have an order without the ID. */
export async function checkEqualValues(page: FetchPage, largestSize: number): Promise<Finding> {
	const read = async (size: number) => await page(size, undefined, { sort: 'onlineStatus asc' });
	const size = Math.min(SORTED_SIZE, largestSize);
	const [long, short] = [await read(size), await read(Math.min(FIRST_SIZE, largestSize / 2))];
	const { content } = short.value ?? { content: [] };
	if (long.value === undefined || content.length === 0) return unsure('not read', 'See the rows above.');
	if (areSame(long.value.content.slice(0, content.length), content))
		return yes('keep their order', 'Get Many reads such a list once.');
	const again = await read(size);
	return areSame(again.value?.content ?? [], long.value.content)
		? no('change their order', "Get Many may read such a list twice. With 'Skip', sort by ID last.")
		: unsure('the list changed', RUN_AGAIN);
}

/** Platforms compare texts in different ways: each of them is accepted. Devices without a value may be anywhere. */
function isRising(values: readonly unknown[]): boolean {
	const present = values.filter(isSortable);
	return WAYS_TO_COMPARE.some((compare) =>
		present.every((value, at) => at === 0 || compare(present[at - 1] ?? '', value) <= 0),
	);
}

const WAYS_TO_COMPARE: ReadonlyArray<(one: string | number, other: string | number) => number> = [
	// Long IDs may be equal as numbers.
	(one, other) => Number(one) - Number(other) || String(one).localeCompare(String(other), 'en', { numeric: true }),
	(one, other) => (String(one) < String(other) ? -1 : Number(String(one) > String(other))),
	(one, other) => String(one).localeCompare(String(other)),
	(one, other) => Buffer.compare(Buffer.from(String(one)), Buffer.from(String(other))),
];

function isSortable(value: unknown): value is string | number {
	return typeof value === 'number' || (typeof value === 'string' && value !== '');
}

/** Values that no device has. */
const NO_VALUE = 'no-device-has-this-7f3a9c';
const NO_STATUS = 987_654_321;

/** A filter to check. */
interface Filter {
	/** The row of the table: 'filter' and the filter's name in the form. */
	id: CheckId;
	/** Asks for devices that don't exist: an obeyed filter returns none. */
	forNone: Selection;
	/** Asks for some of the devices, in case the platform refuses or ignores the first value. */
	forSome?: Selection | undefined;
	ignored?: string;
	/** The same filter in the request body, if it is ignored or refused as a query parameter. */
	inBody?: Pick<Filter, 'id' | 'forNone' | 'forSome'>;
}

/** The filters of the API document, with values that fit the devices. */
export function filtersFor(devices: readonly Device[], attribute = 'site'): Filter[] {
	const byStatus = (compositeStatus: unknown) => ({ body: JSON.stringify({ compositeStatus }) });
	const [known] = devices.map(({ status }) => status).filter((status) => Number.isInteger(status));
	const [online = NO_STATUS] = devices.map(({ onlineStatus }) => Number(onlineStatus)).filter(Number.isInteger);
	const byOnline = (status: number) => ({ query: { onlineStatus: String(status) } });
	const byOnlineInBody = (onlineStatus: number) => ({ body: JSON.stringify({ onlineStatus }) });
	const id = 'filterOnlineStatus';
	return [
		{
			id: 'filterCompositeStatus',
			forNone: byStatus(NO_STATUS),
			forSome: known === undefined ? undefined : byStatus(known),
		},
		{
			id: 'filterName',
			forNone: { query: { name: NO_VALUE } },
			ignored: 'The search in the device list shows all devices. Enter the serial number instead.',
		},
		{
			id,
			forNone: byOnline(NO_STATUS),
			forSome: byOnline(online),
			ignored: "With 'Return All', Get Many leaves out the devices that don't fit.",
			inBody: { id, forNone: byOnlineInBody(NO_STATUS), forSome: byOnlineInBody(online) },
		},
		{ id: 'filterTags', forNone: { query: { tags: NO_VALUE } } },
		// A key and its value are separated by a space.
		{ id: 'filterAttributes', forNone: { query: { attributes: `${attribute} ${NO_VALUE}` } } },
	];
}

/** Whether the platform obeys a filter. */
export async function checkFilter(page: FetchPage, filter: Filter, first: Page<Device>): Promise<Finding> {
	const finding = await checkOnce(page, filter, first);
	if (finding.result === 'yes' || filter.inBody === undefined) return finding;
	const { result } = await checkOnce(page, filter.inBody, first);
	return result === 'yes' ? no('only in the body', "Use it under 'Search Criteria (JSON)'.") : finding;
}

async function checkOnce(
	page: FetchPage,
	{ forNone, forSome, ignored = "Don't use this filter. Add n8n's Filter node after Get Many." }: Filter,
	first: Page<Device>,
): Promise<Finding> {
	const isUnfiltered = ({ totalElements: total, content }: Page<Device>) =>
		(total !== undefined && total === first.totalElements) || areSame(content, first.content);
	const obeyed = yes('obeyed', 'You can use it in Get Many.');
	const { value, refusal } = await page(FIRST_SIZE, undefined, forNone);
	if (value?.content.length === 0) return obeyed;
	if (refusal !== undefined && !isRefusal(refusal)) return unsure(inWords(refusal), RUN_AGAIN);
	const some = forSome && (await page(FIRST_SIZE, undefined, forSome));
	if (some?.value !== undefined && !isUnfiltered(some.value)) return obeyed;
	if (refusal !== undefined) {
		return unsure(`refused (${inWords(refusal)})`, 'Try the filter in Get Many with a value of your platform.');
	}
	if (isUnfiltered(value)) return no('ignored', ignored);
	return unsure('other devices', 'Compare the result with your platform before you use it.');
}
