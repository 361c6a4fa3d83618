import { z } from 'zod/v4';
import { Refusal } from './codes.mts';
import { deviceSchema, type Device, type Fleet } from './fleet.mts';
import { type Page, pageOf } from './paging.mts';
import type { PlatformRequest, Settings } from './settings.mts';

/**
 * Filters and sorts the list of devices, sections 1.2 to 1.4 and 4.1.
 *
 * It keeps each result until the fleet changes, so that the other pages of a large fleet cost almost nothing.
 */
export class Listing {
	readonly #results = new Map<string, readonly Device[]>();
	#version = -1;
	#fleet: Fleet | undefined;

	/** Returns the page for a list request. Throws a Refusal. */
	page(fleet: Fleet, request: Pick<PlatformRequest, 'query' | 'body'>, settings: Settings): Page<Device> {
		const criteria = readCriteria(request.body);
		const { rest, sort } = selection(request.query, settings);

		if (settings.sorting === 'refused' && sort.length > 0) throw new Refusal(10005);
		const { sorting, filtering, missingValues } = settings;
		const devices = this.#result(
			fleet,
			JSON.stringify([criteria, rest, sort, sorting, filtering, missingValues]),
			() => {
				const rules = sorting === 'ignored' ? [] : sort.map(readSort).flat();
				const tests = filtering === 'ignored' ? [] : [...criteriaTests(criteria), ...queryTests(rest)];
				const found =
					tests.length === 0 ? fleet.devices : fleet.devices.filter((device) => tests.every((test) => test(device)));
				// Sorting is stable: equal devices keep the default order, so that no page repeats or skips one.
				return rules.length === 0 ? found : [...found].sort((one, other) => compare(one, other, rules, missingValues));
			},
		);

		return pageOf(devices, request.query, settings);
	}

	#result(fleet: Fleet, key: string, find: () => readonly Device[]): readonly Device[] {
		if (this.#fleet !== fleet || this.#version !== fleet.version || this.#results.size > 20) this.#results.clear();
		this.#fleet = fleet;
		this.#version = fleet.version;
		let result = this.#results.get(key);
		if (result === undefined) {
			result = find();
			this.#results.set(key, result);
		}
		return result;
	}
}

/** Reads a field of a device for sorting or filtering, by its name in a query. */
type Reader = (device: Device) => unknown;

const plainFields = deviceSchema.keyof().exclude(['attributes', 'tags', 'model', 'group']);

/**
 * Plain device fields and `attributes.<key>` as in section 1.3; `model.<field>` and `group.<field>` in addition, which
 * the document doesn't define. A key may contain dots: the whole key has priority over its parts.
 */
function readerOf(name: string): Reader | undefined {
	const plain = plainFields.safeParse(name);
	if (plain.success) return (device) => device[plain.data];
	const [, object, key] = /^(attributes|model|group)\.(.+)$/s.exec(name) ?? [];
	if (key === undefined) return undefined;
	if (object === 'attributes') return (device) => below(device.attributes, key);
	return (device) => below(object === 'model' ? device.model : device.group, key);
}

function below(value: unknown, path: string): unknown {
	if (typeof value !== 'object' || value === null) return undefined;
	if (Object.hasOwn(value, path)) return Reflect.get(value, path);
	const dot = path.indexOf('.');
	if (dot < 0 || !Object.hasOwn(value, path.slice(0, dot))) return undefined;
	return below(Reflect.get(value, path.slice(0, dot)), path.slice(dot + 1));
}

interface SortRule {
	read: Reader;
	descending: boolean;
}

/**
 * One `sort` parameter, section 1.3: names separated by commas, then a direction for all of them; without one,
 * descending. An unknown field is refused with 10005; the document doesn't define this.
 */
function readSort(value: string): SortRule[] {
	const [, names, direction] = /^(.*?)\s+(asc|desc)\s*$/s.exec(value) ?? [undefined, value, 'desc'];
	return (names ?? '').split(',').map((name) => {
		const read = readerOf(name.trim());
		if (read === undefined) throw new Refusal(10005);
		return { read, descending: direction !== 'asc' };
	});
}

function compare(one: Device, other: Device, rules: readonly SortRule[], missing: Settings['missingValues']): number {
	for (const { read, descending } of rules) {
		const order = compareValues(read(one), read(other), isMissingLess(missing, descending));
		if (order !== 0) return descending ? -order : order;
	}
	return 0;
}

function isMissingLess(missing: Settings['missingValues'], descending: boolean): boolean {
	return missing === 'smallest' || missing === (descending ? 'last' : 'first');
}

/** Missing values are less than all others, or more; booleans, numbers, texts by code unit, then the rest by its JSON text. */
function compareValues(one: unknown, other: unknown, missingIsLess: boolean): number {
	const rank = rankOf(one, missingIsLess) - rankOf(other, missingIsLess);
	if (rank !== 0) return rank;
	if (typeof one === 'boolean' && typeof other === 'boolean') return Number(one) - Number(other);
	if (typeof one === 'number' && typeof other === 'number') return one - other;
	if (one === undefined || one === null) return 0;
	const [oneText, otherText] = [textOf(one), textOf(other)];
	return oneText < otherText ? -1 : oneText > otherText ? 1 : 0;
}

function rankOf(value: unknown, missingIsLess: boolean): number {
	if (value === undefined || value === null) return missingIsLess ? 0 : 5;
	const rank = ['boolean', 'number', 'string'].indexOf(typeof value);
	return rank < 0 ? 4 : rank + 1;
}

function textOf(value: unknown): string {
	return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

type Test = (device: Device) => boolean;

const criteriaSchema = z.object({
	compositeStatus: z.int32().optional(),
	...deviceSchema.partial().shape,
	attributes: z.record(z.string(), z.json()).optional(),
	model: z.record(z.string(), z.json()).optional(),
	group: z.record(z.string(), z.json()).optional(),
});

type Criteria = z.infer<typeof criteriaSchema>;

/** Reads the body of a list request. Throws 10014 if it is not JSON, 10001 for a wrong type (section 7). */
function readCriteria(body: unknown): Criteria {
	const parsed = criteriaSchema.safeParse(body);
	if (parsed.success) return parsed.data;
	const field = parsed.error.issues[0]?.path[0];
	throw new Refusal(10001, field === undefined ? 'criteria must be an object' : String(field));
}

/**
 * Section 4.1 has one criterion, compositeStatus, and does not define it (section 3). This platform's rule:
 * it equals the device's `status`. Other criteria with the name of a device field must equal that field (of an
 * object, every given key; of tags, every given tag); unknown ones are ignored.
 */
function criteriaTests(criteria: Criteria): Test[] {
	return Object.entries(criteria).map(([name, wanted]): Test => {
		if (name === 'compositeStatus') return (device) => device.status === wanted;
		return (device) => includes(Reflect.get(device, name), wanted);
	});
}

function includes(actual: unknown, wanted: unknown): boolean {
	if (Array.isArray(wanted)) {
		return Array.isArray(actual) && wanted.every((item) => actual.some((candidate) => includes(candidate, item)));
	}
	if (typeof wanted === 'object' && wanted !== null) {
		if (typeof actual !== 'object' || actual === null) return false;
		return Object.entries(wanted).every(([key, value]) => includes(Reflect.get(actual, key), value));
	}
	return actual === wanted;
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
function queryTests(query: Record<string, string[]>): Test[] {
	return Object.entries(query).flatMap(([name, values]): Test[] => {
		if (name === 'name') {
			const parts = values.map((value) => value.toLowerCase());
			return [
				(device) =>
					parts.every((part) =>
						[device.sn, device.description, device.model.name].some((text) => text?.toLowerCase().includes(part)),
					),
			];
		}
		if (name === 'tags') {
			const tags = values.flatMap((value) => value.split(',')).map((tag) => tag.trim());
			return [(device) => tags.every((tag) => device.tags.includes(tag))];
		}
		if (name === 'attributes') {
			return values.flatMap((value) => value.split(',')).map(attributeTest);
		}
		const read = readerOf(name);
		if (read === undefined) return [];
		return [
			(device) => {
				const actual = read(device);
				return actual !== null && actual !== undefined && values.includes(textOf(actual));
			},
		];
	});
}

function attributeTest(pair: string): Test {
	const [, key, value] = /^\s*(\S+) (.*)$/s.exec(pair) ?? [];
	if (key === undefined || value === undefined) throw new Refusal(10001, 'attributes');
	return (device) => {
		const actual = below(device.attributes, key);
		return actual !== undefined && textOf(actual) === value;
	};
}

function selection(
	query: PlatformRequest['query'],
	settings: Settings,
): { rest: Record<string, string[]>; sort: string[] } {
	const rest: Record<string, string[]> = {};
	for (const [name, value] of Object.entries(query)) {
		const isKey = settings.apiKeyIn === 'query' && name === settings.apiKeyName;
		if (!isKey && name !== 'page' && name !== 'size' && name !== 'sort') rest[name] = [value].flat();
	}
	return { rest, sort: [query['sort'] ?? []].flat() };
}
