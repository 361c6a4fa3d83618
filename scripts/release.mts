/**
 * `npm run release -- --dry-run`: runs all steps of a release except publishing. The release workflow runs single steps with the
 * other flags. Only the workflow publishes, because a version that a person publishes has no provenance.
 */
import { Command } from 'commander';
import { execa } from 'execa';
import { readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';

import { checkout, readManifest } from '../testbed/checkout.mts';
import { inTemporaryFolder, packVersion } from '../testbed/pack.mts';
import { removing } from '../testbed/removing.mts';
import { checksumOf, disagreements, keepChecksum } from './release/tarball.mts';

const program = new Command('npm run release --')
	.description('Runs all steps of a release except publishing. A pushed tag publishes (docs/maintainers/releasing.md).')
	.option('--dry-run', 'all steps: checks, pack, pack again from a clean checkout, and a dry run of npm')
	.option('--pack', 'checks that tag, version and changelog agree, and packs into .cache/release')
	.option('--compare <tarball>', 'packs this checkout and compares it with a tarball of the same commit')
	.option('--tag <tag>', 'the tag of the release, like v1.2.3')
	.parse();
const options = program.opts<{ dryRun?: true; pack?: true; compare?: string; tag?: string }>();

const folder = join(checkout, '.cache', 'release');
const { version } = await readManifest(checkout);
try {
	if (options.compare !== undefined) await compare(options.compare);
	else if (options.pack) await pack();
	else if (options.dryRun) await rehearse();
	else program.help({ error: true });
} catch (error) {
	console.error(error instanceof Error ? error.message : error);
	process.exitCode = 1;
}

/** The build job: checks the versions, and writes the tarball with its checksum. */
async function pack(): Promise<void> {
	const found = await disagreementsNow();
	if (found.length > 0) throw new Error(found.join('\n'));
	await packWithChecksum();
}

async function packWithChecksum(): Promise<string> {
	await rm(folder, removing);
	const tarball = await packVersion(folder, version);
	console.log(`Packed ${tarball}\n${await keepChecksum(tarball)}`);
	return tarball;
}

/** The job that reproduces the tarball, in a clean checkout of the same commit. */
async function compare(tarball: string): Promise<void> {
	await inTemporaryFolder(async (temporary) => {
		const again = await packVersion(temporary, version);
		if ((await checksumOf(tarball)) !== (await checksumOf(again))) throw new Error('The second pack has other bytes.');
		console.log('Packed again: the same bytes.');
	});
}

/** Prints what is still missing for a release, and continues: a rehearsal comes before the tag. */
async function rehearse(): Promise<void> {
	const { stdout: changes } = await execa('git', ['status', '--porcelain'], { cwd: checkout });
	const open = await disagreementsNow();
	if (changes !== '') open.push('The checkout has uncommitted changes, which the second pack leaves out.');
	await shown('bash', ['.ci/run'], checkout);
	const tarball = await packWithChecksum();
	await inTemporaryFolder(async (temporary) => {
		// Only committed files, with their own install and build.
		const clone = join(temporary, 'checkout');
		await shown('git', ['clone', '--quiet', '--no-local', checkout, clone], temporary);
		await shown('npm', ['run', 'release', '--', '--compare', tarball], clone);
	});
	const publish = join(checkout, 'scripts', 'release', 'publish.mjs');
	await shown(process.execPath, [publish, tarball, await checksumOf(tarball), '--dry-run'], checkout);
	console.log(`\nRehearsed ${version}. Nothing was published.`);
	for (const line of open) console.log(`Still open: ${line}`);
}

async function shown(command: string, args: string[], cwd: string): Promise<void> {
	console.log(`\n━━ ${[basename(command), ...args].join(' ')}\n`);
	await execa(command, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'] });
}

async function disagreementsNow(): Promise<string[]> {
	const changelog = await readFile(join(checkout, 'CHANGELOG.md'), 'utf8');
	return disagreements(version, options.tag ?? `v${version}`, changelog);
}
