/**
 * Checks whether the platform sorts a list (section 1.3 of the API document). It reads the first devices in both directions
 * and looks at their values, because a platform may ignore `sort` and say nothing. It does not read the whole list.
 */
import type { Device } from '../../nodes/DeviceManagement/core/device.ts';
import { areSame, idsOf } from './paging.mts';
import { inWords, isRefusal, type Outcome, type Probe } from './probe.mts';
import { type Finding, no, unsure, yes } from './rows.mts';

/** Devices that are compared in each direction. */
const SIZE = 50;

/** A sort order to check, and what depends on it. */
interface Order {
	/** As the `sort` parameter names it (section 1.3 of the API document). */
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
		read: ({ attributes }) => attributeOf(attributes, key),
		obeyed: 'Get Many can sort by attributes.',
		ignored: "Don't sort by attributes in Get Many. Add n8n's Sort node after it.",
	};
}

/** The attribute with the most different values that can be sorted; undefined where the devices have none. */
export function attributeToTry(devices: readonly Device[]): string | undefined {
	const values = new Map<string, Set<unknown>>();
	for (const { attributes } of devices) {
		for (const [key, value] of Object.entries(Object(attributes))) {
			// A comma or a space in a key is a separator in a sort or a filter.
			if (!/^[\p{L}\p{N}_-]{1,64}$/u.test(key) || !isSortable(value)) continue;
			values.set(key, (values.get(key) ?? new Set()).add(value));
		}
	}
	const [best] = [...values].sort(([, one], [, other]) => other.size - one.size);
	return best?.[0];
}

/** Whether the platform sorts by a field: its first devices in both directions have to be in order, and differ. */
export async function checkOrder(probe: Pick<Probe, 'page'>, order: Order): Promise<Finding> {
	const up = await fetchSorted(probe, order, 'asc');
	if (up.value === undefined) return findingOfRefusal(up, order);
	const down = await fetchSorted(probe, order, 'desc');
	if (down.value === undefined) return findingOfRefusal(down, order);
	const [rising, falling] = [up.value.map(order.read), down.value.map(order.read)];
	if (!isRising(rising) || !isRising([...falling].reverse())) return no('ignored', order.ignored);
	// An ignored direction changes nothing, and neither does one where all values are equal.
	if (areSame(idsOf(up.value), idsOf(down.value)) || ![...rising, ...falling].some(isSortable)) {
		return unsure('too few different values', `If it is ignored: ${order.ignored}`);
	}
	return yes('obeyed', order.obeyed);
}

async function fetchSorted(
	probe: Pick<Probe, 'page'>,
	{ field }: Order,
	direction: 'asc' | 'desc',
): Promise<Outcome<readonly Device[]>> {
	const { value, refusal } = await probe.page(SIZE, undefined, { sort: `${field} ${direction}` });
	return value === undefined ? { refusal } : { value: value.content };
}

function findingOfRefusal({ refusal }: Extract<Outcome<unknown>, { refusal: object }>, order: Order): Finding {
	const words = inWords(refusal);
	return isRefusal(refusal) ? no(`refused (${words})`, order.ignored) : unsure(words, 'Run the check again.');
}

/** Platforms compare texts in different ways: each of them is accepted. Devices without a value may be anywhere. */
function isRising(values: readonly unknown[]): boolean {
	const present = values.filter(isSortable);
	return WAYS_TO_COMPARE.some((compare) =>
		present.every((value, at) => at === 0 || compare(present[at - 1] ?? '', value) <= 0),
	);
}

const WAYS_TO_COMPARE: ReadonlyArray<(one: string | number, other: string | number) => number> = [
	(one, other) => Number(one) - Number(other),
	(one, other) => (String(one) < String(other) ? -1 : Number(String(one) > String(other))),
	(one, other) => String(one).localeCompare(String(other)),
	(one, other) => Buffer.compare(Buffer.from(String(one)), Buffer.from(String(other))),
];

function isSortable(value: unknown): value is string | number {
	return typeof value === 'number' || (typeof value === 'string' && value !== '');
}

function attributeOf(attributes: unknown, key: string): unknown {
	return typeof attributes === 'object' && attributes !== null ? Reflect.get(attributes, key) : undefined;
}
