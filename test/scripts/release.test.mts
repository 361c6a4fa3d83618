import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';

import { disagreements } from '../../scripts/release/agreement.mts';
import { hasPassed } from '../../scripts/release/scannerOutput.mts';
import { checksumOf, differingFiles, packTo, sameness } from '../../scripts/release/tarball.mts';
import { checkout } from '../../testbed/checkout.mts';

describe('tag, version and changelog', () => {
	const changelog = '# Changelog\n\n## 1.2.3 — 2026-11-22\n\nText.\n\n## 1.2.2 — 2026-10-01\n';

	it('agree', () => {
		expect(disagreements('1.2.3', 'v1.2.3', changelog)).toEqual([]);
		expect(disagreements('1.2.3', 'v1.2.3', changelog.replaceAll('\n', '\r\n'))).toEqual([]);
	});

	it.each([
		['another tag', '1.2.3', 'v1.2.4', changelog, 'The tag is v1.2.4'],
		['a tag without v', '1.2.3', '1.2.3', changelog, 'The tag is 1.2.3'],
		['a section that is not first', '1.2.2', 'v1.2.2', changelog, 'expected 1.2.2'],
		['no date yet', '1.2.3', 'v1.2.3', changelog.replace('2026-11-22', 'unreleased'), 'has no date'],
		['a day that is none', '1.2.3', 'v1.2.3', changelog.replace('2026-11-22', '2026-13-22'), 'has no date'],
		['no section', '1.2.3', 'v1.2.3', '# Changelog\n', 'expected 1.2.3'],
		['two sections', '1.2.3', 'v1.2.3', `${changelog}\n## 1.2.3 — 2026-01-01\n`, 'two sections'],
	])('do not agree: %s', (_, version, tag, text, words) => {
		expect(disagreements(version, tag, text).join('\n')).toContain(words);
	});
});

describe('packs', () => {
	const folder = mkdtempSync(join(tmpdir(), 'packs-'));
	const inFolder = (name: string) => join(folder, name);
	afterAll(() => rmSync(folder, { recursive: true, force: true }));

	it('of one folder have the same bytes; a difference is named', async () => {
		cpSync(join(checkout, 'test/testbed/engine/fixturePackage'), inFolder('package'), { recursive: true });
		const one = await packTo(inFolder('one'), inFolder('package'));
		const other = await packTo(inFolder('other'), inFolder('package'));
		expect(await sameness(one, other)).toBe('bytes');
		expect(await checksumOf(one)).toBe(await checksumOf(other));

		writeFileSync(other, gzipSync(gunzipSync(readFileSync(one)), { level: 1 }));
		expect(await sameness(one, other)).toBe('content');
		expect(await differingFiles(one, other)).toEqual([]);

		writeFileSync(inFolder('package/nodes/Probe.node.js'), '// another');
		const changed = await packTo(inFolder('changed'), inFolder('package'));
		expect(await sameness(one, changed)).toBe('nothing');
		expect(await differingFiles(one, changed)).toEqual(['package/nodes/Probe.node.js']);
	});

	it('are published only with the checksum that they had when they were built', () => {
		const tarball = inFolder('n8n-nodes-x-1.2.3.tgz');
		writeFileSync(tarball, 'another one');
		const args = [join(checkout, 'scripts/release/publish.mjs'), tarball, '0'.repeat(64), '--dry-run'];
		const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
		expect([status, stderr]).toEqual([1, expect.stringContaining('the build job made 0000')]);
	});

	it('tell the next job their name and checksum', () => {
		const script = join(checkout, 'scripts/release/output.mjs');
		writeFileSync(inFolder('SHA256SUMS'), `${'a'.repeat(64)}  n8n-nodes-x-1.2.3.tgz\n`);
		const output = execFileSync(process.execPath, [script, inFolder('SHA256SUMS')], {
			encoding: 'utf8',
			env: { ...process.env, GITHUB_OUTPUT: inFolder('output') },
		});
		expect(output).toBe(`file=n8n-nodes-x-1.2.3.tgz\nchecksum=${'a'.repeat(64)}\n`);
		expect(readFileSync(inFolder('output'), 'utf8')).toBe(output);
	});
});

it('is staged where npm can, goes to its tag, and is refused by an npm that needs a token', () => {
	const file = pathToFileURL(join(checkout, 'scripts/release/publish.mjs')).href;
	const cases = [
		['x-1.2.3.tgz', '11.15.0'],
		['x-1.2.3-beta.1.tgz', '12.2.0'],
		['x-1.2.3.tgz', '11.14.9'],
		['x-1.2.3.tgz', '11.5.0'],
	];
	const script = `import { publishCommand } from ${JSON.stringify(file)};
		console.log(JSON.stringify(${JSON.stringify(cases)}.map((each) => publishCommand(...each) ?? null)))`;
	const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
	const flags = (tag: string) => ['--access', 'public', '--tag', tag, '--provenance', '--ignore-scripts'];
	expect(JSON.parse(output)).toEqual([
		['stage', 'publish', './x-1.2.3.tgz', ...flags('latest')],
		['stage', 'publish', './x-1.2.3-beta.1.tgz', ...flags('next')],
		['publish', './x-1.2.3.tgz', ...flags('latest')],
		null,
	]);
});

describe("the scanner's output", () => {
	const passed = '✅ Provenance check passed for p@1.2.3 \n✅ Package p@1.2.3 has passed all security checks\n';

	it.each([
		['passed', passed, true],
		['passed, another version', passed.replaceAll('1.2.3', '1.2.2'), false],
		['failed', '❌ Package p@1.2.3 has failed security checks\nReason: ESLint violations found\n', false],
		['passed with a failed check before', `❌ Provenance check failed for p@1.2.3\n${passed}`, false],
		['nothing', '', false],
		['an exception', 'Analysis failed: Error: getaddrinfo ENOTFOUND\n', false],
	])('%s', (_, output, expected) => {
		expect(hasPassed(output, 'p', '1.2.3')).toBe(expected);
	});
});
