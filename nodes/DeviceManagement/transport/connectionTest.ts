import type {
	IAuthenticateRuleResponseCode,
	IAuthenticateRuleResponseSuccessBody,
	ICredentialTestRequest,
} from 'n8n-workflow';

import { CODE_TABLE, SUCCESS } from '../core/errors/codes';
import { explainStatus } from '../core/errors/statuses';
import { Failure } from '../core/failure';

/** Statuses with which a platform, or a proxy in front of it, refuses a test. */
const STATUSES = [301, 302, 303, 307, 308, 401, 403, 404, 429, 500, 502, 503, 504];

/**
 * Kinds of values that are not a code. n8n compares the value at a path with ===, so a rule can't ask for a number, but it can
 * ask for the name of a value's kind. A missing value and null have none: undefined.
 */
const NO_CODES = ['String', 'Boolean', 'Array', 'Object', undefined];

const NO_PLATFORM =
	"The address responds, but not like a device-management platform. Check 'Base URL': enter the part of the address before /api.";

/**
 * Returns the rules of n8n's connection test. The platform responds with HTTP 200 even to a refused request, and n8n takes
 * that for a success unless a rule matches the body. There is one rule for each code, and rules for every body without a code or
 * without a list of devices. Other statuses fail in any case; their rules say why.
 */
export function credentialTestRules(): NonNullable<ICredentialTestRequest['rules']> {
	const rules = [
		...STATUSES.map(
			(value): IAuthenticateRuleResponseCode => ({
				type: 'responseCode',
				properties: { value, message: inOneLine(explainStatus(value, 'dropdown')) },
			}),
		),
		...CODE_TABLE.filter(({ code }) => code !== SUCCESS).map((row) => bodyRule('code', row.code, inOneLine(row))),
		...NO_CODES.map((kind) => bodyRule('code.constructor.name', kind, NO_PLATFORM)),
		bodyRule('data.content', undefined, NO_PLATFORM),
	];
	// n8n checks the type of each rule. Only the declaration requires all rules to be of one type.
	return rules as IAuthenticateRuleResponseSuccessBody[];
}

function bodyRule(key: string, value: unknown, message: string): IAuthenticateRuleResponseSuccessBody {
	return { type: 'responseSuccessBody', properties: { key, value, message } };
}

/**
 * Adds the remedy to the message of a failure: n8n's connection test and its HTTP Request node show only the message.
 * @throws the same failure
 */
export function rethrowWithRemedy(thrown: unknown): never {
	if (thrown instanceof Failure) thrown.message = inOneLine(thrown.details);
	throw thrown;
}

function inOneLine({ message, remedy }: { message: string; remedy: string }): string {
	return `${message}. ${remedy}`;
}
