import password from '@inquirer/password';
import { Command, InvalidArgumentError } from 'commander';
import { createInterface } from 'node:readline';

import { whole } from '../flags.mts';

/** A platform of the user's own, as the fields of the credential. */
export type Target = Record<string, string | boolean>;

export interface Options {
	/** Undefined: the embedded platform. */
	target: Target | undefined;
	limit: number | undefined;
}

interface Flags {
	baseUrl?: string;
	login?: string;
	/** True: it is to be asked for. */
	apiKey?: string | true;
	set?: Target;
	ignoreSsl?: true;
	limit?: number;
}

/** Reads the command line, and asks for the secret that is not on it. Ends the process with words for what can't be meant. */
export async function readOptions(args: readonly string[]): Promise<Options> {
	const program = new Command('npm run demo --')
		.description("Runs a workflow in n8n's engine that lists, counts and reads devices, of an embedded platform or of your own.")
		.option('--base-url <address>', "your own platform: what stands before /api in its addresses; nothing on it is changed")
		.option('--login <name>', 'sign in with a login; its password is asked for')
		.option(
			'--api-key [key]',
			"sign in with an API key; asked for when it is left out here, or taken from DEVICE_MANAGEMENT_API_KEY (a key given here stays in your shell's history)",
		)
		.option('--set <field=value>', 'any other field of the credential, like apiKeyName=X-API-Key', readField)
		.option('--ignore-ssl', 'accept a certificate that is not trusted')
		.option('--limit <number>', 'list the first so many devices, and show them all', readLimit)
		.addHelpText('after', '\nWithout a terminal, the password or the key is read from standard input, one line.')
		.allowExcessArguments(false)
		.showHelpAfterError('--help lists the flags.')
		.parse(args, { from: 'user' });
	const flags = program.opts<Flags>();
	const { baseUrl, limit } = flags;
	if (baseUrl === undefined) {
		const stray = program.options.find((option) => option.attributeName() !== 'limit' && option.attributeName() in flags);
		if (stray !== undefined) program.error(`${stray.long} needs --base-url: the address of your platform.`);
		return { target: undefined, limit };
	}
	const allowUnauthorizedCerts = flags.ignoreSsl ?? false;
	return { target: { ...flags.set, baseUrl, allowUnauthorizedCerts, ...(await readSignIn(program, flags)) }, limit };
}

function readLimit(text: string): number {
	const limit = whole(text);
	if (limit > 0) return limit;
	throw new InvalidArgumentError('It takes a whole number from 1.');
}

function readField(pair: string, others: Target = {}): Target {
	const [, field, value] = /^(\w+)=(.*)$/s.exec(pair) ?? [];
	if (field !== undefined && value !== undefined) return { ...others, [field]: value };
	throw new InvalidArgumentError('It takes <field>=<value>, like apiKeyName=X-API-Key.');
}

async function readSignIn(program: Command, { login, apiKey }: Flags): Promise<Target> {
	if (login !== undefined && apiKey !== undefined) program.error('Give --login or --api-key, not both.');
	if (login !== undefined) {
		return { authentication: 'login', loginName: login, password: await ask(program, `Password of ${login}`) };
	}
	const fromEnvironment = process.env['DEVICE_MANAGEMENT_API_KEY'] ?? '';
	if (apiKey === undefined && fromEnvironment === '') {
		program.error('--base-url needs a way to sign in: --login <name> or --api-key.');
	}
	if (typeof apiKey === 'string' && apiKey !== '') return { authentication: 'apiKey', apiKey };
	return { authentication: 'apiKey', apiKey: fromEnvironment || (await ask(program, 'API key')) };
}

/** Asks without showing what is typed; without a terminal, takes a line of standard input. */
async function ask(program: Command, what: string): Promise<string> {
	const { isTTY } = process.stdin;
	const answer = isTTY ? await password({ message: `${what}:`, mask: false }) : await firstLine();
	if (answer !== '') return answer;
	return program.error(
		isTTY
			? `${what}: nothing was entered.`
			: `${what}: there is no terminal to ask on, and standard input has no line. Send it there.`,
	);
}

async function firstLine(): Promise<string> {
	const lines = createInterface({ input: process.stdin });
	for await (const line of lines) return line;
	return '';
}
