import { deepCopy, type IDataObject } from 'n8n-workflow';

import { shapeDevice } from '../core/output';
import type { DeviceEvent } from './events';
import type { TriggerParameters } from './parameters';

/**
 * Makes the workflow's items of a poll's events.
 * @param now milliseconds since the epoch
 */
export function itemsOf(
	events: readonly DeviceEvent[],
	{ output, emit }: Pick<TriggerParameters, 'output' | 'emit'>,
	now: number,
): IDataObject[] {
	const detectedAt = new Date(now).toISOString();
	const shown = new Set<DeviceEvent['device']>();
	const items = events.map(({ event, eventId, device, ...change }): IDataObject => {
		// A workflow may write into an item; it must not find itself in another one.
		const own = shown.has(device) ? deepCopy(device) : device;
		shown.add(device);
		// What is known of a removed device is not the platform's record.
		const shaped = event === 'deviceRemoved' ? own : shapeDevice(own, output);
		return { event, eventId, detectedAt, ...change, device: shaped };
	});
	return emit === 'perPoll' && items.length > 0 ? [{ count: items.length, events: items }] : items;
}
