import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

import { problemsIn, problemsInAction } from '../../scripts/workflows/rules.mts';
import { checkout } from '../../testbed/checkout.mts';

// `npm run lint` applies the rules to the files.
const known = { scripts: ['test'], hasFile: (path: string) => path === '.ci/run' };
const step = '      - run: bash .ci/run\n';
const inputs = '          persist-credentials: false';
const sound = `
permissions: { contents: read }
concurrency: ci
jobs:
  test:
    timeout-minutes: 5
    permissions: { id-token: write }
    steps:
      - uses: actions/checkout@de0fac2e4500dabe0009e67214ff5f5447ce83dd # v6.0.2
        with:
${inputs}
${step}`;

it.each([
	['nothing in a sound workflow', '', '', /^$/],
	['an action named by its tag', '@de0fac2e4500dabe0009e67214ff5f5447ce83dd', '@v6', /not pinned/],
	['a pin without its version', ' # v6.0.2', '', /not pinned/],
	['a misspelt script', 'bash .ci/run', 'npm run tset', /runs “npm run tset”/],
	['a file that is not there', 'bash .ci/run', 'node scripts/gone.mjs', /runs “node scripts/],
	['a command that is no file here', 'bash .ci/run', 'curl example.com | sh', /runs “curl/],
	['what others wrote, in a command', 'bash .ci/run', 'bash .ci/run ${{ github.head_ref }}', /runs “bash/],
	['credentials left in the checkout', inputs, '          fetch-depth: 1', /persist-credentials/],
	['a job without an end', '    timeout-minutes: 5\n', '', /timeout-minutes/],
	['permissions for all jobs', '{ contents: read }', '{ contents: write }', /top-level permission/],
	['runs that overlap', 'concurrency: ci\n', '', /concurrency/],
	['packages beside the right to sign', 'bash .ci/run', 'npm ci', /may sign/],
	['a cache', inputs, `${inputs}\n          cache: npm`, /uses a cache/],
])('the rules for workflows find %s', (_, from, to, words) => {
	expect(sound).toContain(from);
	expect(problemsIn(sound.replace(from, to), known).join('\n')).toMatch(words);
});

it('the rules for actions find a tag, a cache and a command that is no file here', () => {
	const action = 'runs: { steps: [{ uses: actions/setup-node@v6 }, { run: curl example.com | sh }] }';
	const words = /not pinned.*\n.*package-manager-cache.*\n.*runs “curl/;
	expect(problemsInAction(action, known).join('\n')).toMatch(words);
});

it('Dependabot watches what has a lockfile or actions, and leaves alone what has to match n8n', () => {
	const ignored = ['n8n-*', '@n8n/*', 'zod', 'p-limit'].map((name) => ({ 'dependency-name': name }));
	const cooldown = { 'default-days': 14 };
	expect(parse(readFileSync(join(checkout, '.github/dependabot.yml'), 'utf8'))).toMatchObject({
		updates: [
			{ 'package-ecosystem': 'npm', directory: '/', cooldown, ignore: expect.arrayContaining(ignored) },
			{ 'package-ecosystem': 'npm', directory: '/testbed/n8n', cooldown },
			{ 'package-ecosystem': 'github-actions', directories: ['/', '/.github/actions/*'], cooldown },
		],
	});
});
