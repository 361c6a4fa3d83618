import { type Device, serialNumberOf } from '../../core/device';
import { inputFailure } from '../../core/failure';
import { type JsonValue, parseJson } from '../../core/json';
import { checkerOf } from '../../core/ownFilters';
import { readList } from '../../core/paging/list';
import { mayRefuseSizeOrSort } from '../../core/paging/refusal';
import { DEVICE_LIST } from '../../transport/devices';
import { pageSource } from '../../transport/pagedList';
import type { Platform } from '../../transport/platform';
import { changedEvent, createdEvent, type DeviceEvent, removedEvent } from '../changes/events';
import { isFiltered, type TriggerParameters } from '../form/form';
import { findMistake } from '../changes/mistakes';
import { type ChangeRule, isMet, rulesFor } from '../changes/rules';
import { keep, keepValue } from '../changes/values';
import { valueOf, type WatchedField } from '../changes/watched';

/** Most devices of a test, and most that are listed to find a value that a condition asks for. */
const FEW = 3;
const MANY = 1000;

/**
 * Returns sample events of the newest devices that match the filters, for “Fetch Test Event”. Devices that meet the conditions come
 * first; their previous values are those in 'From'. It uses no state.
 * @throws Failure `input` if no device matches the filters, or a condition can hardly come true
 */
export async function fetchTestEvents(platform: Platform, parameters: TriggerParameters): Promise<DeviceEvent[]> {
	const { criteria, own, settings, rules, fields } = parameters;
	const { fits, missingGroupAndNames } = checkerOf(own);
	const most = rules.length > 0 ? MANY : FEW;
	const fetchNewest = async (sort: string[]) => {
		const source = pageSource(platform, { ...DEVICE_LIST, ...criteria, sort }, settings);
		const keepFitting = (device: Device) => (fits(device) ? device : undefined);
		const { items } = await readList(source, { ...settings, keep: keepFitting, limit: own ? undefined : most });
		return items.filter((device) => device !== undefined).slice(0, most);
	};
	const devices = await fetchNewest(['createTime desc']).catch(async (thrown: unknown) => {
		if (!mayRefuseSizeOrSort(thrown)) throw thrown;
		return await fetchNewest([]);
	});
	if (devices.length === 0) {
		const whoSees = 'Add a device, or check which devices this user can see.';
		if (!isFiltered(parameters)) throw inputFailure('The platform has no devices', whoSees);
		const missing = missingGroupAndNames() ?? "No device matches the 'Filters'.";
		const remedy = `${missing} Change the filters, or remove them to see any device.`;
		throw inputFailure('No data with the current filter could be found', remedy);
	}
	for (const field of fields) {
		const values = devices.map((device) => keepValue(field, device));
		const mistake = findMistake(rules, field, values);
		if (mistake === undefined) continue;
		const count = devices.length.toLocaleString('en-US');
		throw inputFailure(mistake.message, `The ${count} newest devices have ${mistake.found}. ${mistake.remedy}`);
	}
	return sampleEvents(devices, parameters);
}

function sampleEvents(devices: readonly Device[], { events, fields, rules }: TriggerParameters): DeviceEvent[] {
	const few = devices.slice(0, FEW);
	const changed = fields.flatMap((field) => {
		const samples = devices.flatMap((device) => sampleChange(field, rules, device)).slice(0, FEW);
		// A healthy fleet still shows the form of an event.
		return samples.length > 0 ? samples : few.flatMap((device) => sampleChange(field, [], device));
	});
	const removed = few.map((device) => {
		const values = Object.fromEntries(fields.map((field) => [field.name, keepValue(field, device)]));
		return removedEvent(serialNumberOf(device), values, fields, 0);
	});
	const samples = [
		...(events.has('deviceCreated') ? few.map(createdEvent) : []),
		...changed,
		...(events.has('deviceRemoved') ? removed : []),
	];
	// A workflow may change an item. That must not change another item of this device.
	return samples.map((sample) => ({ ...sample, device: structuredClone(sample.device) }));
}

function sampleChange(field: WatchedField, rules: readonly ChangeRule[], device: Device): DeviceEvent[] {
	const current = keepValue(field, device);
	const own = rulesFor(rules, field.name);
	const met = own.find((rule) => isMet(rule, 'to', current) && (rule.from === '' || !isMet(rule, 'from', current)));
	if (own.length > 0 && met === undefined) return [];
	const previous = met && met.from !== '' ? valueLike(met.from, valueOf(field, device)) : null;
	return [changedEvent(device, { field, previous: keep(previous), current }, 0)];
}

/** Returns a text as a number or a boolean, if the example is one. */
function valueLike(text: string, example: JsonValue): JsonValue {
	const value = parseJson(text)?.value;
	const isLike = typeof value === typeof example && (typeof value === 'number' || typeof value === 'boolean');
	return isLike ? value : text;
}
