/**
 * Builds paths from what the user entered. It refuses what a URL can't carry, and paths that lead out of the API. Queries are built in
 * fields/, and n8n encodes them.
 */
import { inputFailure } from './failure';
import { checkText, trimmed } from './text';

/** Query parameters, not percent-encoded. A list is a repeated parameter. */
export type Query = Record<string, string | string[]>;

/** The filters of a list as the API takes them (sections 1.4 and 4.1). */
export interface ListCriteria {
	body: string;
	query: Query;
}

/**
 * Returns the path of one device (section 4.2), with the serial number as one percent-encoded segment.
 * @param serialNumber may contain slashes, and spaces around it; a platform may have invisible characters in it
 * @throws Failure `input` for a serial number that is empty, or that would lead to another path when a server decodes it
 */
export function devicePath(serialNumber: string): string {
	const sn = checkText(serialNumber.trim(), "'Device'");
	if (sn === '') {
		throw inputFailure("The serial number in 'Device' is empty", 'Enter a serial number, or check the expression.');
	}
	if (!goesUp(decodedToTheEnd(sn))) return `/api/device/sn/${encodeURIComponent(sn)}`;
	throw inputFailure(`The serial number "${sn}" in 'Device' can't be part of an address`, 'Enter a serial number.');
}

/**
 * Returns the path of any endpoint (section 4.3), after a check that it can't leave the API.
 * @throws Failure `input` unless it begins with /api and has no query and no segment '.' or '..', encoded or not
 */
export function apiPath(entered: string): string {
	const path = trimmed(entered);
	const refuse = (what: string, remedy: string) => inputFailure(`'Path' ${what}`, remedy);
	if (!/^\/api(\/|$)/.test(path)) {
		throw refuse("doesn't start with /api", 'Enter a path like /api/model/list.');
	}
	if (/[?#]/.test(path)) {
		throw refuse('contains a ? or a #', "Move what follows it to 'Query Parameters'.");
	}
	if (/[\\\p{Cc}\s]/u.test(path)) {
		throw refuse('contains a space, backslash, or control character', 'Percent-encode it (a space is %20).');
	}
	const decoded = decodedToTheEnd(path);
	if (goesUp(decoded)) throw refuse("contains a segment '.' or '..'", 'Enter the path without it.');
	if (decoded.includes('\0')) throw refuse('contains an encoded zero byte', 'Enter the path without it.');
	if (/%(?![0-9a-f]{2})/i.test(path)) {
		throw refuse("contains a % that isn't an encoding", 'Write %25 for a percent sign.');
	}
	return checkText(path, "'Path'");
}

/** Decodes the ASCII characters of a path as often as servers and proxies may do. */
function decodedToTheEnd(path: string): string {
	let decoded = path;
	for (let round = 0; round < 10; round++) {
		decoded = decoded.replace(/%([0-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
	}
	// A path that is encoded more often is refused like '..'.
	return ENCODED.test(decoded) ? '..' : decoded;
}

const ENCODED = /%[0-7][0-9a-f]/i;

/** Whether a segment is '.' or '..'. Some servers treat a backslash as a slash, or cut a segment at ; ? or #. */
function goesUp(decoded: string): boolean {
	return decoded.split(/[/\\]/).some((segment) => /^\.{1,2}([;?#]|$)/.test(segment));
}
