/** The flags for the user's platform and the sign-in. */
import password from '@inquirer/password';
import { type Command, InvalidArgumentError } from 'commander';
import { createInterface } from 'node:readline';

/** The user's platform, as the fields of the credential. */
export type Target = Record<string, string | boolean>;

export interface TargetFlags {
	baseUrl?: string;
	login?: string;
	/** True: the command asks for it. */
	apiKey?: string | true;
	set?: Target;
	ignoreSsl?: true;
}

/** Adds the flags to a command. */
export function addTargetFlags(program: Command): Command {
	return program
		.option(
			'--base-url <address>',
			'your own platform: the part of its addresses before /api; nothing on it is changed',
		)
		.option(
			'--login <name>',
			'sign in with a login; its password is asked for, or taken from DEVICE_MANAGEMENT_PASSWORD',
		)
		.option(
			'--api-key [key]',
			"sign in with an API key; asked for when it is left out here, or taken from DEVICE_MANAGEMENT_API_KEY (a key given here stays in your shell's history)",
		)
		.option('--set <field=value>', 'any other field of the credential, like apiKeyName=X-API-Key', readField)
		.option('--ignore-ssl', 'accept a certificate that is not trusted')
		.addHelpText('after', '\nWithout a terminal, the password or the key is read from standard input, one line.');
}

/** Reads the flags and asks for a secret that is missing. Ends the process with a message if flags contradict each other. */
export async function readTarget(program: Command, baseUrl: string): Promise<Target> {
	const flags = program.opts<TargetFlags>();
	const allowUnauthorizedCerts = flags.ignoreSsl ?? false;
	return { ...flags.set, baseUrl, allowUnauthorizedCerts, ...(await readSignIn(program, flags)) };
}

/** Returns the flags for the fields in a message about the credential, one per line. Messages name fields by their labels. */
export function flagsFor(words: string): string {
	const flags: readonly (readonly [string, string])[] = [
		["'Base URL'", '--base-url'],
		["'API Key'", '--api-key'],
		["'Login Name'", '--login'],
		["'Ignore SSL Issues (Insecure)'", '--ignore-ssl'],
	];
	return flags
		.filter(([label]) => words.includes(label))
		.map(([label, flag]) => `Here, ${label} is ${flag}.\n`)
		.join('');
}

function readField(pair: string, others: Target = {}): Target {
	const [, field, value] = /^(\w+)=(.*)$/s.exec(pair) ?? [];
	if (field !== undefined && value !== undefined) return { customSignIn: true, ...others, [field]: value };
	throw new InvalidArgumentError('Enter <field>=<value>, like apiKeyName=X-API-Key.');
}

async function readSignIn(program: Command, { login, apiKey }: TargetFlags): Promise<Target> {
	if (login !== undefined && apiKey !== undefined) program.error('Use --login or --api-key, not both.');
	if (login !== undefined) {
		const known = process.env['DEVICE_MANAGEMENT_PASSWORD'] ?? '';
		const secret = known === '' ? await ask(program, `Password of ${login}`) : known;
		return { authentication: 'login', loginName: login, password: secret };
	}
	const fromEnvironment = process.env['DEVICE_MANAGEMENT_API_KEY'] ?? '';
	if (apiKey === undefined && fromEnvironment === '') {
		program.error('--base-url needs a way to sign in: --login <name> or --api-key.');
	}
	if (typeof apiKey === 'string' && apiKey !== '') return { authentication: 'apiKey', apiKey };
	return { authentication: 'apiKey', apiKey: fromEnvironment || (await ask(program, 'API key')) };
}

/** Asks without showing the input. Without a terminal, it reads a line of standard input. */
async function ask(program: Command, what: string): Promise<string> {
	const { isTTY } = process.stdin;
	// The prompt uses standard error, so that standard output only has the result.
	const secret = isTTY
		? await password({ message: `${what}:`, mask: false }, { output: process.stderr })
		: await firstLine();
	if (secret !== '') return secret;
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
