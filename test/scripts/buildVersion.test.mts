import { execFileSync } from 'node:child_process';
import { appendFileSync, copyFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { buildVersion } from '../../scripts/release/buildVersion.mts';
import { checkout, readManifest } from '../../testbed/checkout.mts';
import { removing } from '../../testbed/removing.mts';

let folder: string;
let version: string;
let named: string;

beforeEach(async () => {
	folder = mkdtempSync(join(tmpdir(), 'clone-'));
	copyFileSync(join(checkout, 'package.json'), join(folder, 'package.json'));
	({ version } = await readManifest(folder));
	git('init', '--quiet');
	git('add', '.');
	git('-c', 'user.name=Test', '-c', 'user.email=', 'commit', '--quiet', '--no-gpg-sign', '--message', 'First');
	named = `${version}-dev.g${git('rev-parse', 'HEAD').slice(0, 12)}`;
});
afterEach(() => rmSync(folder, removing));

/** Names the folder, because the variable GIT_DIR of a hook would otherwise choose this checkout. */
function git(...args: string[]): string {
	const place = ['--git-dir', join(folder, '.git'), '--work-tree', folder];
	return execFileSync('git', [...place, ...args], { cwd: folder, encoding: 'utf8' });
}

it('the version of a build names the commit, and says if the clone has changes', async () => {
	const clean = await buildVersion(folder);
	writeFileSync(join(folder, 'new.ts'), '');
	expect([clean, await buildVersion(folder)]).toEqual([named, `${named}.dirty`]);
});

it('the version of a build is the one in package.json on a commit with its tag, unless a file differs', async () => {
	git('tag', `v${version}`);
	const tagged = await buildVersion(folder);
	appendFileSync(join(folder, 'package.json'), '\n');
	expect([tagged, await buildVersion(folder)]).toEqual([version, `${named}.dirty`]);
});

it('inside another repository and without git there is none, but a way to pack without a commit', async () => {
	const inner = join(folder, 'inner');
	mkdirSync(inner);
	renameSync(join(folder, 'package.json'), join(inner, 'package.json'));
	await expect(buildVersion(inner)).rejects.toThrow('npm run build && npm pack');
	rmSync(join(folder, '.git'), removing);
	await expect(buildVersion(inner)).rejects.toThrow('npm run build && npm pack');
});
