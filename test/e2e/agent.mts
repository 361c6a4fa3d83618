/** The examples for agents: an MCP client lists and calls the tools, and n8n's own agent uses them. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import assert from 'node:assert/strict';
import { z } from 'zod/v4';

import type { ExampleWorkflow } from '../../testbed/n8n/examples.mts';
import type { ExampleSetup } from './exampleSetup.mts';

const answerSchema = z.object({
	isError: z.boolean().default(false),
	content: z.tuple([z.object({ type: z.literal('text'), text: z.string() })]),
});

/** The tools of `agent-tools.json`, called by a real MCP client. */
export async function agentTools(
	{ main, platform, toolsToken, checks }: ExampleSetup,
	workflow: ExampleWorkflow,
): Promise<void> {
	await main.publish(workflow.id);
	const url = new URL(`${main.url}/mcp/devices`);
	const refused = await connect(url, {}).catch((error: unknown) => error);
	checks.check('a request without the token is refused', () => assert(refused instanceof Error));

	const client = await connect(url, { Authorization: `Bearer ${toolsToken}` });
	const call = async (name: string, args: Record<string, unknown>) => {
		const { isError, content } = answerSchema.parse(await client.callTool({ name, arguments: args }));
		return isError
			? { refusal: content[0].text }
			: { items: z.array(z.record(z.string(), z.unknown())).parse(JSON.parse(content[0].text)) };
	};
	try {
		const { tools } = await client.listTools();
		checks.check('lists three tools; each argument has a description, and a safe default if it is optional', () => {
			const told = Object.fromEntries(tools.map(({ name, inputSchema }) => [name, inputSchema]));
			assert.deepEqual(Object.keys(told).sort(), ['count_devices', 'get_device', 'list_devices']);
			assert.deepEqual(told['get_device']?.required, ['serial_number']);
			assert.deepEqual(told['list_devices']?.required, undefined);
			for (const { description, inputSchema } of tools) {
				assert(description && description.length > 20);
				const argumentsSchema = z.record(z.string(), z.looseObject({ description: z.string().min(10) }));
				argumentsSchema.parse(inputSchema.properties);
			}
		});

		const { devices } = platform.fleet;
		const [device, newest] = [devices[417], [...devices].sort((a, b) => (a.createTime < b.createTime ? 1 : -1))[0]];
		assert(device && newest);
		const read = await call('get_device', { serial_number: device.sn });
		checks.check('reads a device', () => assert.equal(read.items?.[0]?.['modelName'], device.model.name));

		const some = await call('list_devices', { limit: 3 });
		const unasked = await call('list_devices', {});
		const tooMany = await call('list_devices', { limit: 100_000, text: '' });
		checks.check('lists as many devices as requested: 20 by default, and 100 at most', () => {
			assert.deepEqual(
				[some, unasked, tooMany].map(({ items }) => items?.length),
				[3, 20, 100],
			);
			assert.equal(some.items?.[0]?.['createTime'], newest.createTime);
		});
		const none = await call('list_devices', { limit: 0 });
		checks.check('says what to change if a number is invalid', () => {
			assert.match(none.refusal ?? '', /'Limit' is not a whole number of 1 or more.*Enter 1 or more/s);
		});

		const all = await call('count_devices', {});
		const few = await call('count_devices', { text: device.sn.slice(0, 4) });
		checks.check('counts all devices, and those that match a text', () => {
			const found = devices.filter(({ sn, description, model }) =>
				[sn, description, model.name].some((text) => text?.includes(device.sn.slice(0, 4))),
			);
			assert.deepEqual([all.items, few.items], [[{ count: devices.length }], [{ count: found.length }]]);
		});

		const unknown = await call('get_device', { serial_number: 'RT00000000' });
		checks.check('says that a device with a wrong serial number does not exist, and what to check', () => {
			assert.match(
				unknown.refusal ?? '',
				/No device has this serial number.*device RT00000000.*Check the serial number/s,
			);
		});
	} finally {
		await client.close();
		await main.unpublish(workflow.id);
	}
}

/** n8n's own agent with the tools of `agent-chat.json`, and a model with fixed responses. */
export async function agentChat(
	{ main, platform, model, checks }: ExampleSetup,
	workflow: ExampleWorkflow,
): Promise<void> {
	const [newest] = platform.fleet.devices;
	const ask = async (tool: string, args: object) => {
		model.next = { tool, args };
		const question = { action: 'sendMessage', sessionId: 'e2e', chatInput: 'What do you know?' };
		const results = await main.execute(workflow.id, 'When chat message received', question);
		return JSON.stringify(results['AI Agent']?.items[0]);
	};
	const answer = await ask('list_devices', { limit: 1, text: '' });
	checks.check('the model gets the three tools', () => {
		const names = model.requests[0]?.tools.map((tool) => tool.function.name).sort();
		assert.deepEqual(names, ['count_devices', 'get_device', 'list_devices']);
	});
	checks.check('and responds with the result of its tool', () =>
		assert.match(answer, new RegExp(String(newest?.createTime))),
	);

	// n8n's agent doesn't check arguments: the model's values arrive unchanged.
	const careless = await ask('list_devices', { limit: '2', text: null });
	checks.check('a number as text and null are understood', () => {
		assert.equal(careless.split('createTime').length - 1, 2);
	});
	const unknown = await ask('get_device', { serial_number: 'RT00000000' });
	const none = await ask('get_device', {});
	checks.check('the refusal of a tool says to the model what to change', () => {
		assert.match(unknown, /No device has this serial number.*device RT00000000.*Check the serial number/);
		assert.match(none, /serial number in 'Device' is empty.*Enter a serial number/);
	});
}

async function connect(url: URL, headers: Record<string, string>): Promise<Client> {
	const client = new Client({ name: 'agent', version: '1.0.0' });
	// Under exactOptionalPropertyTypes the SDK's class does not fit the SDK's own interface.
	await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }) as Transport);
	return client;
}
