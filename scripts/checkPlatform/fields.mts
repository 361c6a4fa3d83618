/**
 * What alerts need of the devices that were read: how often each status occurs, and whether dates can be read. It sends no
 * request. It shows counts and short values only, and no value that may identify a device.
 */
import type { Device } from '../../nodes/DeviceManagement/core/device.ts';
import type { JsonValue } from '../../nodes/DeviceManagement/core/json.ts';
import { secondsOf } from '../../nodes/DeviceManagement/trigger/compare/recent.ts';
import type { TimeField } from '../../nodes/DeviceManagement/trigger/compare/watched.ts';
import { number } from '../demo/tables.mts';
import { type Finding, no, unsure, yes } from './rows.mts';

/** Most values that are shown. The others are counted together. */
const MOST_VALUES = 8;

const NONE = 'none';
const OTHER = 'other';
const READABLE = 'readable';
const UNREADABLE = 'another format';

/** How often each value of a status occurs, the most frequent one first. */
export function findValues(field: 'onlineStatus' | 'status', devices: readonly Device[]): Finding {
	const counts = countBy(devices, (device) => nameOf(device[field]));
	const { [NONE]: none = 0, [OTHER]: odd = 0, ...known } = Object.fromEntries(counts);
	if (none === devices.length) {
		return noDeviceHasIt(field === 'onlineStatus' ? 'Online Status Changed' : 'Status Changed');
	}
	const values = Object.entries(known).sort(([, one], [, another]) => another - one);
	const rest = values.splice(MOST_VALUES).reduce((sum, [, count]) => sum + count, odd);
	const found = inWords([...values, [OTHER, rest], [NONE, none]], devices);
	return rest + none === 0
		? yes(found, "Compare the counts with your platform. Then enter a value in 'Only When'.")
		: unsure(found, "Look at devices with other values, or none, before you use 'Only When'.");
}

/** Whether the trigger can read a date (section 2.1 of the API document). */
export function findDates(field: TimeField, devices: readonly Device[]): Finding {
	const event = field === 'createTime' ? 'Device Created' : 'Device Updated';
	const counts = countBy(devices, (device) => {
		const seconds = secondsOf(device[field]);
		return seconds === undefined ? NONE : Number.isNaN(seconds) ? UNREADABLE : READABLE;
	});
	const { [READABLE]: readable = 0, [UNREADABLE]: odd = 0, [NONE]: none = 0 } = Object.fromEntries(counts);
	if (none === devices.length) return noDeviceHasIt(event);
	const found = inWords(
		[
			[READABLE, readable],
			[UNREADABLE, odd],
			[NONE, none],
		],
		devices,
	);
	if (odd === 0) return yes(found, `${event} finds the devices that have it.`);
	if (readable === 0) return no(found, `${event} fails. It needs dates such as 2026-01-31 08:00:00.`);
	return unsure(found, `${event} does not find devices with another format.`);
}

function countBy(devices: readonly Device[], name: (device: Device) => string): Map<string, number> {
	const counts = new Map<string, number>();
	for (const each of devices.map(name)) counts.set(each, (counts.get(each) ?? 0) + 1);
	return counts;
}

/** A value as 'Only When' compares it. A text or a long number may identify a device, so it is not shown. */
function nameOf(value: JsonValue): string {
	if (value === undefined || value === null) return NONE;
	return typeof value !== 'object' && /^(-?\d{1,4}|true|false)$/.test(String(value)) ? String(value) : OTHER;
}

function inWords(counts: ReadonlyArray<readonly [string, number]>, devices: readonly Device[]): string {
	const shown = counts.filter(([, count]) => count > 0).map(([name, count]) => `${name}: ${number(count)}`);
	return `${shown.join(', ')} of the first ${number(devices.length)}`;
}

function noDeviceHasIt(event: string): Finding {
	return no('no device has it', `${event} reports nothing until a device has it.`);
}
