/**
 * The return codes of section 7. They are copied from the API document, not from the package's table, so that a test can
 * compare the two. The platform replaces %s with a detail.
 */
export const codes = [
	[-1, 'unknown error'],
	[0, 'success'],
	[9999, 'fail'],
	[10001, 'request body check error %s'],
	[10002, '%s service invocation failed'],
	[10003, 'duplicate record'],
	[10004, 'edit failed'],
	[10005, 'query failed'],
	[10006, 'delete failed'],
	[10007, '%s non-existent'],
	[10008, '%s %s do not match'],
	[10009, '%s resource access failed'],
	[10010, '%s cannot be empty'],
	[10011, "%s isn't allowed to be edited"],
	[10012, "%s isn't allowed to be deleted"],
	[10013, '%s already exists'],
	[10014, 'request body parse error'],
	[10015, 'unique field %s already exists'],
	[10016, '%s read only'],
	[10017, 'invalid id %s'],
	[10018, 'invalid sn %s'],
	[10019, 'table %s does not exist'],
	[14101, 'invalid token'],
	[14102, 'token parse failed'],
	[14103, 'not authorized'],
	[14201, 'username or password incorrect'],
	[14202, 'user forbidden'],
	[14203, 'company forbidden'],
	[14401, 'invalid or non-existent equipment'],
	[14402, '[%s/%s] relationship is not allowed to be modified'],
	[14403, '[%s] and device are related'],
	[14404, '[%s] model are inconsistent'],
	[14405, 'group does not have elements'],
	[14406, '[%s] and group are related'],
	[14407, 'invalid operations (same group)'],
	[14408, 'no data available for %s-%s'],
	[14410, 'groupId:[%s] does not match model:[%s]'],
	[14501, 'the protocol does not support this instruction'],
] as const;

type Code = (typeof codes)[number][0];

/** The message of a code with its details filled in, one for each %s (section 7); of an unknown code, that of -1. */
export function message(code: number, ...details: string[]): string {
	const [, template] = codes.find(([known]) => known === code) ?? codes[0];
	let next = 0;
	return template.replace(/%s/g, () => details[next++] ?? '').trim();
}

/** Thrown to refuse a request. The response is an envelope with this code. */
export class Refusal extends Error {
	readonly code: Code;

	constructor(code: Code, ...details: string[]) {
		super(message(code, ...details));
		this.code = code;
	}
}
