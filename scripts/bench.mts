/**
 * `npm run bench`: measures how fast fleets are read, in n8n's engine with embedded platforms. All contenders run in turns in the
 * same run. Compare the ratios, not the times.
 */
import { Command } from 'commander';
import { readFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod/v4';
import { compareWithBefore } from './bench/before.mts';
import { compare, ways } from './bench/compare.mts';
import { defaults, Readers } from './bench/contenders.mts';
import { type Platforms, startPlatforms } from './bench/platforms.mts';
import { tell } from './bench/progress.mts';
import { count } from './bench/report.mts';
import { watchFleets } from './bench/trigger.mts';
import { tune } from './bench/tune.mts';
import { checkout, readManifest } from '../testbed/checkout.mts';
import { performanceFigures, writeBetweenMarks } from './figures.mts';
import { positive } from './flags.mts';

const flags = new Command('npm run bench --')
	.description(
		"Measures how fast fleets are read, against n8n's HTTP Request node, n8n's bare request helper and undici.",
	)
	.option('--runs <number>', 'most runs of each case; the tables show the median', positive, 5)
	.option('--quick', 'only the cases of the targets, once or twice each (about five minutes)', false)
	.option('--before <folder>', 'also compares with another checkout of this package, which must be built')
	.option('--trigger', 'only measures polls, and workflows without the trigger (about two minutes)', false)
	.option('--tune', 'only measures page sizes and parallel requests, to choose the defaults', false)
	.option(
		'--write',
		'writes the tables into docs/performance.md and docs/maintainers/benchmark.md, and the figures of charts',
		false,
	)
	.addHelpText('after', '\nA full run takes ten to twenty minutes, --tune ten.')
	.allowExcessArguments(false)
	.showHelpAfterError('--help lists the flags.')
	.parse()
	.opts<{ runs: number; quick: boolean; before?: string; trigger: boolean; tune: boolean; write: boolean }>();

const PAGE = 'docs/performance.md';
const MAINTAINERS_PAGE = 'docs/maintainers/benchmark.md';

try {
	if (flags.write && (flags.quick || flags.trigger || flags.tune)) {
		throw new Error('--write needs a full run: leave --quick, --trigger and --tune out.');
	}
	await bench();
} catch (error) {
	process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
	process.exitCode = 1;
}

async function bench(): Promise<void> {
	tell('starting the platforms');
	const platforms = await startPlatforms([1_000, 10_000, 100_000]);
	const readers = await Readers.load();
	try {
		await warmUp(readers, platforms);
		if (flags.tune) await tune(readers, platforms, flags);
		else if (flags.trigger) await watchFleets(readers, platforms, flags);
		else await benchAll(readers, platforms);
	} finally {
		await readers.close();
		platforms.stop();
	}
}

async function benchAll(readers: Readers, platforms: Platforms): Promise<void> {
	const { forUsers, forMaintainers, figures } = await compare(readers, platforms, flags);
	const watched = flags.quick ? undefined : await watchFleets(readers, platforms, flags);
	if (flags.before !== undefined) {
		const before = await Readers.load(resolve(flags.before));
		forMaintainers.push(await compareWithBefore(readers, before, platforms, flags));
		await before.close();
	}
	if (!flags.write || watched === undefined) return;
	await performanceFigures.write({ ...figures, polls: watched.polls });
	const machine = await machineWords();
	await writeBetweenMarks(PAGE, machine, [...forUsers, watched.section]);
	await writeBetweenMarks(MAINTAINERS_PAGE, machine, forMaintainers);
}

/** Runs everything once, so that just-in-time compilation does not slow down the first case. */
async function warmUp(readers: Readers, platforms: Platforms): Promise<void> {
	await platforms.setLatency(0);
	for (const tls of [false, true]) {
		for (const { name, contender } of ways) {
			tell(`warming up · ${name}`);
			await readers.list(contender, platforms.of(1_000, tls));
			if (contender.kind !== 'http request') await readers.list(contender, platforms.of(10_000, tls));
		}
	}
	await readers.get({ kind: 'node' }, platforms.of(1_000, false));
}

/** Returns the machine and the versions as a list in Markdown. */
async function machineWords(): Promise<string> {
	const { name, version } = await readManifest(checkout);
	const processor = cpus()[0]?.model.trim() ?? 'unknown';
	const versions = [
		`${name} ${version}`,
		`n8n-core ${await versionOf('n8n-core')}`,
		`undici ${await versionOf('undici')}`,
		`Node.js ${process.versions.node}`,
	];
	return `- Machine: ${cpus().length} × ${processor}, ${Math.round(totalmem() / 1024 ** 3)} GB, ${process.platform} ${process.arch}
- Versions: ${versions.join(', ')}
- This node: ${count(defaults.pageSize)} devices per page and ${defaults.parallel} parallel requests by default, with the output _Simplified_
`;
}

async function versionOf(dependency: string): Promise<string> {
	const manifest: unknown = JSON.parse(
		await readFile(join(checkout, 'node_modules', dependency, 'package.json'), 'utf8'),
	);
	return z.object({ version: z.string() }).parse(manifest).version;
}
