import { type Device, serialNumberOf } from '../core/device';
import { inputFailure } from '../core/failure';
import type { JsonValue } from '../core/json';
import { checkerOf } from '../core/ownFilters';
import { readList } from '../core/paging/list';
import { mayRefuse } from '../core/paging/refusal';
import { DEVICE_LIST } from '../transport/devices';
import { pageSource } from '../transport/pagedList';
import type { Platform } from '../transport/platform';
import { changedEvent, createdEvent, type DeviceEvent, removedEvent } from './events';
import type { TriggerParameters } from './form';
import { type ChangeRule, isMet } from './rules';
import { isSame, keep, keepValue } from './values';
import { valueOf } from './watched';

/** Most devices of a test. */
const FEW = 3;

/**
 * Returns sample events of the newest devices that match the filters, for “Fetch Test Event”. It uses no state: previous values are
 * those of the rules under 'Only When'.
 * @throws Failure `input` if no device matches, or none has a sample
 */
export async function fetchTestEvents(platform: Platform, parameters: TriggerParameters): Promise<DeviceEvent[]> {
	const { criteria, own, settings } = parameters;
	const { fits, missingGroupAndNames } = checkerOf(own);
	const fetchFew = async (sort: string[]) => {
		const source = pageSource(platform, { ...DEVICE_LIST, ...criteria, sort }, settings);
		const keepFitting = (device: Device) => (fits(device) ? device : undefined);
		const { items } = await readList(source, { ...settings, keep: keepFitting, limit: own ? undefined : FEW });
		return items.filter((device) => device !== undefined).slice(0, FEW);
	};
	const devices = await fetchFew(['createTime desc']).catch(async (thrown: unknown) => {
		if (!mayRefuse(thrown)) throw thrown;
		return await fetchFew([]);
	});
	const samples = devices.flatMap((device) => sampleEvents(device, parameters));
	if (samples.length > 0) return samples;
	throw inputFailure(
		'No data with the current filter could be found',
		devices.length === 0
			? `${missingGroupAndNames() ?? "No device matches the 'Filters'."} Change the filters, or remove them to see any device.`
			: "The newest devices already have the value in 'From', and 'To' has no other value. Enter one in 'To' for the test.",
	);
}

function sampleEvents(device: Device, { events, fields, rules }: TriggerParameters): DeviceEvent[] {
	const shown = events.has('deviceCreated') ? [createdEvent(device)] : [];
	for (const field of fields) {
		const today = valueOf(field, device);
		const rule = rules.find((each) => each.field === field.name);
		const current = rule ? sampleFor(rule, 'to', today) : today;
		// Only 'From' tells the value before the one that the device has.
		const previous = rule && (rule.from !== '' || current !== today) ? sampleFor(rule, 'from', today) : null;
		if (rule && rule.from !== '' && isSame(keep(previous), keep(current), field.name)) continue;
		const changed = current === today ? device : { ...device, ...field.show(current, field.key, device) };
		shown.push(changedEvent(changed, { field, previous: keep(previous), current: keep(current) }, 0));
	}
	const values = Object.fromEntries(fields.map((field) => [field.name, keepValue(field, device)]));
	if (events.has('deviceRemoved')) shown.push(removedEvent(serialNumberOf(device), values, fields, 0));
	return shown;
}

/** Returns a value that the rule accepts: the device's value of `today`, or the rule's text, in the type of that value. */
function sampleFor(rule: ChangeRule, side: 'from' | 'to', today: JsonValue): JsonValue {
	if (isMet(rule, side, keep(today))) return today;
	const text = rule[side];
	try {
		const value: JsonValue = JSON.parse(text);
		return typeof value === typeof today && isMet(rule, side, keep(value)) ? value : text;
	} catch {
		return text;
	}
}
