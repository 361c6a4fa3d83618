import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { disagreements, keepChecksum } from '../../scripts/release/tarball.mts';
import { checkout } from '../../testbed/checkout.mts';

const folder = mkdtempSync(join(tmpdir(), 'packs-'));
const CHECKSUM_OF_NOTHING = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
const inFolder = (name: string) => join(folder, name);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const changelog = '# Changelog\n\n## 1.2.3 — 2026-11-22\n\nText.\n\n## 1.2.2 — 2026-10-01\n';

it.each([
	['the tag, the version and a dated section', '1.2.3', 'v1.2.3', changelog, /^$/],
	['another tag', '1.2.3', 'v1.2.4', changelog, /^The tag is v1.2.4/],
	['a section that is not first', '1.2.2', 'v1.2.2', changelog, /expected 1.2.2/],
	['no date yet', '1.2.3', 'v1.2.3', changelog.replace('2026-11-22', 'unreleased'), /expected 1.2.3/],
	['a day that is none', '1.2.3', 'v1.2.3', changelog.replace('2026-11-22', '2026-13-22'), /expected 1.2.3/],
])('before a release, %s is judged', (_, version, tag, text, words) => {
	expect(disagreements(version, tag, text).join('\n')).toMatch(words);
});

it('a tarball is staged for the tag of its version, and only with the checksum that it had when it was built', () => {
	const stage = (file: string, content: string) => {
		writeFileSync(inFolder(file), content);
		const args = [join(checkout, 'scripts/release/publish.mjs'), inFolder(file), CHECKSUM_OF_NOTHING];
		// There is no npm in this folder.
		return spawnSync(process.execPath, args, { encoding: 'utf8', env: { ...process.env, PATH: folder } }).stdout;
	};
	const flags = (tag: string) => `--access public --tag ${tag} --provenance --ignore-scripts\n`;
	expect(stage('x-1.2.3.tgz', '')).toBe(`npm stage publish ./x-1.2.3.tgz ${flags('latest')}`);
	expect(stage('x-1.2.3-beta.1.tgz', '')).toBe(`npm stage publish ./x-1.2.3-beta.1.tgz ${flags('next')}`);
	expect(stage('x-1.2.3.tgz', 'another one')).toBe('');
});

it('the next job gets the name and the checksum of the tarball, as sha256sum prints them', async () => {
	writeFileSync(inFolder('x-1.2.3.tgz'), '');
	process.env['GITHUB_OUTPUT'] = inFolder('output');
	await keepChecksum(inFolder('x-1.2.3.tgz')).finally(() => delete process.env['GITHUB_OUTPUT']);
	expect(readFileSync(inFolder('output'), 'utf8')).toBe(`file=x-1.2.3.tgz\nchecksum=${CHECKSUM_OF_NOTHING}\n`);
	expect(readFileSync(inFolder('SHA256SUMS'), 'utf8')).toBe(`${CHECKSUM_OF_NOTHING}  x-1.2.3.tgz\n`);
});
