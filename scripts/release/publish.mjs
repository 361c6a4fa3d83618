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

const [tarball, checksum, ...flags] = process.argv.slice(2);
const found = createHash('sha256').update(readFileSync(tarball)).digest('hex');
const file = basename(tarball);
if (found !== checksum) {
	console.error(`${file} has the checksum ${found}; the build job made ${checksum}.`);
	process.exit(1);
}
// A pre-release, like name-1.2.3-beta.1.tgz, goes to the tag `next`.
const tag = /-\d+\.\d+\.\d+-[^/]*\.tgz$/.test(file) ? 'next' : 'latest';
const options = ['--access', 'public', '--tag', tag, '--provenance', '--ignore-scripts', ...flags];
const command = ['stage', 'publish', `./${file}`, ...options];
console.log(`npm ${command.join(' ')}`);
const { status } = spawnSync('npm', command, {
	cwd: dirname(resolve(tarball)),
	stdio: ['ignore', 'inherit', 'inherit'],
	shell: process.platform === 'win32',
});
process.exit(status ?? 1);
