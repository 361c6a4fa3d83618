import { createHash } from 'node:crypto';
import { z } from 'zod/v4';
import { Refusal } from './codes.mts';
import { deviceSchema, type Device, type Fleet } from './fleet.mts';
import { type Page, pageOf, type Query } from './paging.mts';
import type { Settings } from './settings.mts';

/** The lists of a fleet by their requests, until it changes: the other pages of a large fleet cost almost nothing. */
const results = new WeakMap<readonly Device[], Map<string, { list: Device[]; order: Order }>>();

/** Filters and sorts the list of devices, sections 1.2 to 1.4 and 4.1. Returns the page for a request. Throws a Refusal. */
export function listDevices(
	{ devices }: Fleet,
	{ query, body }: { query: Query; body: unknown },
	settings: Settings,
): Page<Device> {
	const criteria = criteriaTests(body);
	const { equalValues, missingValues, apiKeyIn, apiKeyName } = settings;
	const { page: _page, size: _size, sort: sorts = [], ...filters } = query;
	// A key in the query is no filter.
	if (apiKeyIn === 'query') delete filters[apiKeyName];
	const fields = sortFields([sorts].flat(), settings);

	let kept = results.get(devices);
	if (kept === undefined || kept.size > 20) results.set(devices, (kept = new Map()));
	const key = JSON.stringify([body, filters, fields, missingValues]);
	let result = kept.get(key);
	if (result === undefined) {
		const orders = fields.map((field) => orderBy(field, settings));
		const tests = [...criteria, ...queryTests(filters)];
		const found = devices.filter((device) => tests.every((test) => test(device)));
		// Sorting is stable: devices with equal values keep the fleet's order.
		const order: Order = (one, other) => orders.reduce((sum, next) => sum || next(one, other), 0);
		result = { list: found.toSorted(order), order };
		kept.set(key, result);
	}
	const { list, order } = result;
	const page = pageOf(list, query, settings);
	// Without a sort order, the devices have the fleet's order, in which none are equal.
	if (equalValues === 'steady' || fields.length === 0) return page;
	return pageOf(shuffleEqual(list, order, page), query, settings);
}

/** Negative if the one comes first, positive if the other does, 0 for equal values. */
type Order = (one: Device, other: Device) => number;

/**
 * Returns a list in this order as a database returns it: devices with equal values have another order for each page number and
 * size, so that pages repeat some of them and skip others. The same page always has the same devices.
 */
function shuffleEqual(list: readonly Device[], order: Order, { metadata: { number, size } }: Page<Device>): Device[] {
	const rank = ({ sn }: Device) => createHash('md5').update(`${number}/${size}/${sn}`).digest('hex');
	const ranked = list.map((device) => ({ device, rank: rank(device) }));
	ranked.sort((one, other) => order(one.device, other.device) || (one.rank < other.rank ? -1 : 1));
	return ranked.map(({ device }) => device);
}

/** Reads a field of a device for sorting or filtering. */
type Reader = (device: Device) => unknown;

const plainSchema = deviceSchema.omit({ attributes: true, tags: true, model: true, group: true });
const plainFields = plainSchema.keyof();

/**
 * Returns the reader for a name in a query: a plain device field, or `attributes.<key>` as in section 1.3; `model.<field>` and
 * `group.<field>` in addition, which the document doesn't define.
 */
function readerOf(name: string): Reader | undefined {
	const plain = plainFields.safeParse(name);
	if (plain.success) return (device) => device[plain.data];
	const [, object, key] = /^(attributes|model|group)\.(.+)$/s.exec(name) ?? [];
	if (key === undefined) return undefined;
	if (object === 'attributes') return (device) => ownValue(device.attributes, key);
	return ({ model, group }) => ownValue(object === 'model' ? model : group, key);
}

function ownValue(object: object, key: string): unknown {
	return Object.hasOwn(object, key) ? Reflect.get(object, key) : undefined;
}

/** A field to sort by. */
type SortField = ReturnType<typeof readSort>[number];

/** Returns what the platform obeys of the `sort` parameters, or its own order. Throws 10005 for what it refuses. */
function sortFields(sorts: readonly string[], settings: Settings): SortField[] {
	const { sorting, severalFields, idSort, ownSort = [] } = settings;
	const given = sorts.flatMap(readSort);
	const isRefused =
		(sorting === 'refused' && given.length > 0) ||
		(severalFields === 'refused' && given.length > 1) ||
		(idSort === 'refused' && given.some(({ name }) => name === 'id'));
	if (isRefused) throw new Refusal(10005);
	const obeyed = given
		.slice(0, sorting === 'ignored' ? 0 : severalFields === 'first field' ? 1 : Infinity)
		.filter(({ name }) => name !== 'id' || idSort !== 'ignored');
	return obeyed.length > 0 ? obeyed : [ownSort].flat().flatMap(readSort);
}

/** A `sort` parameter, section 1.3: names separated by commas, then a direction for all of them; without one, descending. */
function readSort(value: string) {
	const [, names = value, direction] = /^(.*?)\s+(asc|desc)\s*$/s.exec(value) ?? [];
	return names.split(',').map((name) => ({ name: name.trim(), ascending: direction === 'asc' }));
}

/** Returns how a field orders two devices. An unknown field is refused with 10005; the document doesn't define this. */
function orderBy({ name, ascending }: SortField, { missingValues }: Settings): Order {
	const sign = ascending ? 1 : -1;
	const read = readerOf(name);
	if (read === undefined) throw new Refusal(10005);
	return (one, other) => sign * compareValues(read(one), read(other), missingValues === 'smallest');
}

/** Missing values are less than all others, or more; then come numbers, then texts by code unit, and the rest by its JSON text. */
function compareValues(one: unknown, other: unknown, missingIsLess: boolean): number {
	const rankOf = (value: unknown) => {
		if (value === undefined || value === null) return missingIsLess ? 0 : 3;
		return typeof value === 'number' ? 1 : 2;
	};
	const rank = rankOf(one) - rankOf(other);
	if (rank !== 0 || one === undefined || one === null) return rank;
	if (typeof one === 'number' && typeof other === 'number') return one - other;
	const [oneText, otherText] = [textOf(one), textOf(other)];
	return oneText < otherText ? -1 : oneText > otherText ? 1 : 0;
}

function textOf(value: unknown): string {
	return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

type Test = (device: Device) => boolean;

const criteriaSchema = z.object({ compositeStatus: z.int32(), ...plainSchema.shape }).partial();

/**
 * Section 4.1 has one criterion, compositeStatus, and does not define it (section 3). This platform's rule: it equals the
 * device's `status`. Other criteria with the name of a plain device field must equal that field; unknown ones are ignored.
 * Throws 10001 for a wrong type (section 7).
 */
function criteriaTests(body: unknown): Test[] {
	const { data, error } = criteriaSchema.safeParse(body);
	if (error) throw new Refusal(10001, String(error.issues[0]?.path[0] ?? 'criteria must be an object'));
	return Object.entries(data).map(([name, wanted]): Test => {
		const field = name === 'compositeStatus' ? 'status' : plainFields.parse(name);
		return (device) => device[field] === wanted;
	});
}

/**
 * The filters of section 1.4. The document does not say which fields `name` searches or how several values combine.
 * This platform's rules:
 * - `name`: a part of the serial number, the description or the model's name, in any case of letters
 * - `tags`: the device has every given tag (repeated, or separated by commas)
 * - `attributes`: every given `<key> <value>` pair, the value compared as text
 * - any other field name as in `sort`: equal as text to one of the given values; a null field equals nothing
 * - an unknown name is ignored
 */
function queryTests(query: Query): Test[] {
	return Object.entries(query).flatMap(([name, given]): Test[] => {
		const values = [given ?? []].flat();
		const parts = values.flatMap((value) => value.split(','));
		if (name === 'name') return values.map((value) => nameTest(value.toLowerCase()));
		if (name === 'tags') return parts.map((tag) => (device) => device.tags.includes(tag.trim()));
		if (name === 'attributes') return parts.map(attributeTest);
		const read = readerOf(name);
		return read === undefined ? [] : [(device) => equalsOne(read(device), values)];
	});
}

function nameTest(part: string): Test {
	return ({ sn, description, model }) =>
		[sn, description, model.name].some((text) => text?.toLowerCase().includes(part));
}

function attributeTest(pair: string): Test {
	const [, key, value] = /^\s*(\S+) (.*)$/s.exec(pair) ?? [];
	if (key === undefined || value === undefined) throw new Refusal(10001, 'attributes');
	return ({ attributes }) => equalsOne(ownValue(attributes, key), [value]);
}

function equalsOne(actual: unknown, values: readonly string[]): boolean {
	return actual !== null && actual !== undefined && values.includes(textOf(actual));
}
