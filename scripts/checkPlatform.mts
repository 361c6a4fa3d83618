/**
 * `npm run check-platform -- --base-url …`: finds out what a platform offers and what that means for the nodes. It only
 * reads, and sends at most 40 requests through the package's own transport, inside n8n's engine.
 */
import { Command } from 'commander';

import { checkout, readManifest } from '../testbed/checkout.mts';
import { createEngine } from '../testbed/engine/engine.mts';
import { checkPlatform } from './checkPlatform/check.mts';
import { asJson, asTable, verdictOn } from './checkPlatform/report.mts';
import { readField, readTarget, type TargetFlags } from './checkPlatform/target.mts';
import { plain, step } from './terminal.mts';

const program = new Command('npm run check-platform --')
	.description(
		'Checks what your platform offers, and says what that means for the nodes. It only reads, and sends at most 40 requests.',
	)
	.requiredOption(
		'--base-url <address>',
		'your own platform: the part of its addresses before /api; nothing on it is changed',
	)
	.option('--login <name>', 'sign in with a login; its password is asked for')
	.option(
		'--api-key [key]',
		"sign in with an API key, which is asked for if it is left out here (a key given here stays in your shell's history)",
	)
	.option('--set <field=value>', 'any other field of the credential, like apiKeyName=X-API-Key', readField)
	.option('--ignore-ssl', 'accept a certificate that is not trusted')
	.option('--json', 'print the result as JSON')
	.addHelpText('after', '\nWithout a terminal, the password or the key is read from standard input, one line.')
	.addHelpText('after', '\nExit code: 0 works, 1 something essential is missing, 2 not sure.')
	.showHelpAfterError('--help lists the flags.')
	.parse();

try {
	await run(program.opts());
} catch (error) {
	process.exitCode = 1;
	// The progress display has shown the message.
	const { message, details } = Object(error);
	process.stderr.write(`\n${plain(String(details?.remedy ?? message))}\n`);
}

async function run({ json, ...flags }: TargetFlags & { json?: true }): Promise<void> {
	const target = await readTarget(program, flags);
	const engine = await step("Loading the package into n8n's engine", async () => await createEngine(true));
	const rows = await step('Checking the platform', async () => await checkPlatform(engine, target));
	const { name, version } = await readManifest(checkout);
	// The width without a terminal.
	const width = process.stdout.isTTY ? process.stdout.columns : 120;
	console.log(json === true ? asJson(rows, `${name} ${version}`) : `\n${asTable(rows, width)}`);
	process.exitCode = verdictOn(rows).exitCode;
}
