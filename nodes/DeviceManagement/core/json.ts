/** Deepest nesting of an answer that is passed on; n8n itself can't store much deeper values. */
export const DEEPEST_NESTING = 200;

/** What JSON can hold; lists and objects are looked into where it matters. */
export type JsonValue = string | number | boolean | object | null | undefined;
export type JsonObject = { [key: string]: JsonValue };

/** Names what a value is and how large, for messages; never what it holds. */
export function describeValue(value: unknown): string {
	if (value === undefined) return 'nothing';
	if (value === null) return 'null';
	if (Array.isArray(value)) return `a list of ${value.length}`;
	switch (typeof value) {
		case 'string':
			return `text of ${value.length} characters`;
		case 'object':
			return `an object with ${Object.keys(value).length} fields`;
		default:
			return `a ${typeof value}`;
	}
}

/** Whether a value is an object with fields: not null, not a list. */
export function isRecord(value: unknown): value is JsonObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a value nests deeper than `limit`. Looks no deeper than that, so it can't overflow the stack. */
export function nestsDeeperThan(value: unknown, limit: number): boolean {
	if (typeof value !== 'object' || value === null) return false;
	if (limit <= 0) return true;
	if (Array.isArray(value)) {
		for (const element of value) {
			if (typeof element === 'object' && nestsDeeperThan(element, limit - 1)) return true;
		}
	} else if (isRecord(value)) {
		// Not Object.values: this runs over every object of every answer, and a list of values each time costs as much
		// again.
		for (const key in value) {
			const field = value[key];
			if (typeof field === 'object' && nestsDeeperThan(field, limit - 1)) return true;
		}
	}
	return false;
}
