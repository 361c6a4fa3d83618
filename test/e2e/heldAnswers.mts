import assert from 'node:assert/strict';
import pWaitFor from 'p-wait-for';

import { held } from '../../testbed/held.mts';
import type { QueueMode } from '../../testbed/n8n/queueMode.mts';
import type { EmbeddedPlatform, PlatformRequest } from '../../testbed/platform/server.mts';

/**
 * Keeps back the platform's answers to the requests that `isWanted` chooses.
 * @returns `held`: waits some minutes for the first such request. `release`: answers all of them, and each later one at once.
 */
export function holdAnswers(
	{ settings }: EmbeddedPlatform,
	isWanted: (request: PlatformRequest) => boolean,
): { held: () => Promise<void>; release: () => void } {
	let isHolding = false;
	const opened = held();
	settings.beforeAnswer = async (request) => {
		if (!isWanted(request)) return;
		isHolding = true;
		await opened.promise;
	};
	const timeout = { milliseconds: 300_000, message: 'The request to hold did not come' };
	return {
		held: async () => await pWaitFor(() => isHolding, { interval: 50, timeout }),
		release() {
			settings.beforeAnswer = undefined;
			opened.resolve();
		},
	};
}

/**
 * Kills the worker that runs the newest execution of a workflow, while the platform keeps an answer to it back. Then starts it again.
 * @param begin leads to the execution
 * @returns the execution's id
 * @throws AssertionError unless the execution ends failed or crashed
 */
export async function killWorkerOf(
	workflow: string,
	n8n: QueueMode,
	platform: EmbeddedPlatform,
	isWanted: (request: PlatformRequest) => boolean,
	begin: () => void,
): Promise<string> {
	const { held: arrived, release } = holdAnswers(platform, isWanted);
	begin();
	await arrived();
	const id = (await n8n.executions(workflow)).at(-1)?.id ?? '';
	const worker = n8n.workerOf(id);
	await worker.kill();
	release();
	const { status } = await n8n.ended(workflow, id);
	await worker.restart();
	assert(['crashed', 'error'].includes(status), `its status is ${status}`);
	return id;
}
