/**
 * `npm run bench`: measures how fast fleets are read, in n8n's engine with embedded platforms. All contenders run in turns in the
 * same run. Compare the ratios, not the times.
 */
import { Command } from 'commander';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { z } from 'zod/v4';
import { compareWithBefore } from './bench/before.mts';
import { Readers } from './bench/contenders.mts';
import { listsSection, measureLists, SIZES, targetsSection, ways } from './bench/lists.mts';
import { type Platforms, startPlatforms } from './bench/platforms.mts';
import { measurePolls, pollsSection } from './bench/polls.mts';
import { machine, print, tell } from './bench/report.mts';
import { checkout, readManifest } from '../testbed/checkout.mts';
import { performanceFigures, writeBetweenMarks } from './figures.mts';
import { positive } from './flags.mts';

const flags = new Command('npm run bench --')
	.description("Measures how fast fleets are read, against n8n's HTTP Request node and n8n's bare request helper.")
	.option('--runs <number>', 'most runs of each case; the tables show the median', positive, 5)
	.option('--quick', 'leaves HTTP Request out, which takes half of the time', false)
	.option('--before <folder>', 'compares only with another checkout of this package, which must be built')
	.option('--write', 'writes the tables into the docs, and the figures of charts', false)
	.addHelpText('after', '\nA full run takes about six minutes, --quick and --before three each.')
	.allowExcessArguments(false)
	.showHelpAfterError('--help lists the flags.')
	.parse()
	.opts<{ runs: number; quick: boolean; before?: string; write: boolean }>();

try {
	if (flags.write && (flags.quick || flags.before !== undefined)) {
		throw new Error('--write needs a full run: leave --quick and --before out.');
	}
	await bench();
} catch (error) {
	process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
	process.exitCode = 1;
}

async function bench(): Promise<void> {
	tell('starting the platforms');
	const platforms = await startPlatforms(SIZES);
	const readers = await Readers.load();
	const before = flags.before === undefined ? undefined : await Readers.load(resolve(flags.before));
	try {
		await warmUp(readers, platforms);
		if (before === undefined) await benchAll(readers, platforms);
		else {
			await warmUp(before, platforms);
			print(await compareWithBefore(readers, before, platforms, flags.runs));
		}
	} finally {
		await before?.close();
		await readers.close();
		platforms.stop();
	}
}

async function benchAll(readers: Readers, platforms: Platforms): Promise<void> {
	const lists = await measureLists(readers, platforms, flags);
	[listsSection(lists), targetsSection(lists)].forEach(print);
	const polls = await measurePolls(readers, platforms, flags.runs);
	print(pollsSection(polls));
	if (!flags.write) return;
	await performanceFigures.write({ lists, polls });
	await writeBetweenMarks('docs/maintainers/benchmark.md', await machineWords(), [
		listsSection(lists),
		targetsSection(lists),
		pollsSection(polls),
	]);
}

/** Runs everything once, so that just-in-time compilation does not slow down the first case. */
async function warmUp(readers: Readers, platforms: Platforms): Promise<void> {
	for (const { name, contender } of ways) {
		tell(`warming up · ${name}`);
		await readers.list(contender, platforms.of(1_000, { latencyMs: 0 }));
		if (contender.kind !== 'http request') await readers.list(contender, platforms.of(10_000, { tls: true }));
	}
	await readers.get(platforms.of(1_000, { latencyMs: 0 }));
}

/** Returns the machine and the versions as a list in Markdown. */
async function machineWords(): Promise<string> {
	const { name, version } = await readManifest(checkout);
	const engine = await readFile(join(checkout, 'node_modules/n8n-core/package.json'), 'utf8');
	return `- Machine: ${machine()}, ${process.platform} ${process.arch}
- Versions: ${name} ${version}, n8n-core ${z.object({ version: z.string() }).parse(JSON.parse(engine)).version}, Node.js ${process.versions.node}
`;
}
