/**
 * `npm run test:mutation`: checks that tests detect changes of the code. StrykerJS changes core, session and trigger in every way
 * that it knows, except texts. Each change runs the tests of the file's layer. It takes one or two hours on two processors, so
 * it is not part of `.ci/run`.
 */
import { Stryker } from '@stryker-mutator/core';
import { Command } from 'commander';
import { readFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { basename, join } from 'node:path/posix';
import { createRequire } from 'node:module';
import { glob } from 'tinyglobby';
import typescript from 'typescript';
import { checkout } from '../testbed/checkout.mts';

const shipped = 'nodes/DeviceManagement';
const jestConfig: object = createRequire(import.meta.url)('../jest.config.js');

/** Files that are changed, and the tests that must fail. */
const layers: ReadonlyArray<{ files: string[]; testsOf: (file: string) => string[] }> = [
	{ files: [`${shipped}/core/*.ts`], testsOf: (file) => [`test/core/${file}.test.mts`] },
	{ files: [`${shipped}/core/errors/*.ts`], testsOf: () => ['test/core/errors/*.test.mts'] },
	{ files: [`${shipped}/core/paging/*.ts`], testsOf: () => ['test/core/paging/*.test.mts'] },
	{ files: [`${shipped}/listSearch/scroll.ts`], testsOf: () => ['test/listSearch/scroll.test.mts'] },
	{ files: [`${shipped}/transport/waiting/*.ts`], testsOf: () => ['test/transport/waiting/*.test.mts'] },
	{
		files: ['session', 'account'].map((file) => `${shipped}/transport/auth/${file}.ts`),
		testsOf: () => ['session', 'account'].map((name) => `test/transport/auth/${name}.test.mts`),
	},
	{
		// The pure files of the trigger. Fixed and random sequences of polls prove most of their rules.
		files: [`${shipped}/trigger/compare/*.ts`, `${shipped}/trigger/state.ts`],
		testsOf: () => ['test/trigger/compare/*.test.mts', 'test/trigger/{state,stories,model.property}.test.mts'],
	},
];

/** Of all changes, the tests must detect so many. */
const LEAST_PERCENT = 90;

type Mutant = Awaited<ReturnType<Stryker['runMutationTest']>>[number];

const command = new Command('npm run test:mutation --')
	.description('Changes core, session and trigger in every way, and counts the changes that the tests detect.')
	.argument('[names...]', 'only files whose path holds one of these: retry, paging/')
	.parse();

const all: Mutant[] = [];
for (const { files, testsOf } of layers) {
	for (const file of (await glob(files, { cwd: checkout })).sort()) {
		if (command.args.length > 0 && !command.args.some((name) => file.includes(name))) continue;
		if (await holdsOnlyTypes(file)) continue;
		const mutants = await tryChanges(file, testsOf(basename(file, '.ts')));
		all.push(...mutants);
		await showSurvivors(file, mutants);
	}
}
const percent = (100 * all.filter(isNoticed).length) / all.length;
console.log(`\nAll: ${all.filter(isNoticed).length} of ${all.length} changes noticed, ${percent.toFixed(1)} %`);
process.exitCode = percent >= LEAST_PERCENT ? 0 : 1;

async function tryChanges(file: string, tests: string[]): Promise<Mutant[]> {
	console.log(`\n${file}`);
	const mutants = await new Stryker({
		configFile: 'scripts/mutation.config.json',
		mutate: [file],
		jest: { config: { ...jestConfig, testMatch: tests.map((test) => `<rootDir>/${test}`) } },
		concurrency: availableParallelism(),
		// Not in the checkout: n8n's lint would read the files of a stopped run.
		tempDirName: join(tmpdir(), 'mutation'),
	}).runMutationTest();
	// Types, and code that no test can run.
	return mutants.filter(({ status }) => status !== 'Ignored' && status !== 'CompileError');
}

/** Whether a file only has types: then there is nothing to change and no test. */
async function holdsOnlyTypes(file: string): Promise<boolean> {
	const source = await readFile(join(checkout, file), 'utf8');
	const { outputText } = typescript.transpileModule(source, {
		compilerOptions: { module: typescript.ModuleKind.ESNext, removeComments: true },
	});
	return outputText.trim() === 'export {};';
}

function isNoticed({ status }: Mutant): boolean {
	return status === 'Killed' || status === 'Timeout' || status === 'RuntimeError';
}

async function showSurvivors(file: string, mutants: readonly Mutant[]): Promise<void> {
	console.log(`  ${mutants.filter(isNoticed).length} of ${mutants.length} changes noticed`);
	const lines = (await readFile(join(checkout, file), 'utf8')).split('\n');
	for (const mutant of mutants.filter((mutant) => !isNoticed(mutant))) {
		const { start, end } = mutant.location;
		const line = lines[start.line - 1] ?? '';
		const changed = line.slice(start.column - 1, start.line === end.line ? end.column - 1 : undefined).trim();
		const reach = mutant.status === 'NoCoverage' ? ' (no test comes here)' : '';
		console.log(`  line ${start.line}: ${changed} → ${mutant.replacement ?? mutant.mutatorName}${reach}`);
	}
}
