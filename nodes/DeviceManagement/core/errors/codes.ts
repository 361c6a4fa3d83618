/**
 * The platform's return codes in words (section 7 of the API document): what happened, and what to do. Each code has one row;
 * docs/errors.md is generated from the rows. If a remedy names a field of an operation, `fillIn` adds it by purpose.
 */
import type { CauseClass, DraftDetails, FailureDetails } from '../failure';
import { fillIn } from './purpose';

/** What a code, a status or a system error means, with places that `inWords` fills in. */
type Meaning = readonly [cause: CauseClass, message: string, remedy: string];
/** The meaning of what a pattern matches. */
export type Row = readonly [pattern: RegExp, ...meaning: Meaning];

export const SUCCESS = 0;

export const LATER = 'Try again later. If it happens again, ask your platform administrator.';
export const CHECK_RECORD = 'Check the serial number or identifier.';
const RIGHTS = 'Ask your platform administrator to give this user (or API key) the right to do this.';

const ROWS: ReadonlyArray<readonly [code: number, ...meaning: Meaning]> = [
	[-1, 'unknown', 'The platform could not say what went wrong', LATER],
	[SUCCESS, 'unknown', 'The request succeeded', 'Nothing to do.'],
	[9999, 'unknown', 'The platform did not carry out the request', LATER],
	[10001, 'input', 'The platform did not accept the request body', 'Check the values in {body}, and their types.'],
	[10002, 'platform', 'A service inside the platform did not respond', LATER],
	[10003, 'conflict', 'The record exists already', 'Use another name or serial number, or change the existing record.'],
	[10004, 'platform', 'The platform could not save the change', 'Check that the record exists and the values fit it.'],
	[10005, 'platform', 'The platform could not run the query', 'Check {names}. If correct, try again later.'],
	[10006, 'platform', 'The platform could not delete the record', 'Check that it exists and that nothing uses it.'],
	[10007, 'not found', '{missing}', CHECK_RECORD],
	[10008, 'conflict', 'Two values do not belong together', 'Use values of the same device, model or group.'],
	[10009, 'platform', 'The platform could not reach the resource', `Check that it exists. ${RIGHTS}`],
	[10010, 'input', 'A required value is empty', 'Enter the value that the platform names.'],
	[10011, 'conflict', 'The record may not be edited', 'Lift the restriction on the platform.'],
	[10012, 'conflict', 'The record may not be deleted', 'Remove what depends on it, or lift the restriction.'],
	[10013, 'conflict', 'The value exists already', 'Use another value, or change the record that has it.'],
	[10014, 'input', 'The platform could not read the request body', 'Check that the JSON in {body} is an object.'],
	[10015, 'conflict', 'Another record has this value already', 'Use another value, or change that record.'],
	[10016, 'conflict', 'The value is read only', 'Leave the field out of the request.'],
	[10017, 'input', 'The identifier is not valid', 'Check the identifier. Copy it from a list of the platform.'],
	[10018, 'not found', 'The serial number is not valid', 'Check the serial number. Copy it from a list of devices.'],
	[10019, 'platform', 'A table is missing on the platform', 'Ask your platform administrator.'],
	[14101, 'credential', '{notAccepted}', '{credential}'],
	[14102, 'credential', '{notRead}', '{credential}'],
	[14103, 'credential', 'The user may not do this', RIGHTS],
	[
		14201,
		'credential',
		'The login name or the password is not right',
		"Correct 'Login Name' and 'Password' in the credential.",
	],
	[14202, 'credential', 'The user is blocked on the platform', 'Ask your platform administrator to unblock the user.'],
	[14203, 'credential', 'The company is blocked on the platform', "Ask the platform's operator to unblock it."],
	[
		14401,
		'not found',
		'The device does not exist or is not valid',
		'Check the serial number and the rights of the user.',
	],
	[14402, 'conflict', 'The relationship may not be changed', 'Lift the restriction on the platform.'],
	[14403, 'conflict', 'A device still depends on the record', 'Detach the devices from the record first.'],
	[14404, 'conflict', 'The models do not agree', 'Use devices and groups of one model.'],
	[14405, 'conflict', 'The group is empty', 'Add devices to the group first, or choose another group.'],
	[14406, 'conflict', 'A group still depends on the record', 'Detach the record from its groups first.'],
	[14407, 'conflict', 'The device is in this group already', 'Choose another group.'],
	[14408, 'not found', 'There is no data for this request', 'Check the values, or use another range.'],
	[14410, 'conflict', 'The group does not fit the model', 'Choose a group of the same model as the device.'],
	[14501, 'conflict', "The device's protocol does not know this instruction", 'Choose one that the device supports.'],
];

/** All codes in the order of the document, in words that fit any request. */
export const CODE_TABLE = ROWS.map(([code, cause, message, remedy]) =>
	fillIn({ code, cause, message, remedy }, 'test'),
);

/** Returns the words for an envelope's `code` other than 0 (section 7), with a place for the platform's own words. */
export function explainCode(code: number): DraftDetails {
	const [, cause, message, remedy] = ROWS.find(([known]) => known === code) ?? [code, ...UNDOCUMENTED];
	// With these codes, the platform may have carried out the request.
	const inDoubt = code === -1 || code === 10002;
	return { kind: 'refused', cause, message: `${message} (code ${code}{outside})`, remedy, inDoubt };
}

const UNDOCUMENTED: Meaning = [
	'unknown',
	'The platform refused the request with an undocumented code',
	"Look up the code in the platform's own documentation.",
];

/** Whether the platform has no device with this serial number (section 4.2), by a code or by a success without data. */
export function meansNoDevice({ code, withoutData }: Partial<FailureDetails>): boolean {
	return withoutData === true || code === 10007 || code === 14401;
}

/** Whether the device doesn't exist or its serial number is not valid (section 4.2). */
export function meansNotFound(details: Partial<FailureDetails>): boolean {
	return meansNoDevice(details) || details.code === 10018;
}

/** Returns which part of the sign-in a code refuses (section 5). Some platforms use the status as a code. */
export function refusedBy(code: number | undefined): 'token' | 'login' | 'rights' | undefined {
	if (code === 14101 || code === 14102 || code === 401) return 'token';
	if (code === 14201 || code === 14202 || code === 14203) return 'login';
	return code === 14103 ? 'rights' : undefined;
}
