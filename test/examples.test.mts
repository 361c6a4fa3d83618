import { exampleCredentials, exampleWorkflows } from '../testbed/n8n/examples.mts';
import { useBench } from '../testbed/jest.mts';
import { z } from 'zod/v4';

const bench = useBench();

const place = z.tuple([z.number(), z.number()]);
const nodeSchema = z.looseObject({
	id: z.string(),
	name: z.string(),
	type: z.string(),
	position: place,
	parameters: z.looseObject({}),
	credentials: z.record(z.string(), z.object({ id: z.string(), name: z.string() })).default({}),
});
const noteSchema = z.object({ width: z.number(), height: z.number(), content: z.string() });

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

test('there are eight and more, each with an id and a name of its own', async () => {
	const examples = await read();
	expect(examples.length).toBeGreaterThanOrEqual(8);
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
		expect({ file, unknown: named.filter((name) => !nodes.some((node) => node.name === name)) }).toEqual({ file, unknown: [] });

		const covered = nodes.filter(({ position: [x, y] }) => {
			const [left, top] = note?.position ?? [0, 0];
			const beside = x > left + (note?.width ?? 0) || x + NODE.width < left;
			return !beside && y < top + (note?.height ?? 0) && y + NODE.height > top;
		});
		expect({ file, covered: covered.map(({ name }) => name) }).toEqual({ file, covered: [] });
	}
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
		for (const { name, type, parameters } of nodes.filter((node) => node.type.startsWith('n8n-nodes-device-management.'))) {
			const { properties } = bench.engine.packages.getByNameAndVersion(type, 1).description;
			const known = new Set(properties.map((property) => property.name));
			const unknown = Object.keys(parameters).filter((parameter) => !known.has(parameter));
			expect({ file, name, unknown }).toEqual({ file, name, unknown: [] });
		}
	}
});
