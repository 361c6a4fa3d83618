/**
 * What responses and devices say of a platform: the first response, single devices, and the field that alerts need. Each function returns a row of the table. It shows counts and short values only, and no value that may identify a device.
 */
import { type Device, isSerialNumber, serialNumberOf } from '../../nodes/DeviceManagement/core/device.ts';
import { meansNoDevice } from '../../nodes/DeviceManagement/core/errors/table.ts';
import type { JsonValue } from '../../nodes/DeviceManagement/core/json.ts';
import type { Page } from '../../nodes/DeviceManagement/core/paging/page.ts';
import { number } from '../terminal.mts';
import { inWords, type Outcome, type Probe } from './probe.mts';
import { type Finding, type Findings, ifRefused, no, unsure, yes } from './report.mts';

/** How the credential signs in: what to do after it was accepted, and what a refusal concerns. */
const SIGN_IN = {
	login: {
		accepted: yes('login accepted', 'If the platform allows one token per user, n8n signs in again after this check.'),
		refused: 'token refused',
		advice: 'Check the token path. Set it with --set tokenPath=….',
	},
	apiKey: {
		accepted: yes('API key accepted', 'Nothing to do.'),
		refused: 'API key refused',
		advice: 'Check the key, and how your platform expects it: --set apiKeyName=…, apiKeyPrefix=…, apiKeyIn=query.',
	},
};
const CHECK_ADDRESS = 'Check --base-url: another service or a proxy may answer at this address.';

/** What the first response says about the sign-in and the list (sections 1.1, 4.1 and 5 of the API document). */
export function findingsOfFirst({ value, refusal }: Outcome<Page<Device>>, signIn: keyof typeof SIGN_IN): Findings {
	const { accepted, refused, advice } = SIGN_IN[signIn];
	if (refusal === undefined) {
		const { content, totalElements } = value;
		const list =
			content.length === 0
				? unsure('no devices', 'Add devices, or check what this user may see. Then run the check again.')
				: yes(`${number(totalElements ?? content.length)} devices`, 'Get Many works.');
		return { signIn: accepted, list };
	}
	const { kind, cause, code, httpStatus, withoutData, message } = refusal;
	const found = inWords(refusal);
	if (refusal.signInFailed === 'for good' && cause === 'credential' && kind !== 'response') {
		const remedy = 'Check the login name and the password. More attempts may lock the account.';
		return { signIn: no(`login refused (${found})`, remedy) };
	}
	if (kind === 'unreachable' || kind === 'timeout') {
		return { signIn: no(found, `Check --base-url and the network. ${message}.`) };
	}
	if (refusal.signInFailed === 'for good') {
		return { signIn: no(`no token (${found})`, 'Check the login path and the token path. Set them with --set.') };
	}
	if (refusal.token === 'refused') return { signIn: no(`${refused} (${found})`, advice) };
	if (code !== undefined) {
		return { signIn: accepted, list: no(found, 'Ask your platform administrator for the right to list devices.') };
	}
	if (withoutData !== undefined) return { signIn: accepted, list: no('no page of devices', CHECK_ADDRESS) };
	return { list: no(httpStatus === 200 ? 'no envelope' : found, CHECK_ADDRESS) };
}

/** Whether one device can be read by its serial number (section 4.2). Another device is an unexpected response. */
export async function checkGet(probe: Probe, devices: readonly Device[]): Promise<Finding> {
	const [sn] = serialNumbersOf(devices);
	if (sn === undefined) return no("no device has 'sn'", 'Get and Device Removed need serial numbers.');
	const { refusal } = await probe.device(sn);
	return refusal ? ifRefused(refusal, (words) => no(words, 'Get fails.')) : yes('the same device', 'Get works.');
}

/** What the platform says of a serial number that no device has. */
export async function checkUnknownSerialNumber(probe: Probe, devices: readonly Device[]): Promise<Finding> {
	const known = serialNumbersOf(devices);
	// In the form of a real one, so that the platform does not refuse its form.
	const made = known[0]?.replaceAll(/\d/g, '9');
	if (made === undefined) return unsure('no serial numbers', 'Device Removed needs serial numbers.');
	const { refusal } = await probe.device(made);
	if (refusal && meansNoDevice(refusal)) return yes(inWords(refusal), 'Device Removed works.');
	const advice = 'Device Removed reports nothing: it needs code 10007 or 14401.';
	if (refusal) return ifRefused(refusal, (words) => no(words, advice));
	return unsure('the number tried exists', 'Remove a test device to see whether Device Removed works.');
}

function serialNumbersOf(devices: readonly Device[]): string[] {
	return devices.map(serialNumberOf).filter(isSerialNumber);
}

/** Most values that the row shows. */
const MOST_VALUES = 8;

/** How often each online status occurs, the most frequent one first. */
export function findStatuses(devices: readonly Device[]): Finding {
	const counts = new Map<string, number>();
	for (const { onlineStatus } of devices) {
		const name = nameOf(onlineStatus);
		counts.set(name, (counts.get(name) ?? 0) + 1);
	}
	if (counts.get('none') === devices.length) {
		return no('no device has it', 'Online Status Changed reports nothing until a device has it.');
	}
	const sorted = [...counts].sort(([, one], [, another]) => another - one);
	const rest = sorted.splice(MOST_VALUES);
	if (rest.length > 0) sorted.push(['further values', rest.reduce((sum, [, count]) => sum + count, 0)]);
	const shown = sorted.map(([name, count]) => `${name}: ${number(count)}`).join(', ');
	const found = `${shown} of the first ${number(devices.length)}`;
	return counts.has('none') || counts.has('other')
		? unsure(found, "Look at devices with other values, or none, before you use 'Conditions'.")
		: yes(found, "Compare the counts with your platform. Then enter a value in 'Conditions'.");
}

/** A value as 'Conditions' compares it. A text or a long number may identify a device, so it is not shown. */
function nameOf(value: JsonValue): string {
	if (value === undefined || value === null) return 'none';
	return typeof value !== 'object' && /^(-?\d{1,4}|true|false)$/.test(String(value)) ? String(value) : 'other';
}
