import { type Device, identifyDevice, serialNumberOf } from '../core/device';
import { inputFailure } from '../core/failure';
import { mayRefuseOrder } from '../core/paging/refusal';
import { fetchPage } from '../transport/devices';
import type { Platform } from '../transport/platform';
import { changedEvent, createdEvent, type DeviceEvent, eventOf, removedEvent, updatedEvent } from './events';
import type { TriggerParameters } from './parameters';
import { encodeFields, encodeValue, readField } from './values';

/** Devices that a test shows. */
const FEW = 3;

/**
 * What the trigger would report of the newest devices that meet the filters, for “Fetch Test Event”: no state is read or
 * written, so nothing has a previous value.
 * @throws Failure `input` where there is no device
 */
export async function fetchTestEvents(platform: Platform, parameters: TriggerParameters): Promise<DeviceEvent[]> {
	const devices = await fetchNewestDevices(platform, parameters);
	if (devices.length > 0) return devices.flatMap((device) => sampleEvents(device, parameters));
	throw inputFailure(
		'No data with the current filter could be found',
		"No device meets the 'Filters'. Change them, or remove them to see any device.",
	);
}

async function fetchNewestDevices(
	platform: Platform,
	{ criteria, settings }: TriggerParameters,
): Promise<readonly Device[]> {
	const place = { page: undefined, size: FEW };
	const newestFirst = { ...criteria, sort: ['createTime desc'] };
	const page = await fetchPage(platform, newestFirst, settings, place, 'watch').catch(async (thrown: unknown) => {
		if (!mayRefuseOrder(thrown)) throw thrown;
		return await fetchPage(platform, criteria, settings, place, 'watch');
	});
	return page.content.slice(0, FEW);
}

function sampleEvents(device: Device, { events, fields }: TriggerParameters): DeviceEvent[] {
	const id = identifyDevice(device);
	const sn = serialNumberOf(device);
	const shown: DeviceEvent[] = [];
	if (events.has('deviceCreated')) shown.push(createdEvent(id, device));
	if (events.has('deviceUpdated')) shown.push(updatedEvent(id, device));
	for (const field of fields) {
		if (!events.has(eventOf(field))) continue;
		const current = encodeValue(readField(device, field));
		shown.push(changedEvent({ sn, device, field, previous: encodeValue(null), current }, 0));
	}
	if (events.has('deviceRemoved')) shown.push(removedEvent(sn, encodeFields(device, fields), fields, 0));
	return shown;
}
