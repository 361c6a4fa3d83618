/** The user's platform and the sign-in, from the flags of the command. */
import { type Command, InvalidArgumentError } from 'commander';
import { createInterface } from 'node:readline';

/** The user's platform, as the fields of the credential. */
export type Target = Record<string, string | boolean>;

export interface TargetFlags {
	baseUrl: string;
	login?: string;
	/** True: the command asks for it. */
	apiKey?: string | true;
	set?: Target;
	ignoreSsl?: true;
}

/** Reads a field of the credential, and adds it to the others. */
export function readField(pair: string, others: Target = {}): Target {
	const [, field, value] = /^(\w+)=(.*)$/s.exec(pair) ?? [];
	if (field !== undefined && value !== undefined) return { customSignIn: true, ...others, [field]: value };
	throw new InvalidArgumentError('Enter <field>=<value>, like apiKeyName=X-API-Key.');
}

/** Reads the flags and asks for a secret that is missing. Ends the process with a message if flags contradict each other. */
export async function readTarget(
	program: Command,
	{ baseUrl, login, apiKey, set, ignoreSsl }: TargetFlags,
): Promise<Target> {
	const target = { ...set, baseUrl, allowUnauthorizedCerts: ignoreSsl ?? false };
	if (login !== undefined && apiKey !== undefined) program.error('Use --login or --api-key, not both.');
	if (login !== undefined) {
		const password = await ask(program, `Password of ${login}`);
		return { ...target, authentication: 'login', loginName: login, password };
	}
	if (apiKey === undefined) program.error('--base-url needs a way to sign in: --login <name> or --api-key.');
	return { ...target, authentication: 'apiKey', apiKey: apiKey === true ? await ask(program, 'API key') : apiKey };
}

/** Asks without showing the input. Without a terminal, it reads a line of standard input. */
async function ask(program: Command, what: string): Promise<string> {
	const { isTTY } = process.stdin;
	// On standard error, so that standard output only has the result.
	if (isTTY) process.stderr.write(`${what}: `);
	// Without an output, it shows nothing of what is typed.
	const lines = createInterface({ input: process.stdin, terminal: isTTY });
	const secret = await new Promise<string>((resolve) => lines.once('line', resolve).once('close', () => resolve('')));
	lines.close();
	if (isTTY) process.stderr.write('\n');
	if (secret !== '') return secret;
	return program.error(`${what}: nothing was entered, and standard input has no line.`);
}
