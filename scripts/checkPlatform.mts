/**
 * `npm run check-platform -- --base-url …`: finds out what a platform offers and what that means for the nodes. It only
 * reads, signs in once, and sends at most 40 requests through the package's own transport, inside n8n's engine.
 */
import { Command } from 'commander';

import { checkout, readManifest } from '../testbed/checkout.mts';
import { createEngine } from '../testbed/engine/engine.mts';
import { checkPlatform } from './checkPlatform/check.mts';
import { MOST_REQUESTS } from './checkPlatform/probe.mts';
import { asJson, asTable, verdictOn } from './checkPlatform/report.mts';
import { step, stopOnCtrlC, STOPPED } from './demo/step.mts';
import { plain } from './demo/tables.mts';
import { addTargetFlags, flagsFor, readTarget, type TargetFlags } from './target.mts';

const program = addTargetFlags(
	new Command('npm run check-platform --').description(
		`Checks what your platform offers, and says what that means for the nodes. It only reads, signs in once and sends at most ${MOST_REQUESTS} requests.`,
	),
)
	.option('--json', 'print the result as JSON')
	.addHelpText('after', '\nExit code: 0 works, 1 something essential is missing, 2 not sure.')
	.allowExcessArguments(false)
	.showHelpAfterError('--help lists the flags.')
	.parse();

stopOnCtrlC();
try {
	await run(program.opts());
} catch (error) {
	process.exitCode = explain(error);
}

async function run({ baseUrl, json }: TargetFlags & { json?: true }): Promise<void> {
	if (baseUrl === undefined) return program.error('--base-url is missing: the address of your platform.');
	const target = await readTarget(program, baseUrl);
	const check = async (task: { title: string; output: string }) => {
		const engine = await createEngine({ packageDirectory: checkout, fromSources: true });
		try {
			const say = (name: string, sent: number) => {
				task.title = 'Checking the platform';
				task.output = `${name} (${sent} of at most ${MOST_REQUESTS} requests so far)`;
			};
			const result = await checkPlatform(engine, target, { say });
			task.title = 'Checked the platform';
			return result;
		} finally {
			await engine.close();
		}
	};
	const result = await step("Loading the package into n8n's engine", check, 'stderr');
	const { name, version } = await readManifest(checkout);
	const report = { package: `${name} ${version}`, ...result };
	// The width without a terminal.
	const width = process.stdout.isTTY ? process.stdout.columns : 120;
	process.stdout.write(`${json === true ? asJson(report) : `\n${asTable(report, width)}`}\n`);
	process.exitCode = verdictOn(result.rows).exitCode;
}

/** Prints why there is no result. Returns the exit code. */
function explain(error: unknown): number {
	// Thrown by the password prompt on Ctrl-C.
	if (error instanceof Error && error.name === 'ExitPromptError') {
		process.stderr.write('\nStopped.\n');
		return STOPPED;
	}
	// The progress display has shown the message.
	const { message, details } = Object(error);
	const remedy = plain(String(details?.remedy ?? message));
	process.stderr.write(`\n${remedy}\n${flagsFor(`${message} ${remedy}`)}`);
	return 1;
}
