import type { INodeParameters } from 'n8n-workflow';

import type { Engine } from '../../testbed/engine/engine.mts';
import { triggerWorkflow } from '../../testbed/watch.mts';
import type { Target } from '../target.mts';
import { checkPlatform, type CheckOptions } from './check.mts';
import { MOST_REQUESTS, openCounted } from './requests.mts';
import type { Row } from './rows.mts';

export interface RunOptions extends Partial<Omit<CheckOptions, 'signIn'>> {
	/** HTTP requests allowed. */
	mostRequests?: number;
}

export interface CheckResult {
	/** One for each check. */
	rows: Row[];
	/** HTTP requests sent. */
	requests: number;
}

const NO_PARAMETERS: INodeParameters = {};

/**
 * Saves the credential in n8n's engine and checks its platform through the package's nodes' own transport.
 * @throws Failure `input` for a credential that can't be used
 */
export async function runCheck(
	engine: Engine,
	target: Target,
	{ say = () => {}, now = () => performance.now(), mostRequests = MOST_REQUESTS }: RunOptions = {},
): Promise<CheckResult> {
	const credential = await engine.saveCredential({ name: 'Platform', type: 'deviceManagementApi', data: target });
	const { context } = engine.pollingNode(triggerWorkflow(engine, credential, NO_PARAMETERS));
	const counted = await openCounted(context, mostRequests);
	try {
		const signIn = target['authentication'] === 'login' ? 'login' : 'apiKey';
		const rows = await checkPlatform(counted, { signIn, say, now });
		return { rows, requests: counted.sent };
	} finally {
		counted.close();
	}
}
