/** The examples for agents: an MCP client lists and calls the tools, and n8n's own agent uses them. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import assert from 'node:assert/strict';
import { z } from 'zod/v4';

import type { ExampleSetup } from './exampleSetup.mts';
import { published } from './runs.mts';

const answerSchema = z.object({
	isError: z.boolean().default(false),
	content: z.tuple([z.object({ type: z.literal('text'), text: z.string() })]),
});

const itemsSchema = z.array(z.record(z.string(), z.unknown()));

/** The tools of `agent-tools.json`, called by a real MCP client. */
export async function agentTools({ main, toolsToken, checks, workflow, devices }: ExampleSetup): Promise<void> {
	const url = new URL(`${main.url}/mcp/devices`);
	const ask = async () => {
		await checks.check('a request without the token is refused', async () => await assert.rejects(connect(url, {})));
		const client = await connect(url, { Authorization: `Bearer ${toolsToken}` });
		const call = async (name: string, args: Record<string, unknown>) => {
			const { isError, content } = answerSchema.parse(await client.callTool({ name, arguments: args }));
			return isError ? content[0].text : itemsSchema.parse(JSON.parse(content[0].text));
		};
		await checks.check(
			'lists three tools; each argument is described, and has a safe default if optional',
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

		const device = devices[417];
		assert(device);
		await checks.check('reads a device', async () => {
			const [read] = itemsSchema.parse(await call('get_device', { serial_number: device.sn }));
			assert.equal(read?.['modelName'], device.model.name);
		});
		await checks.check(
			'lists as many devices as requested, the newest first: 20 by default, and 100 at most',
			async () => {
				const some = itemsSchema.parse(await call('list_devices', { limit: 3 }));
				const newest = devices
					.map(({ createTime }) => createTime)
					.sort()
					.at(-1);
				assert.deepEqual([some.length, some[0]?.['createTime']], [3, newest]);
				assert.equal((await call('list_devices', {})).length, 20);
				assert.equal((await call('list_devices', { limit: 100_000, text: '' })).length, 100);
			},
		);
		await checks.check('counts all devices, and those that match a text', async () => {
			const text = device.sn.slice(0, 4);
			const found = devices.filter(({ sn, description, model }) =>
				[sn, description, model.name].some((its) => its?.includes(text)),
			);
			assert.deepEqual(await call('count_devices', {}), [{ count: devices.length }]);
			assert.deepEqual(await call('count_devices', { text }), [{ count: found.length }]);
		});
		await checks.check('says what to change if a number is invalid, or a device does not exist', async () => {
			const [none, unknown] = [{ limit: 0 }, { serial_number: 'RT00000000' }];
			assert.match(
				String(await call('list_devices', none)),
				/'Limit' is not a whole number of 1 or more.*Enter 1 or more/s,
			);
			assert.match(String(await call('get_device', unknown)), UNKNOWN);
		});
		await client.close();
	};
	await published(main, workflow.id, ask);
}

/** n8n's own agent with the tools of `agent-chat.json`, and a model with fixed responses. */
export async function agentChat({ main, model, checks, workflow, devices }: ExampleSetup): Promise<void> {
	const ask = async (tool: string, args: object) => {
		model.next = { tool, args };
		const question = { action: 'sendMessage', sessionId: 'e2e', chatInput: 'What do you know?' };
		const results = await main.execute(workflow.id, 'When chat message received', question);
		return JSON.stringify(results['AI Agent']?.items[0]);
	};
	await checks.check('the model gets the three tools, and responds with the result of its tool', async () => {
		const answer = await ask('list_devices', { limit: 1, text: '' });
		const names = model.requests[0]?.tools.map((tool) => tool.function.name).sort();
		assert.deepEqual(names, ['count_devices', 'get_device', 'list_devices']);
		assert.match(answer, new RegExp(String(devices[0]?.createTime)));
	});
	// n8n's agent doesn't check arguments: the model's values arrive unchanged.
	await checks.check('a number as text and null are understood', async () => {
		const careless = await ask('list_devices', { limit: '2', text: null });
		assert.equal(careless.split('createTime').length - 1, 2);
	});
	await checks.check('the refusal of a tool says to the model what to change', async () => {
		assert.match(await ask('get_device', { serial_number: 'RT00000000' }), UNKNOWN);
		assert.match(await ask('get_device', {}), /serial number in 'Device' is empty.*Enter a serial number/);
	});
}

const UNKNOWN = /No device has this serial number.*device RT00000000.*Check the serial number/s;

async function connect(url: URL, headers: Record<string, string>): Promise<Client> {
	const client = new Client({ name: 'agent', version: '1.0.0' });
	// Under exactOptionalPropertyTypes the SDK's class does not fit the SDK's own interface.
	await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }) as Transport);
	return client;
}
