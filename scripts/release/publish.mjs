/**
 * Stages a tarball on npm, if it has the expected checksum. A maintainer approves it with a second factor. It builds and packs
 * nothing, and has no token: npm asks GitHub for an identity. Staging needs npm 11.15 or later.
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

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main(process.argv.slice(2));

function main([tarball, checksum, ...flags]) {
	const found = createHash('sha256').update(readFileSync(tarball)).digest('hex');
	if (found !== checksum) {
		console.error(`${basename(tarball)} has the checksum ${found}; the build job made ${checksum}.`);
		process.exit(1);
	}
	const command = [...publishCommand(basename(tarball)), ...flags];
	console.log(`npm ${command.join(' ')}`);
	const { status } = spawnSync('npm', command, {
		cwd: dirname(resolve(tarball)),
		stdio: ['ignore', 'inherit', 'inherit'],
		shell: process.platform === 'win32',
	});
	process.exit(status ?? 1);
}

/** Returns npm's arguments for a tarball like `name-1.2.3.tgz`. A pre-release goes to the tag `next`. */
export function publishCommand(file) {
	const tag = /-\d+\.\d+\.\d+-[^/]*\.tgz$/.test(file) ? 'next' : 'latest';
	return ['stage', 'publish', `./${file}`, '--access', 'public', '--tag', tag, '--provenance', '--ignore-scripts'];
}
