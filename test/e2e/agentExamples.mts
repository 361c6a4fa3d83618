/** The examples for agents: an MCP client lists and calls the tools, and n8n's own agent uses them. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import assert from 'node:assert/strict';
import { z } from 'zod/v4';

import type { ExampleWorkflow } from '../../testbed/n8n/examples.mts';
import type { Device } from '../../testbed/platform/server.mts';
import type { Example, ExampleSetup } from './exampleSetup.mts';
import { newId, published, serialNumbers } from './runs.mts';

const GROUPS = 'devices_per_group';

const textSchema = z.object({ content: z.tuple([z.object({ type: z.literal('text'), text: z.string() })]) });
const itemsSchema = z.array(z.record(z.string(), z.unknown()));

/** Calls a tool, and returns its items. */
type Call = (name: string, args: Record<string, unknown>) => Promise<Record<string, unknown>[]>;

export const AGENTS: Readonly<Record<string, Example>> = {
	'agent-tools': {
		promises: {
			'a request without the token is refused': async ({ main, workflow }) =>
				await published(main, workflow.id, async () => await assert.rejects(connect(main.url, {}))),
			'has three tools, whose arguments are described, and optional where a default is safe': async (given) =>
				await withTools(given, async (_call, client) => {
					const { tools } = await client.listTools();
					const needed = Object.fromEntries(tools.map(({ name, inputSchema }) => [name, inputSchema.required]));
					assert.deepEqual(needed, {
						count_devices: undefined,
						get_device: ['serial_number'],
						list_devices: undefined,
					});
					for (const { description, inputSchema } of tools) {
						assert(description && description.length > 20);
						z.record(z.string(), z.looseObject({ description: z.string().min(10) })).parse(inputSchema.properties);
					}
				}),
			'reads a device, counts, and lists the newest: 20 by default, and 100 at most': async (given) =>
				await withTools(given, async (call) => {
					const { devices } = given;
					const sn = String(devices[417]?.sn);
					assert.deepEqual((await call('get_device', { serial_number: sn }))[0]?.['sn'], sn);
					assert.deepEqual(await call('count_devices', {}), [{ count: devices.length }]);
					assert.deepEqual(await call('count_devices', { text: sn }), [{ count: 1 }]);
					const times = devices.map(({ createTime }) => createTime).sort();
					const newest = await call('list_devices', {});
					assert.deepEqual([newest.length, newest[0]?.['createTime']], [20, times.at(-1)]);
					assert.equal((await call('list_devices', { limit: 100_000, text: '' })).length, 100);
				}),
		},
		// It says which devices are offline, and how many, without long texts.
		anyFleet: async (given) =>
			await withTools(given, async (call) => {
				const offline = serialNumbers(given.devices.filter(isOffline));
				assert.deepEqual(await call('count_devices', { online_status: '0' }), [{ count: offline.length }]);
				const listed = await call('list_devices', { online_status: '0', limit: 100 });
				assert.equal(listed.length, Math.min(offline.length, 100));
				assert(serialNumbers(listed).every((sn) => offline.includes(sn)));
				assert.doesNotMatch(JSON.stringify(listed), /"(description|group|model)/);
			}),
	},
	'agent-chat': {
		promises: {
			// n8n's agent doesn't check arguments: the model's values arrive unchanged.
			'the model gets three tools and their results, also for a number as text and null': async (given) => {
				const careless = await ask(given, 'list_devices', { limit: '2', text: null });
				assert.equal(careless.split('createTime').length - 1, 2);
				const names = given.model.requests[0]?.tools.map((tool) => tool.function.name).sort();
				assert.deepEqual(names, ['count_devices', 'get_device', 'list_devices']);
			},
			'the refusal of a tool says to the model what to change': async (given) => {
				const refusal = /No device has the serial number RT00000000.*device RT00000000.*Check the serial number/s;
				assert.match(await ask(given, 'get_device', { serial_number: 'RT00000000' }), refusal);
			},
			'the agent remembers what was said before in the same chat': async (given) => {
				for (const text of ['My site is Hamburg.', 'Which is my site?']) await ask(given, 'count_devices', {}, text);
				assert.match(JSON.stringify(given.model.requests.at(-1)?.messages), /My site is Hamburg.*Which is my site/);
			},
			'a published workflow is a tool, too': async (given) => {
				const workflow = withGroups(given.workflow);
				await given.main.create(workflow);
				await published(given.main, 'exampleDevicesPerGroup', async () => {
					const answer = await ask({ ...given, workflow }, GROUPS, { query: '' });
					assert.match(answer, /group_name.*Warehouse Hamburg.*count_id/s);
				});
			},
		},
		anyFleet: async (given) => {
			const answer = await ask(given, 'count_devices', { online_status: '0', text: '', group: null });
			assert.match(answer, RegExp(`"count\\W+${given.devices.filter(isOffline).length}\\D`));
		},
	},
};

/** Statuses compare as text, and false is 0. */
function isOffline({ onlineStatus }: Device): boolean {
	return ['0', 'false'].includes(String(onlineStatus));
}

async function withTools(
	{ main, workflow, callersSecret }: ExampleSetup,
	work: (call: Call, client: Client) => Promise<void>,
): Promise<void> {
	await published(main, workflow.id, async () => {
		const client = await connect(main.url, { Authorization: `Bearer ${callersSecret}` });
		const call: Call = async (name, args) => {
			const { content } = textSchema.parse(await client.callTool({ name, arguments: args }));
			return itemsSchema.parse(JSON.parse(content[0].text));
		};
		await work(call, client);
		await client.close();
	});
}

async function connect(n8n: string, headers: Record<string, string>): Promise<Client> {
	const client = new Client({ name: 'agent', version: '1.0.0' });
	const transport = new StreamableHTTPClientTransport(new URL(`${n8n}/mcp/devices`), { requestInit: { headers } });
	// Under exactOptionalPropertyTypes the SDK's class does not fit the SDK's own interface.
	await client.connect(transport as Transport);
	return client;
}

/** Asks the agent, whose model has fixed responses. Returns what it says. */
async function ask({ main, model, workflow }: ExampleSetup, tool: string, args: object, text = 'What do you know?') {
	model.next = { tool, args };
	const question = { action: 'sendMessage', sessionId: 'e2e', chatInput: text };
	const results = await main.execute(workflow.id, 'When chat message received', question);
	return JSON.stringify(results['AI Agent']?.items[0]);
}

/** A chat whose agent also has a tool that runs `devices-per-group.json`, as docs/agents.md says. */
function withGroups(chat: ExampleWorkflow): ExampleWorkflow {
	const workflowId = { __rl: true, mode: 'id', value: 'exampleDevicesPerGroup' };
	const parameters = { description: 'Counts the devices of each group. It needs no input.', workflowId };
	const tool = { type: '@n8n/n8n-nodes-langchain.toolWorkflow', typeVersion: 2.2, position: [0, 0], parameters };
	const connections = {
		...Object(chat.connections),
		[GROUPS]: { ai_tool: [[{ node: 'AI Agent', type: 'ai_tool', index: 0 }]] },
	};
	return { ...chat, id: newId(), nodes: [...chat.nodes, { id: 'groups', name: GROUPS, ...tool }], connections };
}
