import pWaitFor from 'p-wait-for';

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
	let open = () => {};
	const opened = new Promise<void>((resolve) => (open = resolve));
	settings.beforeAnswer = async (request) => {
		if (!isWanted(request)) return;
		isHolding = true;
		await opened;
	};
	const timeout = { milliseconds: 300_000, message: 'The request to hold did not come' };
	return {
		held: async () => await pWaitFor(() => isHolding, { interval: 50, timeout }),
		release() {
			settings.beforeAnswer = undefined;
			open();
		},
	};
}
