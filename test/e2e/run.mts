/**
 * The packed package in a real n8n, headless, against the embedded platform: `npm run test:e2e`, in queue mode with
 * `-- --queue`. Slow and large (the first run fetches n8n), so apart from `npm test`. Ends with a line `N passed, N failed`.
 */
import { Command } from 'commander';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { type N8nHost, provideN8n } from '../../testbed/n8n/host.mts';
import { N8nInstance } from '../../testbed/n8n/instance.mts';
import { layFoundation } from '../../testbed/n8n/queueMode.mts';
import { Services, Unreachable } from '../../testbed/n8n/services.mts';
import { aborted, stopSignal } from '../../testbed/stopSignal.mts';
import { Checks } from './checks.mts';
import { oneProcess } from './oneProcess.mts';
import { queueMode } from './queueMode.mts';

/** Tells `.ci/run` that nothing was tried, because PostgreSQL or Redis does not answer (EX_UNAVAILABLE of sysexits). */
const UNREACHABLE = 69;

const { queue } = new Command('npm run test:e2e --')
	.description('Runs the packed package in a real n8n, against the embedded platform.')
	.option('--queue', 'in queue mode, with a main process and two workers; needs PostgreSQL and Redis', false)
	.allowExcessArguments(false)
	.parse()
	.opts<{ queue: boolean }>();
const isStopping = stopSignal();
try {
	process.exitCode = await run(queue);
} catch (error) {
	console.error(error instanceof Unreachable ? error.message : error);
	process.exitCode = error instanceof Unreachable ? UNREACHABLE : 1;
}
process.exit();

async function run(inQueueMode: boolean): Promise<number> {
	const checks = new Checks();
	// Fetching n8n takes minutes, and what does not answer before it will not answer after it.
	if (inQueueMode) await (await layFoundation()).services.stop();
	const host = await provideHost();
	const foundation = inQueueMode ? await layFoundation() : undefined;
	const services = foundation?.services ?? new Services();
	const folder = await mkdtemp(join(tmpdir(), 'n8n-e2e-'));
	try {
		const shown = foundation
			? queueMode(host, folder, foundation, checks)
			: oneProcess(await services.add(() => new N8nInstance(host, folder)), checks);
		await Promise.race([shown, aborted(isStopping)]);
		if (isStopping.aborted) throw new Error('It was told to stop');
	} catch (error) {
		checks.fail('runs to its end', error);
	} finally {
		await services.stop();
		await rm(folder, { recursive: true, force: true });
	}
	checks.sayTimes();
	checks.sayLeftOut();
	console.log(`\n${checks.passed} passed, ${checks.failed} failed`);
	return checks.failed === 0 && checks.passed > 0 ? 0 : 1;
}

/** Says something at the start and then a line now and then. */
async function provideHost(): Promise<N8nHost> {
	let last = 0;
	return await provideN8n((words) => {
		if (Date.now() - last < 15_000) return;
		last = Date.now();
		console.log(`Fetching n8n (once, some minutes and 3 GB): ${words}`);
	});
}
