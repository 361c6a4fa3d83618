/**
 * The packed package in a real n8n, headless, against the embedded platform: `npm run test:e2e`. With `-- --queue` in queue mode,
 * with `-- --hosts` the trigger on n8n's three hosts, with `-- --n8n 2.35.7,pinned` in those versions, one after the other.
 * Slow and large (each version is fetched once), so apart from `npm test`. Ends with a line `N passed, N failed`; `-- --json FILE`
 * writes it for programs.
 */
import { Command, Option } from 'commander';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { type N8nHost, provideN8n } from '../../testbed/n8n/host.mts';
import { N8nInstance } from '../../testbed/n8n/instance.mts';
import { layFoundation } from '../../testbed/n8n/queueMode.mts';
import { Services, Unreachable } from '../../testbed/n8n/services.mts';
import { pinnedVersion, versionsIn } from '../../testbed/n8n/versions.mts';
import { removing } from '../../testbed/removing.mts';
import { aborted, stopSignal } from '../../testbed/stopSignal.mts';
import { Checks } from './checks.mts';
import { pollHosts } from './hosts.mts';
import { oneProcess } from './oneProcess.mts';
import { queueMode } from './queueMode.mts';

/** The exit code for `.ci/run` if PostgreSQL or Redis doesn't respond, so that nothing ran (EX_UNAVAILABLE of sysexits). */
const UNREACHABLE = 69;

const QUEUE = 'in queue mode, with a main process and two workers; needs PostgreSQL and Redis';
const options = new Command('npm run test:e2e --')
	.description('Runs the packed package in a real n8n, against the embedded platform.')
	.addOption(new Option('--queue', QUEUE).conflicts('hosts'))
	.option('--fetch', 'only fetches n8n and runs nothing')
	.option('--hosts', "the trigger on n8n's three hosts of polling triggers; about 15 minutes")
	.option('--n8n <versions>', 'in these versions: oldest, pinned, newest, or numbers; separated by commas', 'pinned')
	.option('--only <pattern>', 'only the parts whose title matches, like "hostile|pages"')
	.option('--json <file>', "writes the numbers of tests there, under jest's names, and what was skipped")
	.allowExcessArguments(false)
	.parse()
	.opts<{ queue?: true; fetch?: true; hosts?: true; n8n: string; only?: string; json?: string }>();
const isStopping = stopSignal();
try {
	process.exitCode = await runAll(versionsIn(options.n8n, await pinnedVersion()));
} catch (error) {
	console.error(error instanceof Unreachable ? error.message : error);
	process.exitCode = error instanceof Unreachable ? UNREACHABLE : 1;
}
process.exit();

/** @returns the exit code */
async function runAll(versions: readonly string[]): Promise<number> {
	// The download of n8n takes minutes, so this checks the services first.
	if (options.queue) await (await layFoundation()).services.stop();
	const checks = new Checks(new RegExp(options.only ?? ''));
	for (const version of versions) {
		if (isStopping.aborted) break;
		console.log(`\n━━ n8n ${version}\n`);
		const host = await provideN8n(version);
		if (!options.fetch) await run(host, checks);
	}
	if (options.fetch) return 0;
	const { passed, failed, skipped } = checks;
	const report = { numPassedTests: passed, numFailedTests: failed, numRuntimeErrorTestSuites: 0, skipped };
	if (options.json !== undefined) await writeFile(options.json, JSON.stringify(report));
	for (const what of skipped) console.log(`\n!! ${what}`);
	console.log(`\n${passed} passed, ${failed} failed`);
	return failed === 0 && passed > 0 ? 0 : 1;
}

async function run(host: N8nHost, checks: Checks): Promise<void> {
	const foundation = options.queue ? await layFoundation() : undefined;
	const services = foundation?.services ?? new Services();
	const folder = await mkdtemp(join(tmpdir(), 'n8n-e2e-'));
	const shown = async () => {
		if (foundation) await queueMode(host, folder, foundation, checks);
		else if (options.hosts) await pollHosts(host, folder, services, checks);
		else await oneProcess(services.add(new N8nInstance(host, folder)), services, checks);
	};
	try {
		await Promise.race([shown(), aborted(isStopping)]);
		if (isStopping.aborted) throw new Error('It was told to stop');
	} catch (error) {
		checks.fail('runs to its end', error);
	} finally {
		await services.stop();
		await rm(folder, removing);
	}
}
