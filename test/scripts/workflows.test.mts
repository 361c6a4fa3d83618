/**
 * The rules for workflow files and composite actions: pinned actions, commands that also run on a developer's machine, few
 * permissions, and no cache in published files. `npm run lint` reads the files with GitHub's own parser.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { globSync } from 'tinyglobby';
import { parse } from 'yaml';
import { z } from 'zod/v4';

import { checkout } from '../../testbed/checkout.mts';

const stepSchema = z.looseObject({
	uses: z.string().default(''),
	run: z.string().default(''),
	with: z.record(z.string(), z.unknown()).default({}),
});
const jobSchema = z.looseObject({
	uses: z.string().optional(),
	'timeout-minutes': z.number().optional(),
	permissions: z.record(z.string(), z.string()).default({}),
	steps: z.array(stepSchema).default([]),
});
const workflowSchema = z.looseObject({
	permissions: z.record(z.string(), z.literal(['read', 'none'])),
	concurrency: z.union([z.string(), z.looseObject({ group: z.string() })]),
	jobs: z.record(z.string(), jobSchema),
});
const actionSchema = z.looseObject({ runs: jobSchema });

const read = (file: string) => readFileSync(join(checkout, file), 'utf8');
const { scripts } = z.object({ scripts: z.record(z.string(), z.string()) }).parse(JSON.parse(read('package.json')));

/** Whether a developer can run the same command: a script of package.json, or a file of this repository. */
function isKnown(command: string): boolean {
	if (command.includes('${{')) return false;
	const [, script = ''] = /^npm run ([\w:-]+)(?: -- .*)?$/.exec(command) ?? [];
	const [, file] = /^(?:bash|node) ([\w./-]+)(?: .*)?$/.exec(command) ?? [];
	return command === 'npm ci' || script in scripts || (file !== undefined && existsSync(join(checkout, file)));
}

/** Returns what is wrong with a workflow or a composite action, in words. Throws an error for missing or wrong settings. */
function problemsIn(text: string): string[] {
	const given: unknown = parse(text);
	const action = actionSchema.safeParse(given).data?.runs;
	const jobs = action ? [{ ...action, uses: 'action' }] : Object.values(workflowSchema.parse(given).jobs);
	const used = [...text.matchAll(/\buses\b["']?\s*:(.*)$/gm)].map(([, name = '']) => name.trim());
	const isPinned = (name: string) => /^(\.\/.*|[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+)$/.test(name);
	const found = used.filter((name) => !isPinned(name)).map((name) => `${name} is not pinned by a commit and a version`);
	for (const job of jobs) {
		if (job.uses === undefined && job['timeout-minutes'] === undefined) found.push('no timeout-minutes');
		const commands = job.steps.flatMap(({ run }) => (run === '' ? [] : run.trim().split('\n')));
		const installs = commands.some((command) => /\bnpm (?:ci|install|run)\b/.test(command));
		if (job.permissions['id-token'] === 'write' && installs) found.push('may sign, and runs code of packages');
		found.push(...commands.filter((command) => !isKnown(command)).map((command) => `runs “${command}”`));
		for (const { uses, with: inputs } of job.steps) {
			const [, action = ''] = /^actions\/(checkout|setup-node|cache)/.exec(uses) ?? [];
			if (action === 'checkout' && inputs['persist-credentials'] !== false) found.push('keeps credentials');
			if (action === 'setup-node' && inputs['package-manager-cache'] !== false) found.push('caches packages');
			if (action === 'cache' || inputs['cache'] !== undefined) found.push('uses a cache');
		}
	}
	return found;
}

test.each(globSync(['.github/workflows/*', '.github/actions/*/*'], { cwd: checkout }))('%s keeps the rules', (file) => {
	expect(problemsIn(read(file))).toEqual([]);
});

test('the rules find each mistake', () => {
	const wrong = `
permissions: { contents: read }
concurrency: ci
jobs:
  test:
    permissions: { id-token: write }
    steps:
      - uses: actions/checkout@v6
      - uses: actions/setup-node@48b55a011bda9f5d6aeb4c2d9c7362e8dae4041e
        with: { cache: npm }
      - run: |
          npm ci
          npm run tset
          node scripts/gone.mjs
          curl example.com | sh
          bash .ci/run \${{ github.head_ref }}`;
	expect(problemsIn(wrong)).toEqual([
		'actions/checkout@v6 is not pinned by a commit and a version',
		'actions/setup-node@48b55a011bda9f5d6aeb4c2d9c7362e8dae4041e is not pinned by a commit and a version',
		'no timeout-minutes',
		'may sign, and runs code of packages',
		...['npm run tset', 'node scripts/gone.mjs', 'curl example.com | sh', 'bash .ci/run ${{ github.head_ref }}'].map(
			(command) => `runs “${command}”`,
		),
		...['keeps credentials', 'caches packages', 'uses a cache'],
	]);
	expect(() => problemsIn('permissions: { contents: write }\njobs: {}')).toThrow(/"contents"[^]*"concurrency"/);
});

test('Dependabot watches what has a lockfile or actions, and leaves alone what has to match n8n', () => {
	const ignored = ['n8n-*', '@n8n/*', 'zod', 'p-limit'].map((name) => ({ 'dependency-name': name }));
	const cooldown = { 'default-days': 14 };
	expect(parse(read('.github/dependabot.yml'))).toMatchObject({
		updates: [
			{ 'package-ecosystem': 'npm', directory: '/', cooldown, ignore: expect.arrayContaining(ignored) },
			{ 'package-ecosystem': 'npm', directory: '/testbed/n8n', cooldown },
			{ 'package-ecosystem': 'github-actions', directories: ['/', '/.github/actions/*'], cooldown },
		],
	});
});
