import { z } from 'zod/v4';
import { Refusal } from './codes.mts';
import { deviceSchema, type Device, type Fleet } from './fleet.mts';
import { type Page, pageOf, type Query } from './paging.mts';
import type { Settings } from './settings.mts';

/**
 * Filters and sorts the list of devices, sections 1.2 to 1.4 and 4.1.
 *
 * It keeps each result until the fleet changes, so that the other pages of a large fleet cost almost nothing.
 */
export class Listing {
	readonly #results = new Map<string, readonly Device[]>();
	#devices: readonly Device[] = [];

	/** Returns the page for a list request. Throws a Refusal. */
	page({ devices }: Fleet, request: { query: Query; body: unknown }, settings: Settings): Page<Device> {
		const criteria = criteriaTests(request.body);
		const { sorting, filtering, missingValues, apiKeyIn, apiKeyName } = settings;
		const { page: _page, size: _size, sort: sorts = [], ...filters } = request.query;
		// A key in the query is no filter.
		if (apiKeyIn === 'query') delete filters[apiKeyName];
		const sort = [sorts].flat();
		if (sorting === 'refused' && sort.length > 0) throw new Refusal(10005);

		if (this.#devices !== devices || this.#results.size > 20) this.#results.clear();
		this.#devices = devices;
		const key = JSON.stringify([request.body, filters, sort, sorting, filtering, missingValues]);
		let result = this.#results.get(key);
		if (result === undefined) {
			const orders = sorting === 'ignored' ? [] : sort.flatMap((value) => readSort(value, missingValues));
			const tests = filtering === 'ignored' ? [] : [...criteria, ...queryTests(filters)];
			result = devices.filter((device) => tests.every((test) => test(device)));
			// Sorting is stable: equal devices keep the default order, so that no page repeats or skips one.
			const order: Order = (one, other) => orders.reduce((sum, next) => sum || next(one, other), 0);
			if (orders.length > 0) result = result.toSorted(order);
			this.#results.set(key, result);
		}
		return pageOf(result, request.query, settings);
	}
}

/** Reads a field of a device for sorting or filtering. */
type Reader = (device: Device) => unknown;

type Order = (one: Device, other: Device) => number;

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

/**
 * Returns how a `sort` parameter orders two devices, section 1.3: names separated by commas, then a direction for all of
 * them; without one, descending. An unknown field is refused with 10005; the document doesn't define this.
 */
function readSort(value: string, missing: Settings['missingValues']): Order[] {
	const [, names = value, direction] = /^(.*?)\s+(asc|desc)\s*$/s.exec(value) ?? [];
	const sign = direction === 'asc' ? 1 : -1;
	const missingIsLess = missing === 'smallest' || missing === (sign === 1 ? 'first' : 'last');
	return names.split(',').map((name) => {
		const read = readerOf(name.trim());
		if (read === undefined) throw new Refusal(10005);
		return (one, other) => sign * compareValues(read(one), read(other), missingIsLess);
	});
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
