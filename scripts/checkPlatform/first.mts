import type { Device } from '../../nodes/DeviceManagement/core/device.ts';
import type { Page } from '../../nodes/DeviceManagement/core/paging/page.ts';
import { number } from '../demo/tables.mts';
import { inWords, type Outcome, type Refusal } from './probe.mts';
import { type Finding, type Findings, no, unsure, yes } from './rows.mts';

/** How the credential signs in. */
export type SignIn = 'login' | 'apiKey';

const ONE_TOKEN_PER_USER = 'If the platform allows one token per user, n8n signs in again after this check.';
const CHECK_ADDRESS = 'Check --base-url: another service or a proxy may answer at this address.';

/** What the first response says about the sign-in, the envelope and the list (sections 1.1, 4.1 and 5 of the API document). */
export function findingsOfFirst({ value, refusal }: Outcome<Page<Device>>, signIn: SignIn): Findings {
	if (value === undefined) return findingsOfRefusal(refusal, signIn);
	const { content, totalElements } = value;
	const count = totalElements ?? content.length;
	return {
		signIn: accepted(signIn),
		envelope: ENVELOPE,
		list:
			content.length === 0
				? unsure('no devices', 'Add devices, or check what this user may see. Then run the check again.')
				: yes(`${number(count)} devices`, 'Get Many works.'),
	};
}

const ENVELOPE = yes("'code', 'msg' and 'data'", 'The nodes read the responses.');

function accepted(signIn: SignIn): Finding {
	return signIn === 'login' ? yes('login accepted', ONE_TOKEN_PER_USER) : yes('API key accepted', 'Nothing to do.');
}

function findingsOfRefusal(refusal: Refusal, signIn: SignIn): Findings {
	const { kind, code, httpStatus, withoutData, message } = refusal;
	const found = inWords(refusal);
	if (refusal.loginRefused === true) {
		return {
			signIn: no(
				`login refused (${found})`,
				'Check the login name and the password. More attempts may lock the account.',
			),
		};
	}
	if (kind === 'unreachable' || kind === 'timeout') {
		return { signIn: no(found, `Check --base-url and the network. ${message}.`) };
	}
	if (refusal.final === true) {
		return { signIn: no(`no token (${found})`, 'Check the login path and the token path. Set them with --set.') };
	}
	if (refusal.tokenRefused === true) {
		const advice = signIn === 'login' ? 'Check the token path. Set it with --set tokenPath=….' : CHECK_KEY;
		return { signIn: no(`${signIn === 'login' ? 'token' : 'API key'} refused (${found})`, advice) };
	}
	if (code !== undefined) {
		return {
			signIn: accepted(signIn),
			envelope: ENVELOPE,
			list: no(found, 'Ask your platform administrator for the right to list devices.'),
		};
	}
	// Of a success that holds no page, the envelope was right.
	if (withoutData !== undefined) {
		return { signIn: accepted(signIn), envelope: ENVELOPE, list: no('no page of devices', CHECK_ADDRESS) };
	}
	const status = httpStatus === 200 ? 'no envelope' : found;
	return { envelope: no(status, CHECK_ADDRESS) };
}

const CHECK_KEY =
	'Check the key, and how your platform expects it: --set apiKeyName=…, apiKeyPrefix=…, apiKeyIn=query.';
