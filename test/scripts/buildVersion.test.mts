import { execFileSync } from 'node:child_process';
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { buildVersion } from '../../scripts/release/buildVersion.mts';
import { checkout, readManifest } from '../../testbed/checkout.mts';
import { removing } from '../../testbed/removing.mts';

describe('the version of a build', () => {
	const fixture = join(checkout, 'test/testbed/engine/fixturePackage');
	const write = (path: string) => writeFileSync(join(folder, path), '// new');
	let folder: string;
	let version: string;
	let named: string;

	beforeEach(async () => {
		folder = mkdtempSync(join(tmpdir(), 'clone-'));
		cpSync(fixture, folder, { recursive: true });
		version = (await readManifest(folder)).version;
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

	it('names the commit, also beside new files that do not ship', async () => {
		write('notes.txt');
		expect(await buildVersion(folder)).toBe(named);
	});

	it.each(['package.json', 'nodes/Probe.node.js'])('ends with .dirty if %s differs', async (path) => {
		appendFileSync(join(folder, path), '\n');
		expect(await buildVersion(folder)).toBe(`${named}.dirty`);
	});

	it.each(['nodes', 'credentials', 'icons'])('ends with .dirty if %s has a new file', async (name) => {
		mkdirSync(join(folder, name), { recursive: true });
		write(`${name}/New.ts`);
		expect(await buildVersion(folder)).toBe(`${named}.dirty`);
	});

	it('is the one in package.json on a commit with its tag, unless a file differs', async () => {
		git('tag', `v${version}`);
		const tagged = await buildVersion(folder);
		write('nodes/New.ts');
		const changed = await buildVersion(folder);
		expect([tagged, changed]).toEqual([version, `${named}.dirty`]);
	});

	it('is refused inside another repository and without git, with the way to pack without a commit', async () => {
		rmSync(join(folder, '.git'), removing);
		for (const place of [fixture, folder]) {
			await expect(buildVersion(place)).rejects.toThrow('npm run build && npm pack');
		}
	});
});
