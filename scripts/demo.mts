/**
 * `npm run demo`: runs a workflow in n8n's engine with this package's compiled nodes, over real HTTP on an embedded
 * platform, and prints the output.
 */
import { Command } from 'commander';
import { readFile } from 'node:fs/promises';
import type { IDataObject } from 'n8n-workflow';
import { createEngine, type Engine, type RunResult, type WorkflowJson } from '../testbed/engine/engine.mts';
import { startPlatform } from '../testbed/platform/server.mts';
import { checkout, readManifest } from '../testbed/checkout.mts';
import { watchRequests } from './demo/requests.mts';
import { step, stopOnCtrlC } from './demo/step.mts';
import { bold, deviceTable, listTable, number, plain } from './demo/tables.mts';

/** As n8n exports it. You can import it into n8n. */
const workflowFile = new URL('demo/workflow.json', import.meta.url);

/** The names of its nodes, and the ids of its credentials. */
const names = { list: 'List devices', read: 'Read one device', count: 'Count devices' };
const ids = { login: 'demo-login', apiKey: 'demo-api-key' };

/** How many devices the table shows. */
const fewDevices = 10;

/** A failed workflow: what happened, and what to do. */
class Failed extends Error {
	constructor(
		message: string,
		readonly remedy: string,
	) {
		super(message);
	}
}

new Command('npm run demo')
	.description("Runs a workflow in n8n's engine that lists, counts and reads devices, on an embedded platform.")
	.allowExcessArguments(false)
	.parse();
stopOnCtrlC();
try {
	await demonstrate();
} catch (error) {
	process.exitCode = 1;
	// The failed step has shown the message.
	process.stderr.write(`\n${plain(error instanceof Failed ? error.remedy : String(error))}\n`);
}

/** Runs the workflow file unchanged, on an embedded platform, with both kinds of sign-in. */
async function demonstrate(): Promise<void> {
	const platform = await step('Starting an embedded platform', async (task) => {
		const started = await startPlatform({ fleet: { size: 1200 } });
		task.title = `Started an embedded platform with ${number(started.fleet.size)} sample devices`;
		return started;
	});
	try {
		const engine = await loadEngine();
		const { baseUrl, apiKey, loginName, password } = platform;
		await save(engine, ids.login, { baseUrl, authentication: 'login', loginName, password });
		await save(engine, ids.apiKey, { baseUrl, authentication: 'apiKey', apiKey });
		const workflow = await readWorkflow();
		const result = await run(engine, workflow);

		const devices = devicesOf(result, names.list);
		print(
			heading(`${number(devices.length)} devices at site Hamburg with composite status 2, newest first`),
			firstOf(devices),
			heading('The first one, read by its serial number'),
			...devicesOf(result, names.read).map(deviceTable),
			heading(`${number(countOf(result))} devices in all, counted with the API key instead of the login`),
			'',
			'Next:',
			'  npm run check-platform -- --base-url https://… --login <name>',
			'      tells whether your own platform works with this package, and only reads',
			'  npm start',
			'      starts n8n with this package and a sample platform, and prints the address',
			'  README.md',
			'      says how to install the package in your n8n',
		);
	} finally {
		await platform.stop();
	}
}

async function loadEngine(): Promise<Engine> {
	return await step("Loading the package into n8n's engine", async (task) => {
		const engine = await createEngine({ packageDirectory: checkout });
		const { name, version } = await readManifest(checkout);
		task.title = `Loaded ${name} ${version} into n8n's engine`;
		return engine;
	});
}

/** Saves a credential as n8n does, encrypted. */
async function save(engine: Engine, id: string, data: Record<string, string>): Promise<void> {
	await engine.saveCredential({ id, name: id, type: 'deviceManagementApi', data });
}

async function readWorkflow(): Promise<WorkflowJson> {
	const workflow: WorkflowJson = JSON.parse(await readFile(workflowFile, 'utf8'));
	return workflow;
}

async function run(engine: Engine, workflow: WorkflowJson): Promise<RunResult> {
	return await step('Running the workflow', async (task) => {
		const requests = watchRequests((line) => {
			task.output = plain(line);
		});
		const result = await engine.run(workflow).finally(() => requests.stop());
		if (result.error !== undefined) {
			throw new Failed(result.error.message, result.error.description ?? '');
		}
		task.title = `Ran the workflow: ${requests.summary()}`;
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

function firstOf(devices: readonly IDataObject[]): string {
	return `${listTable(devices.slice(0, fewDevices))}\n… and ${number(devices.length - fewDevices)} more`;
}

function print(...parts: string[]): void {
	process.stdout.write(`${parts.join('\n')}\n`);
}
