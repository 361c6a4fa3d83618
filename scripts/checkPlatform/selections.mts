/**
 * Checks whether the platform obeys sort orders and filters (sections 1.3, 1.4 and 4.1 of the API document). It compares devices,
 * because a platform may ignore both and say nothing. It reads the first page only.
 */
import type { Device } from '../../nodes/DeviceManagement/core/device.ts';
import type { FailureDetails } from '../../nodes/DeviceManagement/core/failure.ts';
import type { JsonValue } from '../../nodes/DeviceManagement/core/json.ts';
import type { Page } from '../../nodes/DeviceManagement/core/paging/page.ts';
import { areSame } from './paging.mts';
import { type FetchPage, FIRST_SIZE, inWords, isRefusal } from './probe.mts';
import { type CheckId, type Finding, ifRefused, no, RUN_AGAIN, unsure, yes } from './report.mts';

/** Devices that are compared in each direction of a sort order; fewer if the platform refuses so many. */
export const SORTED_SIZE = 50;

/** A sort order to check, and what depends on it. */
interface Order {
	/** As the `sort` parameter names it. */
	field: string;
	obeyed: string;
	ignored: string;
}

export const BY_CREATE_TIME: Order = {
	field: 'createTime',
	obeyed: 'Device Created reads the newest devices only.',
	ignored: 'Device Created reads the whole fleet at each poll.',
};

export const BY_UPDATE_TIME: Order = {
	field: 'updateTime',
	obeyed: 'Device Updated reads the latest changes only.',
	ignored: 'Device Updated reads the whole fleet at each poll.',
};

/** The order by an attribute. */
export const byAttribute = (key: string): Order => ({
	field: `attributes.${key}`,
	obeyed: 'Get Many can sort by attributes.',
	ignored: "Don't sort by attributes in Get Many. Add n8n's Sort node after it.",
});

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
export async function checkOrder(page: FetchPage, { field, obeyed, ignored }: Order, size: number): Promise<Finding> {
	const read = (device: Device) => field.split('.').reduce((value: unknown, key) => Object(value)[key], device);
	const sorted: Device[][] = [];
	for (const direction of ['asc', 'desc']) {
		const { value, refusal } = await page(size, undefined, { sort: [`${field} ${direction}`] });
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

function findingOfRefusal(refusal: FailureDetails, advice: string): Finding {
	return ifRefused(refusal, (words) => no(`refused (${words})`, advice));
}

/** Whether the platform sorts by the ID last, as the nodes do where devices repeat. */
export async function checkTwoFields(page: FetchPage, size: number): Promise<Finding> {
	const { value, refusal } = await page(size, undefined, { sort: ['onlineStatus,id asc'] });
	const ignored = 'If devices repeat, Get Many fails. Then sort by a field with different values.';
	if (value === undefined) return findingOfRefusal(refusal, ignored);
	const statuses = value.content.map(({ onlineStatus }) => onlineStatus);
	const idsOf = (status: unknown) => value.content.filter((_, at) => statuses[at] === status).map(({ id }) => id);
	const isObeyed = isRising(statuses) && statuses.every((status) => isRising(idsOf(status)));
	return isObeyed ? yes('obeyed', 'If devices repeat, the nodes sort by ID last.') : no('ignored', ignored);
}

/** Whether equal values have an order without the ID. */
export async function checkEqualValues(page: FetchPage, size: number): Promise<Finding> {
	const read = async (length: number) => {
		return (await page(length, undefined, { sort: ['onlineStatus asc'] })).value?.content ?? [];
	};
	const [long, short] = [await read(size), await read(Math.min(FIRST_SIZE, size / 2))];
	if (long.length === 0 || short.length === 0) return unsure('not read', 'See the rows above.');
	if (areSame(long.slice(0, short.length), short)) return yes('keep their order', 'Get Many reads such a list once.');
	return areSame(await read(size), long)
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

/** A filter to check, with values that fit the devices. */
interface Filter {
	/** The row of the table: 'filter' and the filter's name in the form. */
	id: CheckId;
	/** Where the nodes send it. */
	place: 'body' | 'query';
	/** Of devices that don't exist: an obeyed filter returns none. */
	none: string | number;
	/** Of some devices, in case the platform refuses or ignores the first value. */
	some?: JsonValue;
	ignored?: string;
}

/** The filters of the API document. */
export function filtersFor(devices: readonly Device[], attribute = 'site'): Filter[] {
	const [known] = devices.map(({ status }) => status).filter((status) => Number.isInteger(status));
	return [
		{ id: 'filterCompositeStatus', place: 'body', none: NO_STATUS, some: known },
		{
			id: 'filterName',
			place: 'query',
			none: NO_VALUE,
			ignored: 'The search in the device list shows all devices. Enter the serial number instead.',
		},
		{ id: 'filterTags', place: 'query', none: NO_VALUE },
		// A key and its value are separated by a space.
		{ id: 'filterAttributes', place: 'query', none: `${attribute} ${NO_VALUE}` },
	];
}

/** Whether the platform obeys a filter. */
export async function checkFilter(
	page: FetchPage,
	{ id, place, none, some, ignored = "Don't use this filter. Add n8n's Filter node after Get Many." }: Filter,
	first: Page<Device>,
): Promise<Finding> {
	const name = id.charAt('filter'.length).toLowerCase() + id.slice('filter'.length + 1);
	const listWith = async (value: JsonValue) => {
		const inQuery = { query: { [name]: String(value) } };
		return await page(FIRST_SIZE, undefined, place === 'query' ? inQuery : { body: JSON.stringify({ [name]: value }) });
	};
	const isUnfiltered = ({ totalElements: total, content }: Page<Device>) =>
		(total !== undefined && total === first.totalElements) || areSame(content, first.content);
	const obeyed = yes('obeyed', 'You can use it in Get Many.');
	const { value, refusal } = await listWith(none);
	if (value?.content.length === 0) return obeyed;
	if (refusal !== undefined && !isRefusal(refusal)) return unsure(inWords(refusal), RUN_AGAIN);
	const { value: found } = some === undefined ? {} : await listWith(some);
	if (found !== undefined && !isUnfiltered(found)) return obeyed;
	if (refusal !== undefined) {
		return unsure(`refused (${inWords(refusal)})`, 'Try the filter in Get Many with a value of your platform.');
	}
	if (isUnfiltered(value)) return no('ignored', ignored);
	return unsure('other devices', 'Compare the result with your platform before you use it.');
}
