import { execFileSync } from 'node:child_process';
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { buildVersion } from '../../scripts/release/buildVersion.mts';
import { checkout, readManifest } from '../../testbed/checkout.mts';
import { removing } from '../../testbed/removing.mts';

const fixture = join(checkout, 'test/testbed/engine/fixturePackage');
let folder: string;
let version: string;
let named: string;

beforeEach(async () => {
	folder = mkdtempSync(join(tmpdir(), 'clone-'));
	cpSync(fixture, folder, { recursive: true });
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

function change(path: string): void {
	mkdirSync(dirname(join(folder, path)), { recursive: true });
	appendFileSync(join(folder, path), '\n');
}

it.each([
	['the commit, also beside new files that do not ship', 'notes.txt', ''],
	['a change of package.json', 'package.json', '.dirty'],
	['a new file of the nodes', 'nodes/New.ts', '.dirty'],
	['a new icon', 'icons/new.svg', '.dirty'],
])('the version of a build names %s', async (_, path, end) => {
	change(path);
	expect(await buildVersion(folder)).toBe(`${named}${end}`);
});

it('the version of a build is the one in package.json on a commit with its tag, unless a file differs', async () => {
	git('tag', `v${version}`);
	const tagged = await buildVersion(folder);
	change('nodes/New.ts');
	expect([tagged, await buildVersion(folder)]).toEqual([version, `${named}.dirty`]);
});

it('inside another repository and without git there is none, but a way to pack without a commit', async () => {
	rmSync(join(folder, '.git'), removing);
	for (const place of [fixture, folder]) {
		await expect(buildVersion(place)).rejects.toThrow('npm run build && npm pack');
	}
});
