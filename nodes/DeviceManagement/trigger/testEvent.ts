import { type Device, identifyDevice, serialNumberOf } from '../core/device';
import { inputFailure } from '../core/failure';
import { mayRefuseOrder } from '../core/paging/refusal';
import { fetchPage } from '../transport/devices';
import type { Platform } from '../transport/platform';
import { changedEvent, type DeviceEvent, removedEvent, timeEvent } from './events';
import type { TriggerParameters } from './parameters';
import { codeOf, keep, shortIdentity } from './values';

/** Most devices of a test. */
const FEW = 3;

/**
 * Returns sample events of the newest devices that match the filters, for “Fetch Test Event”. It uses no state, so there are no
 * previous values.
 * @throws Failure `input` if no device matches
 */
export async function fetchTestEvents(platform: Platform, parameters: TriggerParameters): Promise<DeviceEvent[]> {
	const { criteria, settings } = parameters;
	const place = { page: undefined, size: FEW };
	const newestFirst = { ...criteria, sort: ['createTime desc'] };
	const page = await fetchPage(platform, newestFirst, settings, place).catch(async (thrown: unknown) => {
		if (!mayRefuseOrder(thrown)) throw thrown;
		return await fetchPage(platform, criteria, settings, place);
	});
	const devices = page.content.slice(0, FEW);
	if (devices.length > 0) return devices.flatMap((device) => sampleEvents(device, parameters));
	throw inputFailure(
		'No data with the current filter could be found',
		"No device matches the 'Filters'. Change them, or remove them to see any device.",
	);
}

function sampleEvents(device: Device, { events, fields, times }: TriggerParameters): DeviceEvent[] {
	const id = shortIdentity(identifyDevice(device));
	const sn = serialNumberOf(device);
	const shown = times.map((time) => timeEvent(time, id, device));
	for (const field of fields) {
		shown.push(changedEvent({ sn, device, field, previous: keep(null), current: keep(field.read(device)) }, 0));
	}
	if (events.has('deviceRemoved')) shown.push(removedEvent(sn, codeOf(device, fields), fields, 0));
	return shown;
}
