/**
 * `npm run demo`: runs a workflow in n8n's engine with this package's compiled nodes, over real HTTP, and prints the output. It
 * uses the embedded platform, or the user's platform with `--base-url`.
 */
import { readFile } from 'node:fs/promises';
import type { IDataObject } from 'n8n-workflow';
import { createEngine, type Engine, type RunResult, type WorkflowJson } from '../testbed/engine/engine.mts';
import { startPlatform } from '../testbed/platform/server.mts';
import { checkout, readManifest } from '../testbed/checkout.mts';
import { type Options, readOptions } from './demo/options.mts';
import { watchRequests } from './demo/requests.mts';
import { step } from './demo/step.mts';
import { bold, deviceTable, listTable, number, plain } from './demo/tables.mts';
import { flagsFor, isStopped, stopOnCtrlC, STOPPED, type Target } from './target.mts';

/** As n8n exports it. You can import it into n8n. */
const workflowFile = new URL('demo/workflow.json', import.meta.url);

/** The names of its nodes, and the ids of its credentials. */
const names = { list: 'List devices', read: 'Read one device', count: 'Count devices' };
const ids = { login: 'demo-login', apiKey: 'demo-api-key' };

/** Without a limit: how many devices the table shows, and how many are listed on the user's platform. */
const fewDevices = 10;
const someDevices = 50;

/** A failed workflow: what happened, and what to do. */
class Failed extends Error {
	constructor(
		message: string,
		readonly remedy: string,
	) {
		super(message);
	}
}

stopOnCtrlC();

try {
	const options = await readOptions(process.argv.slice(2));
	if (options.target === undefined) await demonstrateEmbedded(options);
	else await demonstrateOn(options.target, options);
} catch (error) {
	process.exitCode = explain(error);
}

/** Runs the workflow file unchanged, on an embedded platform, with both kinds of sign-in. */
async function demonstrateEmbedded({ limit }: Options): Promise<void> {
	const platform = await step('Starting an embedded platform', async (progress) => {
		const started = await startPlatform({ fleet: { size: 1200 } });
		progress.title(`Started an embedded platform with ${number(started.fleet.size)} sample devices`);
		return started;
	});
	try {
		const engine = await loadEngine();
		const { baseUrl, apiKey, loginName, password } = platform;
		await save(engine, ids.login, { baseUrl, authentication: 'login', loginName, password });
		await save(engine, ids.apiKey, { baseUrl, authentication: 'apiKey', apiKey });
		const workflow = await readWorkflow();
		if (limit !== undefined) change(workflow, names.list, { returnAll: false, limit });
		const result = await run(engine, workflow);

		const devices = devicesOf(result, names.list);
		print(
			heading(`${number(devices.length)} devices in Hamburg with status 2, newest first`),
			firstOf(devices, limit ?? fewDevices),
			heading('The first one, read by its serial number'),
			...devicesOf(result, names.read).map(deviceTable),
			heading(`${number(countOf(result))} devices in all, counted with the API key instead of the login`),
			'',
			'Next:',
			'  npm run check-platform -- --base-url https://… --login <name>',
			'      tells whether your own platform works with this package, and only reads',
			'  npm run demo -- --base-url https://… --login <name>',
			'      runs this workflow on your own platform, and only reads',
			'  npm start',
			'      starts n8n with this package and a sample platform, and prints the address',
			'  README.md',
			'      says how to install the package in your n8n',
		);
	} finally {
		await platform.stop();
	}
}

/** Runs the same nodes on the user's platform. Without filter and sort order, because the platform may not support them. */
async function demonstrateOn(target: Target, { limit }: Options): Promise<void> {
	const engine = await loadEngine();
	await save(engine, ids.login, target);
	const workflow = await readWorkflow();
	const list = { returnAll: false, limit: limit ?? someDevices, filters: {}, sort: {}, options: {} };
	change(workflow, names.list, list);
	for (const node of workflow.nodes) {
		if (node.credentials !== undefined) node.credentials = engine.credentialReference(ids.login);
	}
	const result = await run(engine, workflow);

	const devices = devicesOf(result, names.list);
	const all = countOf(result);
	print(
		heading(`${number(all)} devices${devices.length < all ? `, of which ${number(devices.length)} were listed` : ''}`),
		firstOf(devices, limit ?? fewDevices),
		...devicesOf(result, names.read).flatMap((device) => [
			heading('The first one, read by its serial number'),
			deviceTable(device),
		]),
		'',
		'The address and the sign-in work. README.md says how to install the package in your',
		'n8n. docs/connect.md says where to enter them.',
	);
}

async function loadEngine(): Promise<Engine> {
	return await step("Loading the package into n8n's engine", async (progress) => {
		const engine = await createEngine({ packageDirectory: checkout });
		const { name, version } = await readManifest(checkout);
		progress.title(`Loaded ${name} ${version} into n8n's engine`);
		return engine;
	});
}

/** Saves a credential as n8n does, encrypted. */
async function save(engine: Engine, id: string, data: Target): Promise<void> {
	await engine.saveCredential({ id, name: id, type: 'deviceManagementApi', data });
}

async function readWorkflow(): Promise<WorkflowJson> {
	const workflow: WorkflowJson = JSON.parse(await readFile(workflowFile, 'utf8'));
	return workflow;
}

function change(workflow: WorkflowJson, name: string, parameters: IDataObject): void {
	const node = workflow.nodes.find((candidate) => candidate.name === name);
	Object.assign(node?.parameters ?? {}, parameters);
}

async function run(engine: Engine, workflow: WorkflowJson): Promise<RunResult> {
	return await step('Running the workflow', async (progress) => {
		const requests = watchRequests((line) => progress.say(plain(line)));
		const result = await engine.run(workflow).finally(() => requests.stop());
		if (result.error !== undefined) {
			throw new Failed(result.error.message, result.error.description ?? '');
		}
		progress.title(`Ran the workflow: ${requests.summary()}`);
		return result;
	});
}

function devicesOf(result: RunResult, name: string): IDataObject[] {
	return result.data(name).map(({ json }) => json);
}

function countOf(result: RunResult): number {
	return Number(result.data(names.count)[0]?.json['count']);
}

function heading(text: string): string {
	return `\n${bold(text)}`;
}

function firstOf(devices: readonly IDataObject[], most: number): string {
	if (devices.length === 0) return 'There are no devices to list.';
	const table = listTable(devices.slice(0, most));
	return devices.length > most ? `${table}\n… and ${number(devices.length - most)} more` : table;
}

function print(...parts: string[]): void {
	process.stdout.write(`${parts.join('\n')}\n`);
}

/** Prints what went wrong, unless a step did, and what to do. Returns the exit code. */
function explain(error: unknown): number {
	const message = plain(error instanceof Error ? error.message : String(error));
	if (isStopped(error)) return STOPPED;
	if (error instanceof Failed) process.stderr.write(`\n${plain(error.remedy)}\n${flagsFor(message + error.remedy)}`);
	else process.stderr.write(`${message}\n`);
	return 1;
}
