/**
 * What responses and devices say of a platform: the first response, single devices, the fields that alerts need, and the speed. Each
 * function returns a row of the table. It shows counts and short values only, and no value that may identify a device.
 */
import { type Device, isSerialNumber, serialNumberOf } from '../../nodes/DeviceManagement/core/device.ts';
import { meansNoDevice } from '../../nodes/DeviceManagement/core/errors/table.ts';
import type { JsonValue } from '../../nodes/DeviceManagement/core/json.ts';
import type { Page } from '../../nodes/DeviceManagement/core/paging/page.ts';
import { currentClock } from '../../nodes/DeviceManagement/transport/waiting/clock.ts';
import { number } from '../demo/tables.mts';
import type { Sample } from './paging.mts';
import { inWords, type Outcome, type Probe } from './probe.mts';
import { type Finding, type Findings, ifRefused, no, RUN_AGAIN, unsure, yes } from './report.mts';

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
const ENVELOPE = yes("'code', 'msg' and 'data'", 'The nodes read the responses.');
const CHECK_ADDRESS = 'Check --base-url: another service or a proxy may answer at this address.';

/** What the first response says about the sign-in, the envelope and the list (sections 1.1, 4.1 and 5 of the API document). */
export function findingsOfFirst({ value, refusal }: Outcome<Page<Device>>, signIn: keyof typeof SIGN_IN): Findings {
	const { accepted, refused, advice } = SIGN_IN[signIn];
	if (refusal === undefined) {
		const { content, totalElements } = value;
		const list =
			content.length === 0
				? unsure('no devices', 'Add devices, or check what this user may see. Then run the check again.')
				: yes(`${number(totalElements ?? content.length)} devices`, 'Get Many works.');
		return { signIn: accepted, envelope: ENVELOPE, list };
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
	const read = { signIn: accepted, envelope: ENVELOPE };
	if (code !== undefined) {
		return { ...read, list: no(found, 'Ask your platform administrator for the right to list devices.') };
	}
	// Of a success that holds no page, the envelope was right.
	if (withoutData !== undefined) return { ...read, list: no('no page of devices', CHECK_ADDRESS) };
	return { envelope: no(httpStatus === 200 ? 'no envelope' : found, CHECK_ADDRESS) };
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
	const [sn] = known;
	if (sn === undefined) return unsure('no serial numbers', 'Device Removed needs serial numbers.');
	// In the form of a real one, so that the platform does not refuse its form.
	for (const made of [sn.replaceAll(/\d/g, '9'), sn.replaceAll(/\d/g, '0'), `${sn.slice(0, -2)}XX`]) {
		if (known.includes(made)) continue;
		const { refusal } = await probe.device(made);
		if (refusal && meansNoDevice(refusal)) return yes(inWords(refusal), 'Device Removed works.');
		const advice = 'Device Removed reports nothing: it needs code 10007 or 14401.';
		if (refusal) return ifRefused(refusal, (words) => no(words, advice));
	}
	return unsure('every number tried exists', 'Remove a test device to see whether Device Removed works.');
}

function serialNumbersOf(devices: readonly Device[]): string[] {
	return devices.map(serialNumberOf).filter(isSerialNumber);
}

/** How many serial numbers several devices have. */
export function findSerialNumbers(devices: readonly Device[]): Finding {
	const shared = Object.values(countBy(devices, serialNumberOf)).filter((count) => count > 1).length;
	return shared === 0
		? yes('no two are equal', 'The trigger watches each device.')
		: no(`of several devices: ${number(shared)}`, 'For a change or a removal, the trigger watches one device of each.');
}

/** Most values that are shown. The others are counted together. */
const MOST_VALUES = 8;

/** How often each value of a status occurs, the most frequent one first. */
export function findValues(field: 'onlineStatus' | 'status', devices: readonly Device[]): Finding {
	const { none = 0, other = 0, ...known } = countBy(devices, (device) => nameOf(device[field]));
	if (none === devices.length) {
		return noDeviceHasIt(field === 'onlineStatus' ? 'Online Status Changed' : 'Status Changed');
	}
	const values = Object.entries(known).sort(([, one], [, another]) => another - one);
	const rest = values.splice(MOST_VALUES).reduce((sum, [, count]) => sum + count, other);
	const found = countsInWords([...values, ['other', rest], ['none', none]], devices);
	return rest + none === 0
		? yes(found, "Compare the counts with your platform. Then enter a value in 'Conditions'.")
		: unsure(found, "Look at devices with other values, or none, before you use 'Conditions'.");
}

/** Whether the trigger can read a date (section 2.1 of the API document). */
export function findDates(field: 'createTime' | 'updateTime', devices: readonly Device[]): Finding {
	const event = field === 'createTime' ? 'Device Created' : 'Device Updated';
	const counts = countBy(devices, (device) => {
		const seconds = secondsOf(device[field], currentClock().date() / 1000);
		return seconds === undefined ? 'none' : Number.isNaN(seconds) ? 'unreadable' : 'readable';
	});
	const { readable = 0, unreadable = 0, none = 0 } = counts;
	if (none === devices.length) return noDeviceHasIt(event);
	const found = countsInWords(Object.entries({ readable, unreadable, none }), devices);
	if (unreadable === 0) return yes(found, `${event} finds the devices that have it.`);
	if (readable === 0)
		return no(found, `${event} fails. It needs dates such as 2026-01-31 08:00:00, at most two days ahead.`);
	return unsure(found, `${event} does not find devices with another format, or more than two days ahead.`);
}

function countBy(devices: readonly Device[], name: (device: Device) => string): Record<string, number> {
	const counts = new Map<string, number>();
	for (const each of devices.map(name)) counts.set(each, (counts.get(each) ?? 0) + 1);
	return Object.fromEntries(counts);
}

/** A value as 'Conditions' compares it. A text or a long number may identify a device, so it is not shown. */
function nameOf(value: JsonValue): string {
	if (value === undefined || value === null) return 'none';
	return typeof value !== 'object' && /^(-?\d{1,4}|true|false)$/.test(String(value)) ? String(value) : 'other';
}

function countsInWords(counts: ReadonlyArray<readonly [string, number]>, devices: readonly Device[]): string {
	const shown = counts.filter(([, count]) => count > 0).map(([name, count]) => `${name}: ${number(count)}`);
	return `${shown.join(', ')} of the first ${number(devices.length)}`;
}

function noDeviceHasIt(event: string): Finding {
	return no('no device has it', `${event} reports nothing until a device has it.`);
}

/** Time and size of the largest page read of up to 1,000 devices, and an estimate for a full read and a poll. */
export function findSpeed(sample: Sample | undefined, total: number | undefined, findings: Findings): Finding {
	if (sample === undefined) return unsure('no page to measure', RUN_AGAIN);
	const { devices, took } = sample;
	// Rounded up to a tenth.
	const tenths = (value: number) => number(Math.max(1, Math.ceil(value * 10)) / 10);
	const seconds = (ms: number) => `${tenths(ms / 1000)} s`;
	const megabytes = tenths(Buffer.byteLength(JSON.stringify(devices)) / 1_000_000);
	// One page after the other. The nodes read several pages at once.
	const fullRead = seconds(pagesOf(total, devices.length) * took);
	const isSorted = findings.sortCreateTime?.result === 'yes' && findings.sortUpdateTime?.result === 'yes';
	const whole = `A full read, or a poll for changes and removals, takes about ${fullRead}.`;
	return yes(
		`${number(devices.length)} devices: ${seconds(took)}, ${megabytes} MB`,
		`${whole} A poll for created or updated devices takes about ${isSorted ? seconds(took) : fullRead}.`,
	);
}

/** The requests of polls that read the whole fleet, with the Page Size that the check advises. */
export function findPolls(sample: Sample | undefined, total: number | undefined, { totals }: Findings): Finding {
	// The nodes fall back to pages of 10.
	const requests = pagesOf(total, sample?.devices.length ?? 10);
	const aDay = (polls: number) => number(polls * requests);
	const advice = `Polls every minute: ${aDay(1440)} a day. Every five minutes: ${aDay(288)} a day.`;
	// The walker reads a list again if its total is missing or wrong.
	const isCertain = total !== undefined && total >= (sample?.devices.length ?? 0) && totals?.result !== 'unsure';
	return isCertain ? yes(number(requests), advice) : unsure(`at least ${number(requests)}`, advice);
}

function pagesOf(total: number | undefined, length: number): number {
	return Math.max(1, Math.ceil((total ?? length) / length));
}

/** Returns a time of the platform in seconds; undefined for a missing time, and NaN for another format or a time two days ahead of `now`. */
function secondsOf(time: unknown, now: number): number | undefined {
	if (time === undefined || time === null || time === '') return undefined;
	const isTime = typeof time === 'string' && /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d/.test(time);
	const at = isTime ? Date.parse(`${time.slice(0, 19).replace(' ', 'T')}Z`) / 1000 : NaN;
	return at <= now + 2 * 86_400 ? at : NaN;
}
