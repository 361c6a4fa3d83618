import type { EmbeddedPlatform, PlatformRequest } from '../../testbed/platform/server.mts';

/**
 * Keeps back the platform's answers to the requests that `isWanted` chooses.
 * @returns `held`: settles when the first such request has arrived. `release`: answers all of them, and each later one at once.
 */
export function holdAnswers(
	{ settings }: EmbeddedPlatform,
	isWanted: (request: PlatformRequest) => boolean,
): { held: Promise<void>; release: () => void } {
	let open = () => {};
	const opened = new Promise<void>((resolve) => (open = resolve));
	const held = new Promise<void>((resolve) => {
		settings.beforeAnswer = async (request) => {
			if (!isWanted(request)) return;
			resolve();
			await opened;
		};
	});
	const release = () => {
		settings.beforeAnswer = undefined;
		open();
	};
	return { held, release };
}
