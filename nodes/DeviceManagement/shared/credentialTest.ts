import type { ICredentialTestRequest } from 'n8n-workflow';

import { CODE_TABLE, SUCCESS } from '../core/codes';

/**
 * The rules that keep n8n's connection test honest. The platform answers HTTP 200 whatever happens, and n8n calls
 * that a success unless a rule matches the body: one rule for each code of the table gives its reason, the last one
 * catches every body that is not a list of devices.
 */
export function credentialTestRules(): NonNullable<ICredentialTestRequest['rules']> {
	return [
		...CODE_TABLE.filter(({ code }) => code !== SUCCESS).map(({ code, message, remedy }) => ({
			type: 'responseSuccessBody' as const,
			properties: { key: 'code', value: code, message: `${message}. ${remedy}` },
		})),
		{
			type: 'responseSuccessBody' as const,
			properties: {
				key: 'data.content',
				// n8n compares with ===, and what is not there is undefined.
				value: undefined,
				message:
					"The address answers, but not like a device-management platform. Check 'Base URL': it is what stands before /api.",
			},
		},
	];
}
