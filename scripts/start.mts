/**
 * The real n8n editor with the packed package installed as a user would have it, an embedded platform to talk to,
 * credentials for it and the example workflows: `npm start`. Ctrl-C stops everything.
 */
import { Listr } from 'listr2';
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod/v4';
import { type Platform, startPlatform } from '../test/platform/server.mts';
import { checkout } from './checkout.mts';
import { exampleCredentials, exampleFleet, exampleWorkflows } from './examples.mts';
import { provideN8n } from './n8n-host.mts';
import { N8nInstance, type Owner, type RunningEditor } from './n8n-instance.mts';

const help = `Runs the n8n editor with this package installed and an embedded platform to try it on.

  npm start -- [flags]

  --port <number>  port of the editor (default 5678; another one when it is taken)
  --fresh          forgets the workflows, credentials and account of earlier starts
  -h, --help       shows this
`;

/**
 * Where the editor keeps its data between starts. Not in the checkout: there the package would find its imports among
 * the development dependencies instead of n8n's own modules.
 */
const folder = join(
	process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'),
	'n8n-nodes-device-management',
	createHash('sha256').update(checkout).digest('hex').slice(0, 8),
);
const platformPort = 4070;

const ownerSchema = z.object({
	email: z.string(),
	firstName: z.string(),
	lastName: z.string(),
	password: z.string(),
}) satisfies z.ZodType<Owner>;

const isStopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => isStopping.abort());
stopWithParent();

let n8n: N8nInstance | undefined;
let platform: Platform | undefined;
try {
	await Promise.race([start(), aborted(isStopping.signal)]);
} catch (error) {
	console.error(`\n${error instanceof Error ? error.message : String(error)}`);
	process.exitCode = 1;
} finally {
	if (isStopping.signal.aborted) console.log('\nStopping …');
	await n8n?.stop();
	await platform?.stop();
}
process.exit();

/** Settles when the editor ends by itself. */
async function start(): Promise<void> {
	const { values } = parseArgs({
		options: { port: { type: 'string' }, fresh: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
	});
	if (values.help) {
		console.log(help);
		return;
	}
	const port = z.coerce.number('--port must be a number').int().min(1).max(65_535).parse(values.port ?? 5678);
	if (values.fresh) await rm(folder, { recursive: true, force: true });
	await mkdir(folder, { recursive: true, mode: 0o700 });

	const { editor, owner } = await prepare(port);
	console.log(`
The n8n editor is running, with the package installed.

  Editor      ${editor.url}
  Account     ${owner.email}
  Password    ${owner.password}

It has the example workflows, and two credentials for an embedded platform with ${exampleFleet.size} devices:

  Base URL    ${platform?.baseUrl}
  API key     ${platform?.apiKey}
  Login name  ${platform?.loginName}
  Password    ${platform?.password}

What you make is kept in ${folder}; npm start -- --fresh begins anew.
Ctrl-C stops everything.`);
	await editor.ended;
	throw new Error('n8n ended by itself.');
}

/** Everything up to a running editor, with progress. */
async function prepare(port: number): Promise<{ editor: RunningEditor; owner: Owner }> {
	const owner = await readOwner();
	const tasks = new Listr<{ instance: N8nInstance; editor: RunningEditor }>(
		[
			{
				title: 'n8n (fetched on the first start: some minutes and 3 GB)',
				task: async (context, task) => {
					const host = await provideN8n((words) => {
						task.output = words;
					});
					context.instance = n8n = new N8nInstance(host, folder);
					task.title = 'n8n';
				},
			},
			{
				title: 'Embedded platform',
				task: async () => {
					const options = { fleet: exampleFleet, password: 'demo-password' };
					platform = await startPlatform({ ...options, port: platformPort }).catch(() => startPlatform(options));
				},
			},
			{ title: 'Package, packed and installed', task: ({ instance }) => instance.installPackage() },
			{
				title: 'Credentials and example workflows',
				task: async ({ instance }) => {
					if (platform) await instance.importCredentials(exampleCredentials(platform));
					await importChangedExamples(instance);
				},
			},
			{
				title: 'Editor',
				task: async (context) => {
					context.editor = await context.instance.startEditor(port);
					await context.instance.setUpOwner(context.editor, owner);
				},
			},
		],
		{ fallbackRendererCondition: () => !process.stdout.isTTY, registerSignalListeners: false },
	);
	const { editor } = await tasks.run();
	return { editor, owner };
}

/** The account of earlier starts, or a new one with a random password. Only this machine can reach the editor. */
async function readOwner(): Promise<Owner> {
	const file = join(folder, 'owner.json');
	const saved = await readFile(file, 'utf8').catch(() => undefined);
	if (saved !== undefined) return ownerSchema.parse(JSON.parse(saved));
	const password = `${randomBytes(12).toString('base64url')}A1`;
	const owner = { email: 'owner@example.com', firstName: 'Device', lastName: 'Owner', password };
	await writeFile(file, JSON.stringify(owner), { mode: 0o600 });
	return owner;
}

/** Only when the examples themselves are new, so that what a person made of them stays. */
async function importChangedExamples(instance: N8nInstance): Promise<void> {
	const workflows = await exampleWorkflows();
	const wanted = createHash('sha256').update(JSON.stringify(workflows)).digest('hex');
	const stamp = join(folder, 'examples');
	if ((await readFile(stamp, 'utf8').catch(() => '')) === wanted) return;
	await instance.importWorkflows(workflows);
	await writeFile(stamp, wanted);
}

function aborted(signal: AbortSignal): Promise<void> {
	return new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
}

/** When what started this is killed without a word (npm's shell passes no signal on), n8n must not stay behind. */
function stopWithParent(): void {
	const parent = process.ppid;
	setInterval(() => {
		if (process.ppid !== parent) isStopping.abort();
	}, 1000).unref();
}
