import { inputFailure } from './failure';

/** Query parameters; a list stands for a repeated parameter. Values are plain text, not yet encoded. */
export type Query = Record<string, string | string[]>;

/** What a list asks for: search criteria for the body, and query parameters (sections 1.4 and 4.1). */
export interface ListCriteria {
	/** JSON text. */
	body: string;
	query: Query;
}

export interface SortRule {
	/** A device field, or `attributes.<key>`. */
	field: string;
	direction: 'asc' | 'desc';
}

export interface DeviceFilters {
	name?: string;
	/** Comma-separated. */
	tags?: string;
	attributes?: ReadonlyArray<{ key: string; value: string }>;
	/** Any further parameter, by the name the platform knows it by. */
	parameters?: ReadonlyArray<{ name: string; value: string }>;
}

/** Parameters that a node itself sets for a list, and what to do instead; not every node that filters has a limit or sorts. */
const RESERVED: ReadonlyMap<string, string> = new Map([
	['page', 'Remove it: the node itself goes from page to page and reads as many as it takes.'],
	['size', 'Remove it: the node itself decides how many devices one request asks for, by its page size option where it has one.'],
	['sort', 'Remove it: a filter does not order a list. Get Many of the Device Management node has sort rules of its own.'],
]);

/** Names that n8n's request functions drop on the way. */
const LOST_NAMES: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * Builds the values of the `sort` parameter (section 1.3): consecutive rules of one direction share a value.
 * @param rules in the order of their weight
 * @returns one text per direction group, like `name,createTime asc`
 * @throws Failure `input` for a name that is empty or has a space or comma in it, which the API can't carry
 */
export function buildSort(rules: readonly SortRule[]): string[] {
	const groups: Array<{ direction: SortRule['direction']; fields: string[] }> = [];
	for (const { field, direction } of rules) {
		const name = checkName(field, "a field name under 'Sort'");
		const current = groups.at(-1);
		if (current?.direction === direction) current.fields.push(name);
		else groups.push({ direction, fields: [name] });
	}
	return groups.map(({ direction, fields }) => `${fields.join(',')} ${direction}`);
}

/**
 * Builds the query parameters of the filters (section 1.4).
 * @returns `name`, `tags`, `attributes` (`<key> <value>` pairs joined by commas) and further parameters; a name
 * that is given more than once becomes a repeated parameter
 * @throws Failure `input` for what the API has no way to carry: a comma in an attribute's value, a space or
 * comma in its key
 */
export function buildFilterQuery(filters: DeviceFilters): Query {
	const query: Query = {};
	if (filters.name !== undefined && filters.name !== '') {
		query['name'] = checkText(filters.name, "'Name'");
	}
	const tags = (filters.tags ?? '').split(',').map((tag) => tag.trim());
	const given = tags.filter((tag) => tag !== '');
	if (given.length > 0) query['tags'] = checkText(given.join(','), "'Tags'");
	const attributes = (filters.attributes ?? []).map(attributePair);
	if (attributes.length > 0) query['attributes'] = attributes.join(',');
	for (const parameter of filters.parameters ?? []) {
		const name = parameter.name.trim();
		const instead = RESERVED.get(name);
		if (instead !== undefined) {
			throw inputFailure(`The parameter "${name}" under 'Query Parameters' is set by the node itself`, instead);
		}
		addParameter(query, name, parameter.value);
	}
	return query;
}

/**
 * Adds a parameter to a query; a second value of a name makes it a repeated parameter.
 * @throws Failure `input` for an empty name, one that n8n would drop, or a text that no URL can carry
 */
export function addParameter(query: Query, name: string, value: string): void {
	if (name === '') {
		throw inputFailure(
			"A parameter under 'Query Parameters' has no name",
			"Fill in its 'Name', or remove the parameter.",
		);
	}
	if (LOST_NAMES.has(name)) {
		throw inputFailure(
			`A parameter can't have the name "${name}" under 'Query Parameters'`,
			'n8n does not send parameters of that name. Remove it.',
		);
	}
	const text = checkText(value, `the parameter "${checkText(name, "'Query Parameters'")}"`);
	const present = Object.hasOwn(query, name) ? query[name] : undefined;
	query[name] = present === undefined ? text : [...[present].flat(), text];
}

/**
 * Builds the path of one device (section 4.2): the serial number trimmed and percent-encoded as one segment. Slashes may be
 * part of it.
 * @throws Failure `input` for a serial number that is empty, or that leads elsewhere once a server or proxy has decoded it
 */
export function devicePath(serialNumber: string): string {
	const path = pathOfSerialNumber(serialNumber);
	if (path !== undefined) return path;
	const sn = serialNumber.trim();
	if (sn === '') {
		throw inputFailure(
			"The serial number in 'Device' is empty",
			"Enter a serial number. If it comes from an expression, check that the field has a value for every item.",
		);
	}
	checkText(sn, "'Device'");
	throw inputFailure(
		`The serial number "${sn}" in 'Device' can't be part of an address`,
		'Enter the serial number of a device.',
	);
}

/** The path of one device (section 4.2); undefined where no path can carry the serial number, see {@link devicePath}. */
export function pathOfSerialNumber(serialNumber: string): string | undefined {
	const sn = serialNumber.trim();
	if (sn === '' || !sn.isWellFormed() || goesUp(decodedToTheEnd(sn))) return undefined;
	return `/api/device/sn/${encodeURIComponent(sn)}`;
}

/**
 * Checks the path of a further endpoint (section 4.3) so that it can't leave the platform.
 * @param entered what the user gave as 'Path'
 * @returns the path as it is sent
 * @throws Failure `input` unless it is /api or below it, with no segment that goes up, however it is encoded, no host and
 * no query
 */
export function apiPath(entered: string): string {
	const path = entered.trim();
	const refuse = (what: string, remedy: string) => inputFailure(`'Path' ${what}`, remedy);
	if (!/^\/api(\/|$)/.test(path)) {
		throw refuse('does not begin with /api', 'Enter a path of the platform like /api/group/list.');
	}
	if (/[?#]/.test(path)) {
		throw refuse('contains a ? or a #', "Move what follows it to 'Query Parameters'.");
	}
	if (/[\\\p{Cc}\s]/u.test(path)) {
		throw refuse(
			'contains a space, a backslash or a control character',
			'Percent-encode it (a space is %20).',
		);
	}
	const decoded = decodedToTheEnd(path);
	if (goesUp(decoded)) throw refuse("contains a segment '.' or '..'", 'Enter the path without it.');
	if (decoded.includes('\0')) throw refuse('contains an encoded zero byte', 'Enter the path without it.');
	if (/%(?![0-9a-f]{2})/i.test(path)) {
		throw refuse('contains a % that is not an encoding', 'Write %25 for a percent sign.');
	}
	return checkText(path, "'Path'");
}

/**
 * Decodes a path until nothing changes any more: each server and proxy on its way may decode it once. Characters beyond ASCII
 * stay encoded; none of them means anything in a path.
 */
function decodedToTheEnd(path: string): string {
	const decoded: string[] = [];
	for (const character of path) {
		decoded.push(character);
		// What was decoded may be the end of another encoding.
		for (let end = decoded.slice(-3).join(''); /^%[0-7][0-9a-f]$/i.test(end); end = decoded.slice(-3).join('')) {
			decoded.splice(-3, 3, String.fromCharCode(Number.parseInt(end.slice(1), 16)));
		}
	}
	return decoded.join('');
}

/** Whether a segment leads upwards or nowhere. Some servers take a backslash for a slash, or cut a segment at a mark. */
function goesUp(decoded: string): boolean {
	return decoded.split(/[/\\]/).some((segment) => /^\.{1,2}([;?#]|$)/.test(segment));
}

function attributePair({ key, value }: { key: string; value: string }): string {
	const name = checkName(key, "a key under 'Attributes'");
	if (value.trim() === '') {
		throw inputFailure(
			`The attribute "${name}" under 'Attributes' has no value`,
			'Enter the value to look for, or remove the attribute.',
		);
	}
	if (value.includes(',')) {
		throw inputFailure(
			`The value of the attribute "${name}" under 'Attributes' contains a comma`,
			'The platform separates attributes by commas and has no way to escape one. Filter by another attribute, or filter the devices in a later step of the workflow.',
		);
	}
	return `${name} ${checkText(value, `the attribute "${name}"`)}`;
}

/** The API splits field names and attribute keys at spaces and commas. */
function checkName(entered: string, what: string): string {
	const name = entered.trim();
	if (name === '') throw inputFailure(`There is ${what} that is empty`, 'Fill it in, or remove the entry.');
	const mark = /\s/.test(name) ? 'a space' : name.includes(',') ? 'a comma' : undefined;
	if (mark !== undefined) {
		throw inputFailure(
			`"${name}", ${what}, contains ${mark}`,
			'The platform has no way to carry it there. Enter one name per entry.',
		);
	}
	return checkText(name, what);
}

/** Half a character (a lone surrogate, left by cutting text in the middle) can't be percent-encoded. */
function checkText(text: string, what: string): string {
	if (text.isWellFormed()) return text;
	throw inputFailure(
		`The text of ${what} ends or begins in the middle of a character`,
		'Check the expression that cuts the text.',
	);
}
