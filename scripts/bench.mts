/**
 * Measures how fast fleets are read, in n8n's engine against embedded platforms: `npm run bench`. Everything that is
 * compared runs side by side in the same run; only the ratios mean anything.
 */
import { Command } from 'commander';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod/v4';
import { compareWithBefore } from './bench/before.mts';
import { compare, ways } from './bench/compare.mts';
import { defaults, Readers } from './bench/contenders.mts';
import { type Platforms, startPlatforms } from './bench/platforms.mts';
import { tell } from './bench/progress.mts';
import { asMarkdown, count, type Section } from './bench/report.mts';
import { watchFleets } from './bench/trigger.mts';
import { tune } from './bench/tune.mts';
import { checkout, readManifest } from '../testbed/checkout.mts';
import { positive } from './flags.mts';

const flags = new Command('npm run bench --')
	.description("Measures how fast fleets are read, against n8n's HTTP Request node and bare undici.")
	.option('--runs <number>', 'how often each case runs at most; the median counts', positive, 5)
	.option('--quick', 'only what the targets need, once or twice each (about five minutes)', false)
	.option('--before <folder>', 'compares with another checkout of this package, too, which has to be built')
	.option('--trigger', 'instead: polls of the trigger, beside what people do without it (about two minutes)', false)
	.option('--tune', 'instead: page sizes and parallel requests, to choose the defaults by', false)
	.option('--write <file>', 'writes the tables as Markdown, too')
	.addHelpText('after', '\nA full run takes ten to twenty minutes, --tune ten.')
	.allowExcessArguments(false)
	.showHelpAfterError('--help lists the flags.')
	.parse()
	.opts<{ runs: number; quick: boolean; before?: string; trigger: boolean; tune: boolean; write?: string }>();

try {
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
		const sections = flags.tune
			? await tune(readers, platforms, flags)
			: [
					...(flags.trigger ? [] : await compare(readers, platforms, flags)),
					...(flags.quick && !flags.trigger ? [] : [await watchFleets(readers, platforms, flags)]),
				];
		if (flags.before !== undefined) {
			const before = await Readers.load(resolve(flags.before));
			sections.push(await compareWithBefore(readers, before, platforms, flags));
			await before.close();
		}
		if (flags.write !== undefined) await write(resolve(flags.write), sections);
	} finally {
		await readers.close();
		platforms.stop();
	}
}

/** Lets the just-in-time compiler see everything once, so that the first case does not pay for it. */
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

async function write(file: string, sections: readonly Section[]): Promise<void> {
	const { name, version } = await readManifest(checkout);
	const processor = cpus()[0]?.model.trim() ?? 'unknown';
	const versions = [
		`${name} ${version}`,
		`n8n-core ${await versionOf('n8n-core')}`,
		`undici ${await versionOf('undici')}`,
		`Node.js ${process.versions.node}`,
	];
	const intro = `# Performance

Made by \`npm run bench -- --write docs/performance.md\`, which anyone can repeat. Everything in a table ran side by side in
one run, one case after the other in turns; the median counts. Only the ratios mean anything: the seconds are those of
one small, shared machine.

- Machine: ${cpus().length} × ${processor}, ${Math.round(totalmem() / 1024 ** 3)} GB, ${process.platform} ${process.arch}
- Versions: ${versions.join(', ')}
- This node: ${count(defaults.pageSize)} devices per page and ${defaults.parallel} requests at once by default, 'Output' = Simplified, compiled, in n8n's engine
- HTTP Request: n8n's own pagination helper with the options of the HTTP Request node and the same credential; one page
  after the other, on a new connection each, is how it works. It hands out pages; the Split Out node behind it is not
  counted
- undici: nothing but the requests and \`JSON.parse\`, on connections that are kept: the limit
- The platform is the embedded one, in a process of its own on the same machine. Its latency is a wait before each answer.
  Setting up a connection takes next to no time there; on a real network it takes a round trip, with TLS two or three,
  which this node and HTTP Request pay for each request and undici does not
`;
	await mkdir(dirname(file), { recursive: true });
	await writeFile(file, [intro, ...sections.map(asMarkdown)].join('\n'));
	process.stdout.write(`\nWritten to ${file}\n`);
}

async function versionOf(dependency: string): Promise<string> {
	const manifest: unknown = JSON.parse(
		await readFile(join(checkout, 'node_modules', dependency, 'package.json'), 'utf8'),
	);
	return z.object({ version: z.string() }).parse(manifest).version;
}
