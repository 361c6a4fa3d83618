/** What docs/maintainers/releasing.md says of the workflow files. `npm run lint` reads them with GitHub's own parser. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { globSync } from 'tinyglobby';
import { parse } from 'yaml';
import { z } from 'zod/v4';

import { checkout } from '../../testbed/checkout.mts';

const read = (file: string) => readFileSync(join(checkout, file), 'utf8');
const { scripts } = z.object({ scripts: z.looseObject({}) }).parse(JSON.parse(read('package.json')));
const found = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, group = '']) => group);

/** Whether a developer can run the same command: a script of package.json, or a file of this repository. */
function isKnown(command: string): boolean {
	const [, script = ''] = /^npm run ([\w:-]+)(?: -- .*)?$/.exec(command) ?? [];
	const [, file] = /^(?:bash|node) ([\w./-]+)(?: .*)?$/.exec(command) ?? [];
	return command === 'npm ci' || script in scripts || (file !== undefined && existsSync(join(checkout, file)));
}

const files = globSync(['.github/workflows/*', '.github/actions/*/*'], { cwd: checkout });

test.each(files)('%s pins actions by commit, uses no cache, keeps no credentials, and runs known commands', (file) => {
	const text = read(file);
	const isPinned = (name: string) => /^(\.\/.*|[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+)$/.test(name);
	expect(found(text, /\buses: *(.*)$/gm).filter((name) => !isPinned(name))).toEqual([]);
	expect(found(text, /\brun: *(.*)$/gm).filter((command) => !isKnown(command))).toEqual([]);
	expect(text).not.toMatch(/actions\/cache|^ +cache:|secrets\.|_TOKEN/m);
	expect(found(text, /(persist-credentials: false)/g)).toHaveLength(found(text, /(actions\/checkout@)/g).length);
	if (!file.includes('actions/')) expect(text).toMatch(/^permissions:( \{\}|\n  contents: read)\n\n/m);
});

const releaseSchema = z.object({
	jobs: z.record(
		z.string(),
		z.object({
			permissions: z.record(z.string(), z.string()),
			steps: z.array(z.object({ run: z.string().optional() })).optional(),
		}),
	),
});

test('Dependabot waits 14 days', () => {
	const text = read('.github/dependabot.yml');
	const days = found(text, /default-days: (\d+)/g);
	expect(days).toEqual(found(text, /(package-ecosystem)/g).map(() => '14'));
});

test('only the job that publishes may sign, and it runs no code of packages', () => {
	const { jobs } = releaseSchema.parse(parse(read('.github/workflows/release.yml')));
	const signing = Object.entries(jobs).filter(([, { permissions }]) => permissions['id-token'] === 'write');
	const commands = signing.map(([name, { steps = [] }]) => [name, steps.flatMap(({ run }) => run ?? [])]);
	const publish = 'node scripts/release/publish.mjs ".cache/built/$FILE" "$CHECKSUM"';
	expect(commands).toEqual([['publish', [publish]]]);
});
