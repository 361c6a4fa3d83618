/** The examples for agents: an MCP client lists and calls the tools, and n8n's own agent uses them. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import assert from 'node:assert/strict';
import { z } from 'zod/v4';

import type { ExampleWorkflow } from '../../testbed/n8n/examples.mts';
import { resultOf } from '../../testbed/n8n/results.mts';
import { chain } from '../../testbed/n8n/workflows.mts';
import type { Device } from '../../testbed/platform/server.mts';
import type { ExampleSetup } from './exampleSetup.mts';
import { newId, published, serialNumbers } from './runs.mts';

const GROUPS = 'devices_per_group';

const textSchema = z.object({ content: z.tuple([z.object({ type: z.literal('text'), text: z.string() })]) });
const itemsSchema = z.array(z.record(z.string(), z.unknown()));

/** The tools of `agent-tools.json`, called by a real MCP client. */
export async function agentTools({ main, callersSecret, checks, workflow, devices }: ExampleSetup): Promise<void> {
	const url = new URL(`${main.url}/mcp/devices`);
	await published(main, workflow.id, async () => {
		await checks.check('a request without the token is refused', async () => await assert.rejects(connect(url, {})));
		const client = await connect(url, { Authorization: `Bearer ${callersSecret}` });
		await checks.check(
			'has three tools, whose arguments are described, and optional where a default is safe',
			async () => {
				const { tools } = await client.listTools();
				const needed = Object.fromEntries(tools.map(({ name, inputSchema }) => [name, inputSchema.required]));
				assert.deepEqual(needed, { count_devices: undefined, get_device: ['serial_number'], list_devices: undefined });
				for (const { description, inputSchema } of tools) {
					assert(description && description.length > 20);
					z.record(z.string(), z.looseObject({ description: z.string().min(10) })).parse(inputSchema.properties);
				}
			},
		);
		await checks.check('reads a device, counts, and lists the newest: 20 by default, and 100 at most', async () => {
			const call = toolsOf(client);
			const sn = String(devices[417]?.sn);
			assert.deepEqual((await call('get_device', { serial_number: sn }))[0]?.['sn'], sn);
			assert.deepEqual(await call('count_devices', {}), [{ count: devices.length }]);
			assert.deepEqual(await call('count_devices', { text: sn }), [{ count: 1 }]);
			const times = devices.map(({ createTime }) => createTime).sort();
			const newest = await call('list_devices', {});
			assert.deepEqual([newest.length, newest[0]?.['createTime']], [20, times.at(-1)]);
			assert.equal((await call('list_devices', { limit: 100_000, text: '' })).length, 100);
		});
		await client.close();
	});
}

/** `agent-tools.json` says which devices are offline, and how many, without long texts. */
export async function offlineByMcp({ main, callersSecret, workflow, devices }: ExampleSetup): Promise<void> {
	const offline = serialNumbers(devices.filter(isOffline)).sort();
	await published(main, workflow.id, async () => {
		const client = await connect(new URL(`${main.url}/mcp/devices`), { Authorization: `Bearer ${callersSecret}` });
		const call = toolsOf(client);
		assert.deepEqual(await call('count_devices', { online_status: '0' }), [{ count: offline.length }]);
		const listed = await call('list_devices', { online_status: '0', limit: 100 });
		assert.equal(listed.length, Math.min(offline.length, 100));
		assert.deepEqual(
			serialNumbers(listed).filter((sn) => !offline.includes(sn)),
			[],
		);
		assert.doesNotMatch(JSON.stringify(listed), /"(description|group|model)/);
		await client.close();
	});
}

/** The same for `agent-chat.json`. */
export async function offlineInChat({ main, model, workflow, devices }: ExampleSetup): Promise<void> {
	model.next = { tool: 'count_devices', args: { online_status: '0', text: '', group: null } };
	const question = { action: 'sendMessage', sessionId: 'hostile', chatInput: 'How many devices are offline?' };
	const results = await main.execute(workflow.id, 'When chat message received', question);
	const count = devices.filter(isOffline).length;
	assert.match(JSON.stringify(results['AI Agent']?.items[0]), RegExp(`"count\\W+${count}\\D`));
}

/** Statuses compare as text, and false is 0. */
function isOffline({ onlineStatus }: Device): boolean {
	return ['0', 'false'].includes(String(onlineStatus));
}

/** Calls a tool, and returns its items. */
function toolsOf(client: Client) {
	return async (name: string, args: Record<string, unknown>) => {
		const { content } = textSchema.parse(await client.callTool({ name, arguments: args }));
		return itemsSchema.parse(JSON.parse(content[0].text));
	};
}

/** n8n's own agent with the tools of `agent-chat.json`, and a model with fixed responses. */
export async function agentChat({ main, model, platform, checks, workflow }: ExampleSetup): Promise<void> {
	const ask = async (tool: string, args: object, id = workflow.id, chatInput = 'What do you know?') => {
		model.next = { tool, args };
		const question = { action: 'sendMessage', sessionId: 'e2e', chatInput };
		const results = await main.execute(id, 'When chat message received', question);
		return JSON.stringify(results['AI Agent']?.items[0]);
	};
	// n8n's agent doesn't check arguments: the model's values arrive unchanged.
	await checks.check('the model gets three tools and their results, also for a number as text and null', async () => {
		const careless = await ask('list_devices', { limit: '2', text: null });
		assert.equal(careless.split('createTime').length - 1, 2);
		const names = model.requests[0]?.tools.map((tool) => tool.function.name).sort();
		assert.deepEqual(names, ['count_devices', 'get_device', 'list_devices']);
	});
	await checks.check('the refusal of a tool says to the model what to change', async () => {
		const refusal = /No device has the serial number RT00000000.*device RT00000000.*Check the serial number/s;
		assert.match(await ask('get_device', { serial_number: 'RT00000000' }), refusal);
	});
	await checks.check('the agent remembers what was said before in the same chat', async () => {
		await ask('count_devices', {}, workflow.id, 'My site is Hamburg.');
		await ask('count_devices', {}, workflow.id, 'Which is my site?');
		assert.match(JSON.stringify(model.requests.at(-1)?.messages), /My site is Hamburg.*Which is my site/);
	});
	await checks.check('a workflow that is called with two items counts the devices once', async () => {
		const groups = 'exampleDevicesPerGroup';
		const items = [{ json: { query: 'a' } }, { json: { query: 'b' } }];
		const caller = await main.create(callerOf(groups, items));
		platform.forget();
		const results = await published(main, groups, async () => await main.execute(caller, 'Start'));
		const counted = resultOf(results, 'Call').items.map(({ count_id }) => Number(count_id));
		assert.equal(
			counted.reduce((sum, count) => sum + count),
			platform.fleet.size,
		);
	});
	await checks.check('a published workflow is a tool, too', async () => {
		const id = await main.create(withGroups(workflow));
		const answer = await published(main, 'exampleDevicesPerGroup', async () => await ask(GROUPS, { query: '' }, id));
		assert.match(answer, /group_name.*Warehouse Hamburg.*count_id/s);
	});
}

/** A workflow that calls another one once, with these items. */
function callerOf(workflowId: string, items: object[]) {
	const parameters = { source: 'database', workflowId: { __rl: true, mode: 'id', value: workflowId }, mode: 'once' };
	const steps = [
		{ name: 'Start', type: 'n8n-nodes-base.manualTrigger', typeVersion: 1, parameters: {} },
		{ name: 'Call', type: 'n8n-nodes-base.executeWorkflow', typeVersion: 1.2, parameters },
	];
	return { ...chain(newId(), 'deviceManagementKey', steps), pinData: { Start: items } };
}

/** A chat whose agent also has a tool that runs `devices-per-group.json`, as docs/agents.md says. */
function withGroups(chat: ExampleWorkflow): ExampleWorkflow {
	const tool = {
		name: GROUPS,
		type: '@n8n/n8n-nodes-langchain.toolWorkflow',
		typeVersion: 2.2,
		position: [0, 0],
		parameters: {
			description: 'Counts the devices of each group. It needs no input.',
			workflowId: { __rl: true, mode: 'id', value: 'exampleDevicesPerGroup' },
		},
	};
	const connections = {
		...Object(chat.connections),
		[GROUPS]: { ai_tool: [[{ node: 'AI Agent', type: 'ai_tool', index: 0 }]] },
	};
	return { ...chat, id: newId(), nodes: [...chat.nodes, { id: 'groups', ...tool }], connections };
}

async function connect(url: URL, headers: Record<string, string>): Promise<Client> {
	const client = new Client({ name: 'agent', version: '1.0.0' });
	// Under exactOptionalPropertyTypes the SDK's class does not fit the SDK's own interface.
	await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }) as Transport);
	return client;
}
