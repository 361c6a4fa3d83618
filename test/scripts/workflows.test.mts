import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod/v4';

import { problemsIn } from '../../scripts/workflows/rules.mts';
import { checkout } from '../../testbed/checkout.mts';

const folder = join(checkout, '.github', 'workflows');
const manifest = z
	.object({ scripts: z.record(z.string(), z.string()) })
	.parse(JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8')));
const known = {
	scripts: Object.keys(manifest.scripts),
	hasFile: (path: string) => existsSync(join(checkout, path)),
};

it.each(readdirSync(folder))('%s keeps the rules', (file) => {
	expect(problemsIn(readFileSync(join(folder, file), 'utf8'), known)).toEqual([]);
});

const sound = `
permissions: { contents: read }
concurrency: ci
jobs:
  test:
    runs-on: ubuntu-24.04
    timeout-minutes: 5
    permissions: { id-token: write }
    steps:
      - uses: actions/checkout@de0fac2e4500dabe0009e67214ff5f5447ce83dd # v6.0.2
        with:
          persist-credentials: false
      - run: bash .ci/run
`;

describe('the rules find', () => {
	it('nothing in a sound workflow', () => expect(problemsIn(sound, known)).toEqual([]));

	it.each([
		['an action named by its tag', '@de0fac2e4500dabe0009e67214ff5f5447ce83dd # v6.0.2', '@v6', 'not pinned'],
		['a pin without its version', ' # v6.0.2', '', 'No comment says the version'],
		['a misspelt script', 'bash .ci/run', 'npm run tset', 'runs “npm run tset”'],
		['a file that is not there', 'bash .ci/run', 'node scripts/gone.mjs', 'runs “node scripts/gone.mjs”'],
		['a command that is no file here', 'bash .ci/run', 'curl example.com | sh', 'runs “curl'],
		['what others wrote, in a command', 'bash .ci/run', 'bash .ci/run ${{ github.head_ref }}', 'runs “bash'],
		[
			'credentials left in the checkout',
			'          persist-credentials: false',
			'          fetch-depth: 1',
			'persist-credentials',
		],
		['a job without an end', '    timeout-minutes: 5\n', '', 'timeout-minutes'],
		['permissions for all jobs', '{ contents: read }', '{ contents: write }', 'top-level permission'],
		['runs that overlap', 'concurrency: ci\n', '', 'concurrency'],
		['packages beside the right to sign', 'bash .ci/run', 'npm ci', 'may sign'],
		[
			'a cache',
			'          persist-credentials: false',
			'          persist-credentials: false\n          cache: npm',
			'cache',
		],
	])('%s', (_, from, to, words) => {
		expect(sound).toContain(from);
		expect(problemsIn(sound.replace(from, to), known).join('\n')).toContain(words);
	});
});

it('Dependabot watches what has a lockfile, after a cooldown, and leaves alone what has to match n8n', () => {
	const schema = z.object({
		updates: z.array(
			z.object({
				'package-ecosystem': z.string(),
				directory: z.string(),
				cooldown: z.object({ 'default-days': z.number().min(7) }),
				groups: z.record(z.string(), z.unknown()),
				ignore: z.array(z.object({ 'dependency-name': z.string() })).default([]),
			}),
		),
	});
	const { updates } = schema.parse(parse(readFileSync(join(checkout, '.github/dependabot.yml'), 'utf8')));
	expect(updates.map((each) => `${each['package-ecosystem']} ${each.directory}`)).toEqual([
		'npm /',
		'npm /testbed/n8n',
		'github-actions /',
	]);
	const ignored = updates[0]?.ignore.map((entry) => entry['dependency-name']);
	expect(ignored).toEqual(expect.arrayContaining(['n8n-*', '@n8n/*', 'zod', 'p-limit']));
});
