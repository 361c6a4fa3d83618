/**
 * `npm start`: starts the n8n editor with the packed package, an embedded platform, a mailbox, credentials for both and the example
 * workflows. Ctrl-C stops everything.
 */
import { Command } from 'commander';
import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod/v4';
import { type EmbeddedPlatform, startPlatform } from '../testbed/platform/server.mts';
import { checkout } from '../testbed/checkout.mts';
import {
	CALLER,
	exampleCredentials,
	exampleFleet,
	startTenants,
	type ExampleWorkflow,
	workflowsOfStart,
} from '../testbed/n8n/examples.mts';
import { provideN8n } from '../testbed/n8n/host.mts';
import { N8nInstance } from '../testbed/n8n/instance.mts';
import { startMailServer } from '../testbed/n8n/mailServer.mts';
import { newOwner, type Owner } from '../testbed/n8n/main.mts';
import { freePort } from '../testbed/n8n/process.mts';
import { aborted, stopSignal } from '../testbed/stopSignal.mts';
import { removing } from '../testbed/removing.mts';
import { step } from './terminal.mts';

const { port, fresh } = new Command('npm start --')
	.description('Runs the n8n editor with this package installed and an embedded platform to try it on.')
	.option('--port <number>', 'port of the editor; another one if it is taken', Number, 5678)
	.option('--fresh', 'deletes the workflows, credentials and account of earlier starts')
	.showHelpAfterError('--help lists the flags.')
	.parse()
	.opts<{ port: number; fresh?: true }>();

/**
 * The folder of the editor's data between starts. Not in the checkout: the package would import the development dependencies
 * instead of n8n's modules.
 */
const folder = join(
	process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'),
	'n8n-nodes-device-management',
	createHash('sha256').update(checkout).digest('hex').slice(0, 8),
);

/** The number of the process that uses the folder. */
const runningFile = join(folder, 'running');

const isStopping = stopSignal();

let n8n: N8nInstance | undefined;
let hasFolder = false;
try {
	await Promise.race([start(), aborted(isStopping)]);
} catch (error) {
	console.error(`\n${error instanceof Error ? error.message : String(error)}`);
	process.exitCode = 1;
} finally {
	if (isStopping.aborted) console.log('\nStopping …');
	await n8n?.stop();
	if (hasFolder) await rm(runningFile, removing);
}
process.exit();

/** Settles when the editor ends unexpectedly. */
async function start(): Promise<void> {
	await refuseSecondStart();
	if (fresh) await rm(folder, removing);
	await mkdir(folder, { recursive: true, mode: 0o700 });
	await writeFile(runningFile, String(process.pid));
	hasFolder = true;
	const workflows = await workflowsOfStart();
	const owner = await readOwner();
	const instance = (n8n = new N8nInstance(await provideN8n(), folder));
	const [platform, tenants, mail] = await step('Embedded platforms and mailbox', async () => {
		const [port, mailboxPort] = [await freePort(4070), await freePort(4071)];
		const first = startPlatform({ fleet: exampleFleet, password: 'demo-password', port });
		return await Promise.all([first, startTenants(), startMailServer(mailboxPort)]);
	});
	await step('Pack and install the package', async () => await instance.installPackage());
	await step('Credentials and example workflows', async () => {
		const credentials = exampleCredentials(platform, tenants, callersSecret(owner));
		await instance.importCredentials([mail.credential, ...credentials]);
		await importChangedExamples(instance, workflows);
	});
	const editor = await step('Editor', async () => {
		const main = await instance.startMain(await freePort(port));
		await main.setUpOwner(owner);
		return main;
	});
	console.log(welcome(editor.url, owner, workflows, mail, platform));
	await editor.process.ended;
	throw new Error('n8n ended unexpectedly.');
}

/** Two editors with the same data would break each other. */
async function refuseSecondStart(): Promise<void> {
	const other = Number(await readFile(runningFile, 'utf8').catch(() => ''));
	if (!isRunning(other)) return;
	const remedy = `Press Ctrl-C in its terminal. If that is another program, delete ${runningFile}.`;
	throw new Error(`npm start already runs, as process ${other}. ${remedy}`);
}

function isRunning(id: number): boolean {
	try {
		// Throws if there is no such process.
		return id > 0 && id !== process.pid && process.kill(id, 0);
	} catch {
		return false;
	}
}

function welcome(
	editor: string,
	owner: Owner,
	[alert, switchDevice]: readonly ExampleWorkflow[],
	{ mailbox }: { mailbox: string },
	platform: EmbeddedPlatform,
): string {
	return `
The n8n editor is running, with the package installed.

  Workflows   ${editor}/home/workflows
  Account     ${owner.email}
  Password    ${owner.password}

A device goes offline, and n8n sends an email:

  1. Publish “${alert?.name}”:
     ${editor}/workflow/${alert?.id}
  2. Click Execute workflow once in “${switchDevice?.name}”:
     ${editor}/workflow/${switchDevice?.id}
  3. Wait up to two minutes for the email in the mailbox:
     ${mailbox}

The list also has all other examples, the most useful first. A note in each one says what to set up. Their credentials
are for an embedded platform with ${exampleFleet.size} devices:

  Base URL    ${platform.baseUrl}
  API key     ${platform.apiKey}
  Login name  ${platform.loginName}
  Password    ${platform.password}

The forms ask for a user and a password, the webhooks for a header, and the tools of “devices as tools for any agent” for a bearer
token:

  User        ${CALLER.user}
  Header      ${CALLER.header}
  Password, value of the header, and token: ${callersSecret(owner)}

Your workflows and n8n's log (start.log) are in ${folder}. To delete them, run npm start -- --fresh.
Ctrl-C stops everything.`;
}

/** The account of earlier starts, or a new one with a random password. Only this machine can reach the editor. */
async function readOwner(): Promise<Owner> {
	const file = join(folder, 'owner.json');
	const owner = newOwner();
	const saved = await readFile(file, 'utf8').catch(() => undefined);
	if (saved !== undefined) return { ...owner, ...z.object({ password: z.string() }).parse(JSON.parse(saved)) };
	await writeFile(file, JSON.stringify({ password: owner.password }), { mode: 0o600 });
	return owner;
}

/** The same at every start, so that an agent keeps its access to the tools. */
function callersSecret({ password }: Owner): string {
	return createHash('sha256').update(`device tools ${password}`).digest('base64url').slice(0, 24);
}

/** Imports the examples only if they changed, so that the user's changes stay. n8n lists what was imported last first. */
async function importChangedExamples(instance: N8nInstance, workflows: readonly ExampleWorkflow[]): Promise<void> {
	const wanted = createHash('sha256').update(JSON.stringify(workflows)).digest('hex');
	const stamp = join(folder, 'examples');
	if ((await readFile(stamp, 'utf8').catch(() => '')) === wanted) return;
	await instance.importWorkflows(workflows.toReversed());
	await writeFile(stamp, wanted);
}
