import type { Purpose } from './purpose';

/** What has to change before a refused request can succeed. */
export type CauseClass =
	| 'credential'
	| 'input'
	| 'not found'
	| 'conflict'
	| 'platform'
	| 'unknown';

/** One row of the platform's code table, with the words a person gets. */
export interface CodeExplanation {
	readonly code: number;
	/** The platform's own text; each `%s` stands for a detail filled in at run time. */
	readonly text: string;
	readonly cause: CauseClass;
	/** What happened, short. */
	readonly message: string;
	/** What to do about it. Names no field: who reads it may have been asking for anything. */
	readonly remedy: string;
	/** The same for those who have fields for it. */
	readonly remedies?: Readonly<Partial<Record<Purpose, string>>>;
}

/** A refusal in words: the table's row, or the bare code where the table has none, with the run-time detail. */
export interface ExplainedRefusal {
	readonly cause: CauseClass;
	readonly message: string;
	readonly remedy: string;
}

export const SUCCESS = 0;

const CHECK_CREDENTIAL =
	'Check the Device Management API credential; if it is right, ask who administers the platform.';
const CHECK_RIGHTS =
	'Ask who administers the platform to give this user (or API key) the right to do this.';
const TRY_LATER =
	"Try again later. If it keeps happening, look into the platform's own log or ask who administers it.";

/**
 * The platform's return codes, section 7 of the API document, in its order.
 * The documentation page docs/errors.md is generated from this table.
 */
export const CODE_TABLE: readonly CodeExplanation[] = [
	row(-1, 'unknown error', 'unknown', 'The platform could not say what went wrong', TRY_LATER),
	row(SUCCESS, 'success', 'unknown', 'The request succeeded', 'Nothing to do.'),
	row(9999, 'fail', 'unknown', 'The platform did not carry out the request', TRY_LATER),
	row(
		10001,
		'request body check error %s',
		'input',
		'The platform did not accept the request body',
		'Check the values that the request was given, and their types.',
		{ ...forFilters("Check the values under 'Filters', and their types."), write: "Check the values in 'Body', and their types." },
	),
	row(
		10002,
		'%s service invocation failed',
		'platform',
		'A service inside the platform did not answer',
		TRY_LATER,
	),
	row(
		10003,
		'duplicate record',
		'conflict',
		'The record exists already',
		'Use another name or serial number, or change the record that is there.',
	),
	row(
		10004,
		'edit failed',
		'platform',
		'The platform could not save the change',
		'Check that the record still exists and that the values fit it, then try again.',
	),
	row(
		10005,
		'query failed',
		'platform',
		'The platform could not run the query',
		'Check what was asked for. If it is right, try again later.',
		{
			list: "Check the names under 'Filters' and those of the fields to sort by. If they are right, try again later.",
			watch: "Check the names under 'Filters', if there are any. If they are right, try again later.",
			count: "Check the names under 'Filters'. If they are right, try again later.",
			device: 'Check the serial number. If it is right, try again later.',
			read: "Check 'Path' and 'Query Parameters'. If they are right, try again later.",
			write: "Check 'Path', 'Query Parameters' and 'Body'.",
		},
	),
	row(
		10006,
		'delete failed',
		'platform',
		'The platform could not delete the record',
		'Check that the record exists and that nothing else uses it, then try again.',
	),
	row(
		10007,
		'%s non-existent',
		'not found',
		'The record does not exist',
		'Check the serial number or identifier; the record may have been deleted.',
	),
	row(
		10008,
		'%s %s do not match',
		'conflict',
		'Two values do not belong together',
		'Check that both values refer to the same device, model or group.',
	),
	row(
		10009,
		'%s resource access failed',
		'platform',
		'The platform could not reach the resource',
		`Check that it exists. ${CHECK_RIGHTS}`,
	),
	row(
		10010,
		'%s cannot be empty',
		'input',
		'A required value is empty',
		'Give the value that the platform names.',
	),
	row(
		10011,
		"%s isn't allowed to be edited",
		'conflict',
		'The record may not be edited',
		'Leave the record as it is, or lift the restriction on the platform.',
	),
	row(
		10012,
		"%s isn't allowed to be deleted",
		'conflict',
		'The record may not be deleted',
		'Remove what depends on the record first, or lift the restriction on the platform.',
	),
	row(
		10013,
		'%s already exists',
		'conflict',
		'The value exists already',
		'Use another value, or change the record that has it.',
	),
	row(
		10014,
		'request body parse error',
		'input',
		'The platform could not read the request body',
		'Check that the body of the request is a JSON object with the fields that the platform expects.',
		{
			...forFilters("Check that 'Search Criteria (JSON)' under 'Filters' is a JSON object with the fields that the platform expects."),
			write: "Check that 'Body' is a JSON object with the fields that the platform expects.",
		},
	),
	row(
		10015,
		'unique field %s already exists',
		'conflict',
		'Another record has this value already',
		'Use another value for the field, or change the record that has it.',
	),
	row(
		10016,
		'%s read only',
		'conflict',
		'The value is read only',
		'Leave the field out of the request.',
	),
	row(
		10017,
		'invalid id %s',
		'input',
		'The identifier is not valid',
		'Check the identifier; take it from a list of the platform.',
	),
	row(
		10018,
		'invalid sn %s',
		'not found',
		'The serial number is not valid',
		'Check the serial number; take it from a list of devices.',
	),
	row(
		10019,
		'table %s does not exist',
		'platform',
		'The platform misses a table that it needs',
		'Ask who administers the platform; nothing in the workflow can change this.',
	),
	row(
		14101,
		'invalid token',
		'credential',
		'The platform did not accept the sign-in',
		CHECK_CREDENTIAL,
	),
	row(
		14102,
		'token parse failed',
		'credential',
		'The platform could not read the key or token',
		"Check 'API Key', 'Name' and 'Prefix' in the credential; with a login, check 'Token Path'.",
	),
	row(
		14103,
		'not authorized',
		'credential',
		'The user may not do this',
		CHECK_RIGHTS,
	),
	row(
		14201,
		'username or password incorrect',
		'credential',
		'The login name or the password is not right',
		"Correct 'Login Name' and 'Password' in the credential. Nothing was tried again, so that the account is not locked.",
	),
	row(
		14202,
		'user forbidden',
		'credential',
		'The user is blocked on the platform',
		'Ask who administers the platform to unblock the user, or use another one in the credential.',
	),
	row(
		14203,
		'company forbidden',
		'credential',
		'The company is blocked on the platform',
		"Ask the platform's operator to unblock the company.",
	),
	row(
		14401,
		'invalid or non-existent equipment',
		'not found',
		'The device does not exist or is not valid',
		'Check the serial number; the device may have been removed, or this user may not see it.',
	),
	row(
		14402,
		'[%s/%s] relationship is not allowed to be modified',
		'conflict',
		'The relationship may not be changed',
		'Leave the relationship as it is, or lift the restriction on the platform.',
	),
	row(
		14403,
		'[%s] and device are related',
		'conflict',
		'A device still depends on the record',
		'Detach the devices from the record first.',
	),
	row(
		14404,
		'[%s] model are inconsistent',
		'conflict',
		'The models do not agree',
		'Use devices and groups of one model.',
	),
	row(
		14405,
		'group does not have elements',
		'conflict',
		'The group is empty',
		'Add devices to the group first, or choose another group.',
	),
	row(
		14406,
		'[%s] and group are related',
		'conflict',
		'A group still depends on the record',
		'Detach the record from its groups first.',
	),
	row(
		14407,
		'invalid operations (same group)',
		'conflict',
		'The device is in this group already',
		'Choose another group.',
	),
	row(
		14408,
		'no data available for %s-%s',
		'not found',
		'There is no data for this request',
		'Check the values that the platform names, or ask for another range.',
	),
	row(
		14410,
		'groupId:[%s] does not match model:[%s]',
		'conflict',
		'The group does not fit the model',
		'Choose a group of the same model as the device.',
	),
	row(
		14501,
		'the protocol does not support this instruction',
		'conflict',
		"The device's protocol does not know this instruction",
		'Choose an instruction that the device supports.',
	),
];

const BY_CODE: ReadonlyMap<number, CodeExplanation> = new Map(
	CODE_TABLE.map((explanation) => [explanation.code, explanation]),
);

const NO_DEVICE: ReadonlySet<number> = new Set([10007, 14401]);
const NOT_VALID = 10018;
const OUTCOME_UNKNOWN: ReadonlySet<number> = new Set([-1, 10002]);
const TOKEN_REFUSED: ReadonlySet<number> = new Set([14101, 14102]);
const LOGIN_REFUSED: ReadonlySet<number> = new Set([14201, 14202, 14203]);
const USER_REFUSED: ReadonlySet<number> = new Set([14103, ...LOGIN_REFUSED]);

/**
 * Puts a refusal of the platform into words (section 7 of the API document).
 * @param code the envelope's `code`, any number but 0
 * @param msg the envelope's `msg`, already free of secrets; '' where there was none
 * @param purpose what the request was for
 * @returns the table's words with the detail that replaced `%s`; an unknown code keeps its number and text
 */
export function explainCode(code: number, msg: string, purpose: Purpose): ExplainedRefusal {
	const explanation = BY_CODE.get(code);
	const said = msg === '' ? `code ${code}` : `code ${code}: ${msg}`;
	if (explanation === undefined) {
		return {
			cause: 'unknown',
			message: `The platform refused the request with a code that is not documented (${said})`,
			remedy: "Look the code up in the platform's own documentation.",
		};
	}
	const detail = detailOf(explanation.text, msg);
	return {
		cause: explanation.cause,
		message: detail === '' ? explanation.message : `${explanation.message}: ${detail}`,
		remedy: `${explanation.remedies?.[purpose] ?? explanation.remedy} The platform answered ${said}`,
	};
}

/** What a read by serial number that failed says, as far as it counts here. */
interface ReadOutcome {
	readonly code?: number;
	/** Whether the platform said that the request succeeded, and sent nothing. */
	readonly withoutData?: boolean;
}

/**
 * Whether the platform says of a serial number that it has no such device (section 4.2): by its code, or by a success without
 * one.
 */
export function meansNoDevice({ code, withoutData }: ReadOutcome): boolean {
	return withoutData === true || (code !== undefined && NO_DEVICE.has(code));
}

/** Whether a read by serial number found nothing: there is no such device, or there can't be one (section 4.2). */
export function meansNotFound(outcome: ReadOutcome): boolean {
	return meansNoDevice(outcome) || outcome.code === NOT_VALID;
}

/**
 * Whether this code leaves open whether a request was carried out: the platform itself does not know, or asked somebody who
 * did not answer.
 */
export function leavesOpen(code: number): boolean {
	return OUTCOME_UNKNOWN.has(code);
}

/** Whether this code says that the key or token was refused, not the user (section 5). */
export function meansTokenRefused(code: number): boolean {
	return TOKEN_REFUSED.has(code);
}

/** Whether this code, as the answer to a login, says that the login itself is not accepted (section 5). */
export function meansLoginRefused(code: number | undefined): boolean {
	return code !== undefined && LOGIN_REFUSED.has(code);
}

/**
 * Whether this code says that the user was refused (section 5). Neither a new token nor another try changes that,
 * and asking again may lock the account, whatever the HTTP status is.
 */
export function meansUserRefused(code: number): boolean {
	return USER_REFUSED.has(code);
}

function row(
	code: number,
	text: string,
	cause: CauseClass,
	message: string,
	remedy: string,
	remedies?: CodeExplanation['remedies'],
): CodeExplanation {
	return { code, text, cause, message, remedy, ...(remedies === undefined ? {} : { remedies }) };
}

function forFilters(remedy: string) {
	return { list: remedy, watch: remedy, count: remedy };
}

/** The texts that stand where the template has `%s`, joined; '' where the message does not follow the template. */
function detailOf(template: string, msg: string): string {
	if (!template.includes('%s')) return '';
	// Where nothing but a mark parts two details, nobody can tell which of them a mark inside a detail belongs to.
	const pattern = template
		.replace(/%s[ /-]%s/g, '%s')
		.split('%s')
		.map((literal) => literal.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
		.join('(.*?)');
	const found = new RegExp(`^${pattern}$`, 's').exec(msg.trim());
	if (found === null) return '';
	return found
		.slice(1)
		.map((detail) => detail.trim())
		.filter((detail) => detail !== '')
		.join(', ');
}
