/**
 * Publishes a tarball to npm, if it has the expected checksum. With npm 11.15 or later it is staged: a maintainer
 * approves it with a second factor. It builds and packs nothing, and has no token: npm asks GitHub for an identity.
 *
 *     node scripts/release/publish.mjs <tarball> <sha256> [--dry-run]
 *
 * Plain JavaScript with Node's own modules, because the job that publishes installs no packages.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The first npm that has `npm stage`. */
const STAGING = [11, 15];
/** The first npm that signs in by a workflow's identity. */
const TRUSTED = [11, 5, 1];

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main(process.argv.slice(2));

function main(args) {
	const isDry = args.includes('--dry-run');
	const [tarball, checksum] = args.filter((argument) => !argument.startsWith('--'));
	if (tarball === undefined || checksum === undefined) stop('Usage: publish.mjs <tarball> <sha256> [--dry-run]');
	const found = createHash('sha256').update(readFileSync(tarball)).digest('hex');
	if (found !== checksum) stop(`${basename(tarball)} has the checksum ${found}; the build job made ${checksum}.`);
	const { stdout: npm } = npmWith(['--version'], 'pipe');
	const command = publishCommand(basename(tarball), npm.trim());
	if (command === undefined)
		stop(`npm ${npm.trim()} can't publish from a workflow without a token: ${TRUSTED.join('.')} can.`);
	console.log(`npm ${npm.trim()}: npm ${command.join(' ')}`);
	const { status } = npmWith(isDry ? [...command, '--dry-run'] : command, 'inherit', dirname(resolve(tarball)));
	process.exit(status ?? 1);
}

/**
 * @param file the tarball's name, like `name-1.2.3.tgz`; a pre-release goes to the tag `next`
 * @returns npm's arguments; undefined for an npm that is too old
 */
export function publishCommand(file, npmVersion) {
	if (!isAtLeast(npmVersion, TRUSTED)) return undefined;
	const command = isAtLeast(npmVersion, STAGING) ? ['stage', 'publish'] : ['publish'];
	const tag = /-\d+\.\d+\.\d+-[^/]*\.tgz$/.test(file) ? 'next' : 'latest';
	return [...command, `./${file}`, '--access', 'public', '--tag', tag, '--provenance', '--ignore-scripts'];
}

function isAtLeast(version, [...least]) {
	const parts = version.split('.').map((part) => Number.parseInt(part, 10));
	for (const [index, number] of least.entries()) {
		if (parts[index] !== number) return (parts[index] ?? 0) > number;
	}
	return true;
}

function npmWith(args, stdio, cwd) {
	return spawnSync('npm', args, {
		cwd,
		stdio: ['ignore', stdio, 'inherit'],
		encoding: 'utf8',
		shell: process.platform === 'win32',
	});
}

function stop(message) {
	console.error(message);
	process.exit(1);
}
