import type {
	IAuthenticateRuleResponseCode,
	IAuthenticateRuleResponseSuccessBody,
	ICredentialTestRequest,
} from 'n8n-workflow';

import { CODE_TABLE, SUCCESS } from '../core/codes';
import { explainStatus } from '../core/envelope';

/** Statuses that a platform, or a proxy in front of it, answers a test with. */
const STATUSES = [301, 302, 303, 307, 308, 401, 403, 404, 429, 500, 502, 503, 504];

/**
 * The rules that keep n8n's connection test honest. The platform answers HTTP 200 whatever happens, and n8n calls
 * that a success unless a rule matches the body: one rule for each code of the table gives its reason, and another one
 * catches every body that is not a list of devices. Other statuses fail anyway; their rules give the reason.
 */
export function credentialTestRules(): NonNullable<ICredentialTestRequest['rules']> {
	const byStatus = STATUSES.map((value): IAuthenticateRuleResponseCode => ({
		type: 'responseCode',
		properties: { value, message: inOneLine(explainStatus({ status: value })) },
	}));
	const byCode = CODE_TABLE.filter(({ code }) => code !== SUCCESS).map(
		(row): IAuthenticateRuleResponseSuccessBody => ({
			type: 'responseSuccessBody',
			properties: { key: 'code', value: row.code, message: inOneLine(row) },
		}),
	);
	const notAList: IAuthenticateRuleResponseSuccessBody = {
		type: 'responseSuccessBody',
		properties: {
			key: 'data.content',
			// n8n compares with ===, and what is not there is undefined.
			value: undefined,
			message:
				"The address answers, but not like a device-management platform. Check 'Base URL': it is what stands before /api.",
		},
	};
	// n8n looks at each rule's own type; only its declaration wants all rules of one test to be of one kind.
	return [...byStatus, ...byCode, notAList] as IAuthenticateRuleResponseSuccessBody[];
}

function inOneLine({ message, remedy }: { message: string; remedy: string }): string {
	return `${message}. ${remedy}`;
}
