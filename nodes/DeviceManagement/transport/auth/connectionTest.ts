import type { ICredentialTestRequest } from 'n8n-workflow';

import { explain } from '../../core/errors/failureOf';
import { CODES } from '../../core/errors/table';
import { Failure } from '../../core/failure';

type Rules = NonNullable<ICredentialTestRequest['rules']>;

const STATUSES = [301, 302, 303, 307, 308, 400, 401, 403, 404, 405, 406, 407, 429, 500, 502, 503, 504];

/**
 * Types that a code can't have. n8n compares a value with ===, so a rule can't match any number, but it can match the name of a
 * type. A missing value and null have no such name.
 */
const NO_CODES = ['String', 'Boolean', 'Array', 'Object', undefined];

const NO_PLATFORM =
	"This address doesn't respond like a device management platform. Check 'Base URL': enter the part before /api.";

/**
 * Returns the rules of n8n's connection test. The platform refuses requests with HTTP 200, which n8n counts as success unless a
 * rule matches the body. There are rules for each code, and for bodies without a code or a list of devices. Other statuses
 * always fail; their rules explain why.
 */
export function credentialTestRules(): Rules {
	const rules: Array<Rules[number]> = [
		...STATUSES.map((value): Rules[number] => ({
			type: 'responseCode',
			properties: { value, message: inOneLine(explain(`HTTP ${value}`, 'test', { httpStatus: value })) },
		})),
		...CODES.filter(([code]) => code !== 0).map(([code]) => bodyRule('code', code, inOneLine(explain(code, 'test')))),
		...NO_CODES.map((kind) => bodyRule('code.constructor.name', kind, NO_PLATFORM)),
		bodyRule('data.content', undefined, NO_PLATFORM),
	];
	// n8n accepts rules of both types; only the declaration requires one type.
	return rules as Rules;
}

function bodyRule(key: string, value: unknown, message: string): Rules[number] {
	return { type: 'responseSuccessBody', properties: { key, value, message } };
}

/** Throws the failure with the remedy in its message: n8n's connection test and HTTP Request node show only the message. */
export function rethrowWithRemedy(thrown: unknown): never {
	if (thrown instanceof Failure) thrown.message = inOneLine(thrown.details);
	throw thrown;
}

const inOneLine = ({ message, remedy }: { message: string; remedy: string }) => `${message}. ${remedy}`;
