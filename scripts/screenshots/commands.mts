import { execa } from 'execa';
import { join } from 'node:path';

import { checkout } from '../../testbed/checkout.mts';
import type { Environment } from '../../testbed/n8n/services.mts';
import { ADDRESS } from './address.mts';
import { terminal } from './html.mts';

/** Runs the demo; returns a terminal with its output. */
export async function demo(): Promise<string> {
	const [shown = ''] = (await run('demo.mts', [], {})).split('\nNext:\n');
	// A terminal replaces the line of a running step by the line of the finished step.
	return terminal('npm run demo', shown.replace(/^❯.*\n/gm, '').trimEnd());
}

/**
 * Checks the platform at {@link ADDRESS}; returns a terminal with the output.
 * @param environment leads to the platform
 */
export async function checkPlatform(apiKey: string, environment: Environment): Promise<string> {
	const flags = ['--base-url', ADDRESS, '--api-key'];
	const output = await run('checkPlatform.mts', flags, { ...environment, DEVICE_MANAGEMENT_API_KEY: apiKey });
	return terminal(`npm run check-platform -- ${flags.join(' ')}`, output.trimEnd());
}

async function run(script: string, flags: readonly string[], env: Environment): Promise<string> {
	const args = ['--import', 'tsx', join(checkout, 'scripts', script), ...flags];
	return (await execa(process.execPath, args, { cwd: checkout, env })).stdout;
}
