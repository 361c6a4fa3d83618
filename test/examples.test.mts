import type { IDataObject } from 'n8n-workflow';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod/v4';

import { properties } from '../nodes/DeviceManagement/resources/index.ts';
import { checkout } from '../testbed/checkout.mts';
import { useBench } from '../testbed/jest.mts';
import { exampleCredentials, exampleFleet, exampleWorkflows } from '../testbed/n8n/examples.mts';
import { jsonOf } from '../testbed/output.mts';
import { OTHER_ENDPOINT } from '../testbed/platform/server.mts';
import { triggerType, Watch } from '../testbed/watch.mts';

const bench = useBench({ fleet: exampleFleet });

const place = z.tuple([z.number(), z.number()]);
const nodeSchema = z.looseObject({
	id: z.string(),
	name: z.string(),
	type: z.string(),
	position: place,
	parameters: z.looseObject({}),
	credentials: z.record(z.string(), z.object({ id: z.string(), name: z.string() })).default({}),
	disabled: z.boolean().default(false),
});
const noteSchema = z.object({ width: z.number(), height: z.number(), content: z.string() });

const SCHEDULE = 'n8n-nodes-base.scheduleTrigger';

/** How much room a node takes on the canvas, its name included. */
const NODE = { width: 100, height: 140 };

async function read() {
	return [...(await exampleWorkflows())].map(([file, workflow]) => {
		const nodes = z.array(nodeSchema).parse(workflow.nodes);
		const isNote = ({ type }: { type: string }) => type === 'n8n-nodes-base.stickyNote';
		const notes = nodes.filter(isNote).map((note) => ({ ...note, ...noteSchema.parse(note.parameters) }));
		return { file, workflow, notes, nodes: nodes.filter((node) => !isNote(node)) };
	});
}

test('each has an id and a name of its own', async () => {
	const examples = await read();
	expect(new Set(examples.map(({ workflow }) => workflow.id)).size).toBe(examples.length);
	expect(new Set(examples.map(({ workflow }) => workflow.name)).size).toBe(examples.length);
	for (const { workflow } of examples) expect(workflow.name).toMatch(/^Example: [a-z]/);
});

test('each has a note that says what to change, by the names of its nodes, and covers none of them', async () => {
	for (const { file, notes, nodes } of await read()) {
		const [note] = notes;
		const [, changes = ''] = note?.content.split('**Change**') ?? [];
		const named = [...changes.matchAll(/\*\*(.+?)\*\*/g)].map(([, name]) => name);
		expect({ file, named }).not.toEqual({ file, named: [] });
		expect({ file, unknown: named.filter((name) => !nodes.some((node) => node.name === name)) }).toEqual({
			file,
			unknown: [],
		});

		const covered = nodes.filter(({ position: [x, y] }) =>
			notes.some(({ position: [left, top], width, height }) => {
				const beside = x > left + width || x + NODE.width < left;
				return !beside && y < top + height && y + NODE.height > top;
			}),
		);
		expect({ file, covered: covered.map(({ name }) => name) }).toEqual({ file, covered: [] });
	}
});

test('notes name other examples as the editor does, and the error workflow where an execution starts unattended', async () => {
	const examples = await read();
	const names = new Set(examples.map(({ workflow }) => workflow.name));
	for (const { file, notes, nodes } of examples) {
		const text = notes.map(({ content }) => content).join();
		const named = [...text.matchAll(/\*(Example: .+?)\*/g)].map(([, name = '']) => name);
		const wrong = [...named.filter((name) => !names.has(name)), ...examples.filter((each) => text.includes(each.file))];
		expect({ file, wrong }).toEqual({ file, wrong: [] });
		if (nodes.some(({ type }) => type === triggerType || type === SCHEDULE)) {
			expect(named).toContain('Example: mail when an execution fails');
		}
	}
});

test('they are few enough to look through, and none sends anything to a placeholder', async () => {
	const examples = await read();
	expect(examples.length).toBeLessThanOrEqual(18);
	const placeholders = examples.flatMap(({ nodes }) =>
		nodes.filter(({ type }) => type === 'n8n-nodes-base.noOp').map(({ name }) => name),
	);
	expect(new Set(placeholders)).toEqual(new Set(['Do your work here']));
});

test('each scheduled example ends with a call of a monitor, which only the heartbeat makes until you switch it on', async () => {
	const scheduled = (await read()).filter(({ nodes }) => nodes.some(({ type }) => type === SCHEDULE));
	for (const { file, workflow, nodes } of scheduled) {
		const calls = nodes.filter(({ type }) => type === 'n8n-nodes-base.httpRequest');
		expect({ file, calls }).toEqual({
			file,
			calls: [
				expect.objectContaining({
					name: 'Call monitor',
					disabled: file !== 'heartbeat',
					parameters: { url: 'https://your-monitor.example.com/your-check', options: {} },
				}),
			],
		});
		expect(workflow['connections']).not.toHaveProperty('Call monitor');
	}
});

test('connections and expressions name nodes that are there', async () => {
	for (const { file, workflow, nodes } of await read()) {
		const connections = z
			.record(z.string(), z.record(z.string(), z.array(z.array(z.looseObject({ node: z.string() })))))
			.parse(workflow['connections']);
		const targets = Object.values(connections).flatMap((outputs) => Object.values(outputs).flat(2));
		const referred = [...JSON.stringify(nodes).matchAll(/\$\('(.+?)'\)/g)].map(([, name = '']) => name);
		const named = [...Object.keys(connections), ...targets.map(({ node }) => node), ...referred];
		const lost = named.filter((name) => !nodes.some((node) => node.name === name));
		expect({ file, lost }).toEqual({ file, lost: [] });
	}
});

test('the first example lists devices without a filter', async () => {
	const parameters = (await read()).find(({ file }) => file === 'list-devices')?.nodes[1]?.parameters;
	expect(parameters).toMatchObject({ operation: 'getAll', filters: {}, sort: {} });
});

test('they are made of nodes of n8n and ours, with the credentials that npm start makes', async () => {
	const { platform } = bench;
	const known = exampleCredentials(platform, new Map([['north', platform]]), 'token');
	for (const { nodes } of await read()) {
		for (const { type, credentials } of nodes) {
			expect(type).toMatch(/^(?:n8n-nodes-base|@n8n\/n8n-nodes-langchain|n8n-nodes-device-management)\.\w+$/);
			for (const [kind, { id, name }] of Object.entries(credentials)) {
				expect(known).toContainEqual(expect.objectContaining({ type: kind, id, name }));
			}
		}
	}
});

test('the parameters of our nodes are those of their forms', async () => {
	for (const { file, nodes } of await read()) {
		for (const { name, type, parameters } of nodes.filter((node) =>
			node.type.startsWith('n8n-nodes-device-management.'),
		)) {
			const { properties } = bench.engine.packages.getByNameAndVersion(type, 1).description;
			const known = new Set(properties.map((property) => property.name));
			const unknown = Object.keys(parameters).filter((parameter) => !known.has(parameter));
			expect({ file, name, unknown }).toEqual({ file, name, unknown: [] });
		}
	}
});

test('our nodes run as they stand there, each with what the one before it puts out', async () => {
	const { sn } = bench.fleet.at(0);
	const sample = {
		sn,
		'Serial Number': sn,
		'New Description': 'Pier 4',
		query: { sn },
		body: { limit: 5, skip: 0 },
		limit: 5,
		skip: 0,
	};
	for (const { file, nodes } of await read()) {
		let input: Array<Record<string, unknown>> = [sample];
		for (const { name, type, parameters } of nodes.filter((node) =>
			node.type.startsWith('n8n-nodes-device-management.'),
		)) {
			if (type === triggerType) {
				await new Watch(bench, parameters as IDataObject).activate();
			} else if (type.endsWith('Tool')) {
				const [{ error, response } = {}] = await bench.callTool(parameters, [
					{ serial_number: sn, limit: 5, text: '' },
				]);
				expect({ file, name, error, response }).toEqual({ file, name, error: undefined, response: expect.anything() });
			} else {
				const output = jsonOf(await bench.run(parameters, { input: input as IDataObject[] }));
				expect({ file, name, items: output.length }).not.toEqual({ file, name, items: 0 });
				input = output.slice(0, 5).map((item) => ({ ...sample, ...item }));
			}
		}
	}
});

test('the example of another endpoint counts the devices of each of its records', async () => {
	const [list, count] = (await read()).find(({ file }) => file === 'other-endpoint')?.nodes.slice(1, 3) ?? [];
	const models = jsonOf(await bench.run(list?.parameters ?? {}));
	expect(models).toEqual(bench.fleet.models);
	expect(jsonOf(await bench.run(count?.parameters ?? {}, { input: models }))).toEqual(
		models.map(({ name }) => ({ count: bench.fleet.devices.filter(({ model }) => model.name === name).length })),
	);
});

test('the form, the docs and the example name the same endpoint for API Request', () => {
	expect(properties.find(({ name }) => name === 'path')?.placeholder).toBe(`e.g. ${OTHER_ENDPOINT}`);
	for (const file of ['docs/api-request.md', 'examples/other-endpoint.json']) {
		expect(readFileSync(join(checkout, file), 'utf8')).toContain(`"path": "${OTHER_ENDPOINT}"`);
	}
});
