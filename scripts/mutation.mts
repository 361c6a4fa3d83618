/**
 * `npm run test:mutation`: checks that tests detect changes of the code. StrykerJS changes core, session and trigger in every way
 * that it knows, except texts. Each change runs the tests of the file's layer. It takes one or two hours on two processors, so
 * it is not part of `.ci/run`.
 */
import { Stryker } from '@stryker-mutator/core';
import { Command } from 'commander';
import { availableParallelism, tmpdir } from 'node:os';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path/posix';
import { glob } from 'tinyglobby';
import { checkout } from '../testbed/checkout.mts';

const jestConfig: object = createRequire(import.meta.url)('../jest.config.js');

/** Files below nodes/DeviceManagement that are changed, and tests below test/ that must fail. FILE is the name of the changed file. */
const layers = [
	['core/*', 'core/FILE'],
	['core/errors/*', 'core/errors/*'],
	['core/paging/*', 'core/paging/*'],
	['transport/waiting/*', 'transport/waiting/*'],
	['transport/auth/{session,account}', 'transport/auth/{session,account}'],
	// The pure files of the trigger. Fixed and random sequences of polls prove most of their rules.
	['trigger/{compare/*,state}', 'trigger/{compare/*,state,stories,model.property}'],
] as const;

/** Of all changes, the tests must detect so many. */
const LEAST_PERCENT = 90;

const { args: names } = new Command('npm run test:mutation --')
	.description('Changes core, session and trigger in every way, and lists the changes that no test detects.')
	.argument('[names...]', 'only files whose path holds one of these: retry, paging/')
	.parse();

const statuses: string[] = [];
for (const [files, tests] of layers) {
	const found = await glob(`nodes/DeviceManagement/${files}.ts`, { cwd: checkout });
	for (const file of found.sort()) {
		if (names.length > 0 && !names.some((name) => file.includes(name))) continue;
		const testMatch = [`<rootDir>/test/${tests.replace('FILE', basename(file, '.ts'))}.test.mts`];
		const mutants = await new Stryker({
			configFile: 'scripts/mutation.config.json',
			mutate: [file],
			jest: { config: { ...jestConfig, testMatch } },
			concurrency: availableParallelism(),
			// Not in the checkout: n8n's lint would read the files of a stopped run.
			tempDirName: join(tmpdir(), 'mutation'),
			// A file that only has types needs no test.
			allowEmpty: true,
		}).runMutationTest();
		statuses.push(...mutants.map(({ status }) => status));
	}
}
const missed = statuses.filter((status) => status === 'Survived' || status === 'NoCoverage').length;
const detected = statuses.filter((status) => ['Killed', 'Timeout', 'RuntimeError'].includes(status)).length;
const percent = (100 * detected) / (detected + missed);
console.log(`\nAll: ${detected} of ${detected + missed} changes detected, ${percent.toFixed(1)} %`);
process.exitCode = percent >= LEAST_PERCENT ? 0 : 1;
