import { Command } from 'commander';

import { positive } from '../flags.mts';
import { addTargetFlags, readTarget, type Target, type TargetFlags } from '../target.mts';

export interface Options {
	/** Undefined: the embedded platform. */
	target: Target | undefined;
	limit: number | undefined;
}

/** Reads the command line, and asks for a missing secret. Ends the process with a message for invalid flags. */
export async function readOptions(args: readonly string[]): Promise<Options> {
	const program = addTargetFlags(
		new Command('npm run demo --').description(
			"Runs a workflow in n8n's engine that lists, counts and reads devices, on an embedded platform or your own.",
		),
	)
		.option('--limit <number>', 'list so many devices, and show all of them', positive)
		.allowExcessArguments(false)
		.showHelpAfterError('--help lists the flags.')
		.parse(args, { from: 'user' });
	const flags = program.opts<TargetFlags & { limit?: number }>();
	const { baseUrl, limit } = flags;
	if (baseUrl !== undefined) return { target: await readTarget(program, baseUrl), limit };
	const stray = program.options.find((option) => option.attributeName() !== 'limit' && option.attributeName() in flags);
	if (stray !== undefined) program.error(`${stray.long} needs --base-url: the address of your platform.`);
	return { target: undefined, limit };
}
