import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import { shapeDevice } from '../../core/shape';
import { currentClock } from '../../transport/waiting/clock';
import type { DeviceEvent } from '../changes/events';
import type { TriggerParameters } from '../form/form';

/**
 * Returns the items of events, in the form's output: one for each, or one for all.
 * @param mark the last fields of each event
 */
export function itemsOf(
	events: readonly DeviceEvent[],
	{ output, emit }: Pick<TriggerParameters, 'output' | 'emit'>,
	mark = {},
): INodeExecutionData[] {
	const detectedAt = new Date(currentClock().date()).toISOString();
	const items = events.map(({ event, eventId, device, ...change }, index): IDataObject => {
		// A workflow may change an item. That must not change another item of this device: the events of one follow each other.
		const own = device === events[index - 1]?.device ? structuredClone(device) : device;
		// A removed device has only the known values, so 'Output' doesn't apply.
		const shaped = event === 'deviceRemoved' ? own : shapeDevice(own, output);
		// The table in n8n's editor shows the first fields.
		return { event, ...change, device: shaped, eventId, detectedAt, ...mark };
	});
	const isOne = emit === 'perPoll' && items.length > 0;
	return (isOne ? [{ count: items.length, events: items }] : items).map((json) => ({ json }));
}
