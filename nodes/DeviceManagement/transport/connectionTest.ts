import type {
	IAuthenticateRuleResponseCode,
	IAuthenticateRuleResponseSuccessBody,
	ICredentialTestRequest,
} from 'n8n-workflow';

import { CODE_TABLE, SUCCESS } from '../core/codes';
import { explainStatus } from '../core/statuses';

/** Statuses that a platform, or a proxy in front of it, answers a test with. */
const STATUSES = [301, 302, 303, 307, 308, 401, 403, 404, 429, 500, 502, 503, 504];

/**
 * Kinds of values that are no code. n8n compares what it finds under a path of names with ===, so a rule can't ask for a number;
 * but a value's kind has a name, too. Nothing and null have none: undefined.
 */
const NO_CODES = ['String', 'Boolean', 'Array', 'Object', undefined];

const NO_PLATFORM =
	"The address answers, but not like a device-management platform. Check 'Base URL': it is what stands before /api.";

/**
 * The rules that keep n8n's connection test honest. The platform answers HTTP 200 whatever happens, and n8n calls
 * that a success unless a rule matches the body: one rule for each code of the table gives its reason, and others
 * catch every body that has no number for a code or is not a list of devices. Other statuses fail anyway; their rules give the reason.
 */
export function credentialTestRules(): NonNullable<ICredentialTestRequest['rules']> {
	const byStatus = STATUSES.map((value): IAuthenticateRuleResponseCode => ({
		type: 'responseCode',
		properties: { value, message: inOneLine(explainStatus(value, 'test')) },
	}));
	const byCode = CODE_TABLE.filter(({ code }) => code !== SUCCESS).map(
		(row): IAuthenticateRuleResponseSuccessBody => ({
			type: 'responseSuccessBody',
			properties: { key: 'code', value: row.code, message: inOneLine(row) },
		}),
	);
	const noPlatform = [...NO_CODES.map((kind) => ['code.constructor.name', kind] as const), ['data.content', undefined] as const].map(
		([key, value]): IAuthenticateRuleResponseSuccessBody => ({
			type: 'responseSuccessBody',
			properties: { key, value, message: NO_PLATFORM },
		}),
	);
	// n8n looks at each rule's own type; only its declaration wants all rules of one test to be of one kind.
	return [...byStatus, ...byCode, ...noPlatform] as IAuthenticateRuleResponseSuccessBody[];
}

function inOneLine({ message, remedy }: { message: string; remedy: string }): string {
	return `${message}. ${remedy}`;
}
