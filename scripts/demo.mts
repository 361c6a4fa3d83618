/**
 * `npm run demo`: runs a workflow in n8n's engine with this package's compiled nodes, over real HTTP on an embedded
 * platform, and prints the output.
 */
import { Command } from 'commander';
import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { checkout, readManifest } from '../testbed/checkout.mts';
import { nodeType } from '../testbed/deviceWorkflow.mts';
import { createEngine, type Engine, type RunResult, type WorkflowJson } from '../testbed/engine/engine.mts';
import { startPlatform } from '../testbed/platform/server.mts';
import { watchRequests } from './demo/requests.mts';
import { step, stopOnCtrlC } from './demo/step.mts';
import { bold, deviceTable, listTable, number, plain } from './demo/tables.mts';

/** How many devices the table shows. */
const fewDevices = 10;

new Command('npm run demo')
	.description("Runs a workflow in n8n's engine that lists, counts and reads devices, on an embedded platform.")
	.allowExcessArguments(false)
	.parse();
stopOnCtrlC();
try {
	await demonstrate();
} catch (error) {
	process.exitCode = 1;
	// The failed step has shown the message. n8n's error also says what to do.
	process.stderr.write(`\n${plain(String(Object(error).remedy ?? error))}\n`);
}

async function demonstrate(): Promise<void> {
	const platform = await step('Starting an embedded platform', async (task) => {
		const started = await startPlatform({ fleet: { size: 1200 } });
		task.title = `Started an embedded platform with ${number(started.fleet.size)} sample devices`;
		return started;
	});
	try {
		const engine = await step("Loading the package into n8n's engine", async (task) => {
			const loaded = await createEngine({ packageDirectory: checkout });
			const { name, version } = await readManifest(checkout);
			task.title = `Loaded ${name} ${version} into n8n's engine`;
			return loaded;
		});
		const { baseUrl, apiKey, loginName, password } = platform;
		const save = async (name: string, data: Record<string, string>) =>
			await engine.saveCredential({ id: name, name, type: 'deviceManagementApi', data: { baseUrl, ...data } });
		await save('Login', { authentication: 'login', loginName, password });
		await save('API key', { authentication: 'apiKey', apiKey });
		show(await run(engine));
	} finally {
		await platform.stop();
	}
}

async function run(engine: Engine): Promise<RunResult> {
	return await step('Running the workflow', async (task) => {
		const requests = watchRequests((line) => {
			task.output = plain(line);
		});
		const result = await engine.run(workflowFor(engine)).finally(() => requests.stop());
		if (result.error !== undefined) {
			const { message, description } = result.error;
			throw Object.assign(new Error(message), { remedy: description ?? '' });
		}
		task.title = `Ran the workflow: ${requests.summary()}`;
		return result;
	});
}

/** Lists devices and reads the first one with the login, and counts all with the API key. */
function workflowFor(engine: Engine): WorkflowJson {
	const node = (name: string, credential: string, parameters: INodeParameters) => ({
		name,
		type: nodeType,
		parameters: { resource: 'device', ...parameters },
		credentials: engine.credentialReference(credential),
	});
	const to = (...names: string[]) => ({ main: [names.map((node) => ({ node, type: 'main' as const, index: 0 }))] });
	return {
		nodes: [
			{ name: 'Start', type: 'n8n-nodes-base.manualTrigger' },
			node('List devices', 'Login', {
				operation: 'getAll',
				returnAll: true,
				filters: { onlineStatus: 0, attributes: { pair: [{ key: 'site', value: 'Hamburg' }] } },
				options: { pageSize: 25 },
				sort: {
					rule: [
						{ field: 'createTime', direction: 'desc' },
						{ field: 'sn', direction: 'asc' },
					],
				},
			}),
			{
				...node('Read one device', 'Login', {
					operation: 'get',
					device: { __rl: true, mode: 'sn', value: '={{ $json.sn }}' },
				}),
				executeOnce: true,
			},
			node('Count devices', 'API key', { operation: 'count' }),
		],
		connections: { Start: to('List devices', 'Count devices'), 'List devices': to('Read one device') },
	};
}

function show(result: RunResult): void {
	const itemsOf = (name: string): IDataObject[] => result.data(name).map(({ json }) => json);
	const devices = itemsOf('List devices');
	const total = Number(itemsOf('Count devices')[0]?.['count']);
	const heading = (text: string) => `\n${bold(text)}`;
	const lines = [
		heading(`${number(devices.length)} offline devices at site Hamburg, newest first`),
		listTable(devices.slice(0, fewDevices)),
		`… and ${number(devices.length - fewDevices)} more`,
		heading('The first one, read by its serial number'),
		...itemsOf('Read one device').map(deviceTable),
		heading(`${number(total)} devices in all, counted with the API key instead of the login`),
		'',
		'Next:',
		'  npm run check-platform -- --base-url https://… --login <name>',
		'      tells whether your own platform works with this package, and only reads',
		'  npm start',
		'      starts n8n with this package and a sample platform, and prints the address',
		'  README.md',
		'      says how to install the package in your n8n',
	];
	process.stdout.write(`${lines.join('\n')}\n`);
}
