/**
 * Builds paths and query parameters from what the user entered. It refuses what the API or a URL can't carry, and paths that
 * lead out of the API. It doesn't read the node's fields and doesn't encode query parameters: n8n does.
 */
import { inputFailure } from './failure';

/** Query parameters, not percent-encoded. A list is a repeated parameter. */
export type Query = Record<string, string | string[]>;

/** The filters of a list as the API takes them (sections 1.4 and 4.1). */
export interface ListCriteria {
	/** The search criteria as JSON text. */
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
	/** Other parameters, by the platform's names. */
	parameters?: ReadonlyArray<{ name: string; value: string }>;
}

/** Parameters that the node sets. */
const RESERVED: ReadonlySet<string> = new Set(['page', 'size', 'sort']);

/** Names that n8n's request functions drop. */
const DROPPED_NAMES: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * Builds the values of the `sort` parameter (section 1.3): consecutive rules of one direction share one, like `name,createTime asc`.
 * @throws Failure `input` for a name that is empty or contains a space or comma
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
 * @throws Failure `input` for a comma in an attribute's value, and a space or comma in its key
 */
export function buildFilterQuery({ name = '', tags = '', attributes = [], parameters = [] }: DeviceFilters): Query {
	const query: Query = {};
	if (name !== '') query['name'] = checkText(name, "'Name'");
	const given = tags.split(',').map((tag) => tag.trim());
	const tagList = given.filter((tag) => tag !== '').join(',');
	if (tagList !== '') query['tags'] = checkText(tagList, "'Tags'");
	if (attributes.length > 0) query['attributes'] = attributes.map(attributePair).join(',');
	for (const parameter of parameters) {
		const name = parameter.name.trim();
		if (RESERVED.has(name)) {
			throw inputFailure(
				`The node already sets the parameter "${name}" under 'Query Parameters'`,
				'Remove it. The node reads all pages, and only its own fields set their size and order.',
			);
		}
		addParameter(query, name, parameter.value);
	}
	return query;
}

/**
 * Adds a parameter to a query. If the name has a value already, the parameter is repeated.
 * @throws Failure `input` for an empty name, a name that n8n drops, and a text that a URL can't carry
 */
export function addParameter(query: Query, name: string, value: string): void {
	if (name === '') {
		throw inputFailure("A parameter under 'Query Parameters' has no name", "Fill in its 'Name', or remove it.");
	}
	if (DROPPED_NAMES.has(name)) {
		throw inputFailure(
			`A parameter under 'Query Parameters' can't have the name "${name}"`,
			"n8n doesn't send parameters of that name. Remove it.",
		);
	}
	const text = checkText(value, `the parameter "${checkText(name, "'Query Parameters'")}"`);
	const present = Object.hasOwn(query, name) ? query[name] : undefined;
	query[name] = present === undefined ? text : [...[present].flat(), text];
}

/**
 * Returns the path of one device (section 4.2), with the serial number as one percent-encoded segment.
 * @param serialNumber may contain slashes, and spaces around it
 * @throws Failure `input` for a serial number that is empty, or that would lead to another path when a server decodes it
 */
export function devicePath(serialNumber: string): string {
	const sn = checkText(serialNumber.trim(), "'Device'");
	if (sn === '') {
		throw inputFailure(
			"The serial number in 'Device' is empty",
			'Enter a serial number. If it comes from an expression, check that the field has a value for every item.',
		);
	}
	if (fitsInPath(sn)) return `/api/device/sn/${encodeURIComponent(sn)}`;
	throw inputFailure(`The serial number "${sn}" in 'Device' can't be part of an address`, 'Enter a serial number.');
}

/** Whether {@link devicePath} accepts a serial number. */
export function fitsInPath(serialNumber: string): boolean {
	const sn = serialNumber.trim();
	return sn !== '' && sn.isWellFormed() && !goesUp(decodedToTheEnd(sn));
}

/**
 * Returns the path of any endpoint (section 4.3), after a check that it can't leave the API.
 * @throws Failure `input` unless it begins with /api and has no query and no segment '.' or '..', encoded or not
 */
export function apiPath(entered: string): string {
	const path = entered.trim();
	const refuse = (what: string, remedy: string) => inputFailure(`'Path' ${what}`, remedy);
	if (!/^\/api(\/|$)/.test(path)) {
		throw refuse('does not begin with /api', 'Enter a path of the platform like /api/model/list.');
	}
	if (/[?#]/.test(path)) {
		throw refuse('contains a ? or a #', "Move what follows it to 'Query Parameters'.");
	}
	if (/[\\\p{Cc}\s]/u.test(path)) {
		throw refuse('contains a space, a backslash or a control character', 'Percent-encode it (a space is %20).');
	}
	const decoded = decodedToTheEnd(path);
	if (goesUp(decoded)) throw refuse("contains a segment '.' or '..'", 'Enter the path without it.');
	if (decoded.includes('\0')) throw refuse('contains an encoded zero byte', 'Enter the path without it.');
	if (/%(?![0-9a-f]{2})/i.test(path)) {
		throw refuse('contains a % that is not an encoding', 'Write %25 for a percent sign.');
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

function attributePair({ key, value }: { key: string; value: string }): string {
	const name = checkName(key, "a key under 'Attributes'");
	if (value.trim() === '') {
		throw inputFailure(
			`The attribute "${name}" under 'Attributes' has no value`,
			'Enter a value, or remove the attribute. If it is an expression, it gave no value for this item.',
		);
	}
	if (value.includes(',')) {
		throw inputFailure(
			`The value of the attribute "${name}" under 'Attributes' contains a comma`,
			"The platform can't filter by it. Filter by another attribute, or filter the devices in a later step.",
		);
	}
	return `${name} ${checkText(value, `the attribute "${name}"`)}`;
}

/** The API splits field names and attribute keys at spaces and commas. */
function checkName(entered: string, what: string): string {
	const name = entered.trim();
	if (name === '') throw inputFailure(`${what.replace('a', 'A')} is empty`, 'Fill it in, or remove the entry.');
	if (/[\s,]/.test(name)) {
		throw inputFailure(`"${name}", ${what}, contains a space or a comma`, 'Enter one name per entry, without them.');
	}
	return checkText(name, what);
}

/** Half a character (a lone surrogate, left when text is cut) can't be percent-encoded. */
function checkText(text: string, what: string): string {
	if (text.isWellFormed()) return text;
	const message = `The text of ${what} is cut in the middle of a character`;
	throw inputFailure(message, 'Check the expression that cuts the text.');
}
