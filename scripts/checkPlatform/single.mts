import type { Device } from '../../nodes/DeviceManagement/core/device.ts';
import { inWords, isRefusal, type Probe, type Refusal } from './probe.mts';
import { type Finding, no, unsure, yes } from './rows.mts';

/** Codes that say that a device does not exist (sections 4.2 and 7 of the API document). */
const NO_SUCH_DEVICE: ReadonlySet<number | undefined> = new Set([10007, 14401]);

/** Whether one device can be read by its serial number (section 4.2). */
export async function checkGet(probe: Probe, devices: readonly Device[]): Promise<Finding> {
	const sn = serialNumbersOf(devices)[0];
	if (sn === undefined) return no("no device has 'sn'", 'Get and Device Removed need serial numbers.');
	const { value, refusal } = await probe.device(sn);
	if (value === undefined) {
		return isRefusal(refusal) ? no(inWords(refusal), 'Get fails.') : unsure(inWords(refusal), 'Run the check again.');
	}
	return String(value['sn']) === sn ? yes('the same device', 'Get works.') : no('another device', 'Get is unreliable.');
}

/** What the platform says of a serial number that no device has. */
export async function checkUnknownSerialNumber(probe: Probe, devices: readonly Device[]): Promise<Finding> {
	const known = serialNumbersOf(devices);
	const sn = known[0];
	if (sn === undefined) return unsure('no serial numbers', 'Device Removed needs serial numbers.');
	// In the form of a real one, so that the platform does not refuse its form.
	for (const made of [sn.replaceAll(/\d/g, '9'), sn.replaceAll(/\d/g, '0'), `${sn.slice(0, -2)}XX`]) {
		if (known.includes(made)) continue;
		const { value, refusal } = await probe.device(made);
		if (value === undefined) return findingOfUnknown(refusal);
		if (String(value['sn']) !== made) return no('another device', 'Device Removed does not work.');
	}
	return unsure('every number tried exists', 'Remove a test device to see whether Device Removed works.');
}

function findingOfUnknown(refusal: Refusal): Finding {
	const words = inWords(refusal);
	if (NO_SUCH_DEVICE.has(refusal.code) || refusal.withoutData === true) return yes(words, 'Device Removed works.');
	if (!isRefusal(refusal)) return unsure(words, 'Run the check again.');
	return no(words, 'Device Removed reports nothing: it needs code 10007 or 14401.');
}

function serialNumbersOf(devices: readonly Device[]): string[] {
	return devices.flatMap(({ sn }) => {
		if (typeof sn === 'string' && sn !== '') return [sn];
		return Number.isSafeInteger(sn) ? [String(sn)] : [];
	});
}
