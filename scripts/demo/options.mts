import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import password from '@inquirer/password';

export const help = `Runs a workflow in n8n's engine that lists, counts and reads devices.

  npm run demo                    with an embedded platform and made-up devices
  npm run demo -- --base-url <address> --login <name>
  npm run demo -- --base-url <address> --api-key
                                  with your own platform; nothing on it is changed

  --base-url <address>   what stands before /api in the platform's addresses
  --login <name>         sign in with a login; its password is asked for
  --api-key [key]        sign in with an API key; asked for when it is left out here,
                         or taken from DEVICE_MANAGEMENT_API_KEY
                         (a key given here stays in your shell's history)
  --set <field>=<value>  any other field of the credential, like apiKeyName=X-API-Key
  --ignore-ssl           accept a certificate that is not trusted
  --limit <number>       list the first so many devices, and show them all
  -h, --help             show this

Without a terminal, the password or the key is read from standard input, one line.
`;

/** A refusal of what was typed; its message says what to type instead. */
export class UsageError extends Error {}

/** A platform of the user's own, as the fields of the credential. */
export type Target = Record<string, string | boolean>;

export interface Options {
	help: boolean;
	/** Undefined: the embedded platform. */
	target: Target | undefined;
	limit: number | undefined;
}

/**
 * Reads the command line, and asks for the secret that is not on it.
 * @throws UsageError
 */
export async function readOptions(args: readonly string[]): Promise<Options> {
	const values = parse(args);
	const limit = readLimit(values.limit);
	if (values.help === true) return { help: true, target: undefined, limit };
	if (values['base-url'] === undefined) {
		const stray = (['login', 'api-key', 'ignore-ssl', 'set'] as const).find((flag) => values[flag] !== undefined);
		if (stray !== undefined) throw new UsageError(`--${stray} needs --base-url: the address of your platform.`);
		return { help: false, target: undefined, limit };
	}
	const target: Target = {
		...readFields(values.set ?? []),
		baseUrl: values['base-url'],
		allowUnauthorizedCerts: values['ignore-ssl'] ?? false,
		...(await readSignIn(values.login, values['api-key'])),
	};
	return { help: false, target, limit };
}

function parse(args: readonly string[]) {
	// A key that is left out is asked for; to Node's parser an option either always has a value or never.
	const complete = args.flatMap((arg, position) => {
		const next = args[position + 1];
		return arg === '--api-key' && (next === undefined || next.startsWith('-')) ? ['--api-key='] : [arg];
	});
	try {
		return parseArgs({
			args: complete,
			options: {
				'base-url': { type: 'string' },
				login: { type: 'string' },
				'api-key': { type: 'string' },
				set: { type: 'string', multiple: true },
				'ignore-ssl': { type: 'boolean' },
				limit: { type: 'string' },
				help: { type: 'boolean', short: 'h' },
			},
		}).values;
	} catch (error) {
		throw new UsageError(error instanceof Error ? error.message : String(error));
	}
}

function readLimit(text: string | undefined): number | undefined {
	if (text === undefined || /^[1-9]\d{0,6}$/.test(text)) return text === undefined ? undefined : Number(text);
	throw new UsageError('--limit takes a whole number from 1.');
}

function readFields(pairs: readonly string[]): Target {
	return Object.fromEntries(
		pairs.map((pair) => {
			const [, field, value] = /^(\w+)=(.*)$/s.exec(pair) ?? [];
			if (field === undefined || value === undefined) {
				throw new UsageError('--set takes <field>=<value>, like --set apiKeyName=X-API-Key.');
			}
			return [field, value];
		}),
	);
}

async function readSignIn(login: string | undefined, apiKey: string | undefined): Promise<Target> {
	if (login !== undefined && apiKey !== undefined) throw new UsageError('Give --login or --api-key, not both.');
	if (login !== undefined) {
		return { authentication: 'login', loginName: login, password: await ask(`Password of ${login}`) };
	}
	const fromEnvironment = process.env['DEVICE_MANAGEMENT_API_KEY'] ?? '';
	if (apiKey === undefined && fromEnvironment === '') {
		throw new UsageError('--base-url needs a way to sign in: --login <name> or --api-key.');
	}
	return { authentication: 'apiKey', apiKey: apiKey || fromEnvironment || (await ask('API key')) };
}

/** Asks without showing what is typed; without a terminal, takes a line of standard input. */
async function ask(what: string): Promise<string> {
	const answer = process.stdin.isTTY ? await password({ message: `${what}:`, mask: false }) : await firstLine();
	if (answer !== '') return answer;
	throw new UsageError(
		process.stdin.isTTY
			? `${what}: nothing was entered.`
			: `${what}: there is no terminal to ask on, and standard input has no line. Send it there.`,
	);
}

async function firstLine(): Promise<string> {
	const lines = createInterface({ input: process.stdin });
	for await (const line of lines) return line;
	return '';
}
