import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod/v4';

import { nodeType } from '../testbed/deviceWorkflow.mts';
import { useBench } from '../testbed/jest.mts';
import { exampleCredentials, exampleWorkflows, workflowsOfStart } from '../testbed/n8n/examples.mts';
import { mailCredential } from '../testbed/n8n/mailServer.mts';
import { jsonOf } from '../testbed/output.mts';
import { jsonOn, pages, readPage } from '../testbed/pages.mts';
import { triggerType, Watch } from '../testbed/watch.mts';

// Enough devices for each part and filter. It has the devices that pages and examples name, as every seeded fleet of 720 devices.
const bench = useBench({ fleet: { size: 3500, seed: 1 } });

const nodeSchema = z.object({
	name: z.string(),
	type: z.string(),
	typeVersion: z.number(),
	parameters: z.record(z.string(), z.unknown()),
	credentials: z.record(z.string(), z.object({ id: z.string(), name: z.string() })).default({}),
	disabled: z.boolean().default(false),
	executeOnce: z.boolean().default(false),
	retryOnFail: z.boolean().default(false),
	maxTries: z.number().optional(),
	waitBetweenTries: z.number().optional(),
});
const connectionSchema = z.object({ node: z.string() });
const connectionsSchema = z.record(z.string(), z.record(z.string(), z.array(z.array(connectionSchema))));

const SCHEDULE = 'n8n-nodes-base.scheduleTrigger';
const isNote = ({ type }: { type: string }) => type === 'n8n-nodes-base.stickyNote';

async function examples() {
	return [...(await exampleWorkflows())].map(([file, { name, id, nodes, connections }]) => {
		const all = z.array(nodeSchema).parse(nodes);
		const notes = all.filter(isNote).map(({ parameters }) => String(parameters['content']));
		return {
			file,
			name,
			id,
			notes,
			nodes: all.filter((node) => !isNote(node)),
			connections: connectionsSchema.parse(connections),
		};
	});
}
let all: Awaited<ReturnType<typeof examples>>;
beforeAll(async () => void (all = await examples()));
const nodesOf = (type: string) => all.flatMap(({ nodes }) => nodes).filter((node) => node.type.endsWith(`.${type}`));

test('examples are few enough to look through, with short notes', () => {
	const words = all.flatMap(({ notes }) => notes.map((note) => note.split(/\s+/).length));
	expect(all.length).toBeLessThanOrEqual(20);
	expect(Math.max(...words)).toBeLessThanOrEqual(150);
	expect(words.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(1900);
});

describe('examples, and parameters on pages', () => {
	/** Parameters of a node of ours that a page shows without a node around them. */
	const alone = z.looseObject({ resource: z.string(), operation: z.string() });

	test('have our nodes with fields of their forms, and these run unchanged, with what the one before puts out', async () => {
		const onPages = pages.flatMap((page) =>
			jsonOn(page).flatMap((json) => {
				const { data: parameters } = alone.safeParse(json);
				return parameters ? { file: page, nodes: [{ type: nodeType, parameters }] } : [];
			}),
		);
		for (const { file, nodes } of [...onPages, ...all]) {
			let input: IDataObject[] = [sample()];
			for (const { type, parameters } of nodes.filter((node) => node.type.startsWith('n8n-nodes-device-management.'))) {
				const { description } = bench.engine.packages.getByNameAndVersion(type, 1);
				const known = description.properties.map(({ name }) => name);
				expect([file, known]).toEqual([file, expect.arrayContaining(Object.keys(parameters))]);
				input = await run(file, type, parameters, input);
			}
		}
	});

	test('read a time of the platform right, also while the clocks of New York, the default zone of n8n, change', async () => {
		const [, right = ''] = /`{{ (DateTime\..+?) }}`/.exec(readPage('docs/list.md')) ?? [];
		const hoursBetween = async (time: string) => {
			const input = ['2026-03-08 02:30:00', '2026-03-08 03:30:00'].map((createTime) => ({ createTime }));
			const parameter = [{ name: 'at', value: `={{ ${time}.toMillis() }}` }];
			await bench.run({ resource: 'api', operation: 'request', path: '/api/echo', query: { parameter } }, { input });
			const [before, after] = bench.platform.requests.slice(-2).map(({ query }) => Number(query['at']));
			return (Number(after) - Number(before)) / 3_600_000;
		};
		expect(await hoursBetween('$json.createTime.toDateTime()')).toBe(0);
		expect(await hoursBetween(right)).toBe(1);
	});

	const sample = () => {
		const { sn } = bench.fleet.at(0);
		const fields = { sn, 'Serial Number': sn, 'New Description': 'Pier 4', limit: 5, skip: 0 };
		return { ...fields, query: { sn }, body: { limit: 5, skip: 0 } };
	};

	/** @returns input items for the next node */
	async function run(file: string, type: string, parameters: Record<string, unknown>, input: IDataObject[]) {
		if (type === triggerType) {
			await new Watch(bench, parameters as IDataObject).activate();
			return input;
		}
		if (type.endsWith('Tool')) {
			const { sn } = bench.fleet.at(0);
			const [{ error, response } = {}] = await bench.callTool(parameters, [{ serial_number: sn, limit: 5, text: '' }]);
			expect({ file, error, response }).toEqual({ file, error: undefined, response: expect.anything() });
			return input;
		}
		const output = jsonOf(await bench.run(parameters, { input }));
		expect([file, parameters, output.length]).not.toEqual([file, parameters, 0]);
		return output.slice(0, 5).map((item) => ({ ...sample(), ...item }));
	}
});

describe('examples', () => {
	test('have an id and names of their own, and name only nodes and examples that exist', () => {
		for (const own of ['id', 'name'] as const) expect(new Set(all.map((each) => each[own])).size).toBe(all.length);
		const find = (text: string, mark: RegExp) => [...text.matchAll(mark)].map(([, name = '']) => name);
		for (const { file, notes, nodes, connections } of all) {
			const names = nodes.map(({ name }) => name);
			expect([file, [...new Set(names)]]).toEqual([file, names]);
			const targets = Object.values(connections).flatMap((outputs) => Object.values(outputs).flat(2));
			const setUp = find(notes[0]?.split('**Set up**')[1] ?? '', /\*\*(.+?)\*\*/g).filter(
				(name) => name !== 'Optional',
			);
			expect([file, setUp]).not.toEqual([file, []]);
			const referred = find(JSON.stringify(nodes), /\$\('(.+?)'\)/g);
			const named = [...Object.keys(connections), ...targets.map(({ node }) => node), ...referred, ...setUp];
			expect([file, names]).toEqual([file, expect.arrayContaining(named)]);
			expect(all.map(({ name }) => name)).toEqual(expect.arrayContaining(find(notes.join(), /\*(Example: .+?)\*/g)));
		}
	});

	test('send nothing to a placeholder: scheduled ones end with a call of a monitor that is off, except the heartbeat’s', () => {
		for (const { name } of nodesOf('noOp')) expect(name).toBe('Do your work here');
		for (const { file, nodes, connections } of all.filter(({ nodes }) => nodes.some(({ type }) => type === SCHEDULE))) {
			const calls = nodes.filter(({ type }) => type === 'n8n-nodes-base.httpRequest');
			const call = { name: 'Call monitor', disabled: file !== 'heartbeat', parameters: { url: '', options: {} } };
			expect([file, calls]).toEqual([file, [expect.objectContaining(call)]]);
			expect(connections).not.toHaveProperty('Call monitor');
		}
	});

	const having = (parameters: object) => ({ parameters: expect.objectContaining(parameters) });
	const asking = (authentication: string) => ({ ...having({ authentication }), credentials: {} });
	const TO_NOBODY = { fromEmail: '', toEmail: expect.stringMatching(/^(={{ \$json\.to }})?$/) };
	const RETRIES = { retryOnFail: true, maxTries: 5, waitBetweenTries: 5000 };
	const NUMBERS = { outputFormatting: { values: { general: 'UNFORMATTED_VALUE', date: 'SERIAL_NUMBER' } } };
	test.each<[promise: string, type: string, node: object]>([
		['let nobody in by a form, and leave the credential to the user', 'formTrigger', asking('basicAuth')],
		['let nobody in by a webhook', 'webhook', asking('headerAuth')],
		['let nobody in by MCP', 'mcpTrigger', asking('bearerAuth')],
		[
			'let only those chat who can open the workflow',
			'chatTrigger',
			{ parameters: expect.not.objectContaining({ public: true }) },
		],
		[
			'send each mail again, and to nobody until the user says to whom',
			'emailSend',
			{ ...having(TO_NOBODY), ...RETRIES },
		],
		[
			'get a date in a Google Sheet as a number, which is refused as no text',
			'googleSheets',
			having({ options: NUMBERS }),
		],
	])('%s', (_promise, type, node) => {
		const found = nodesOf(type).filter(({ parameters: { operation = 'read' } }) => operation === 'read');
		expect(found.length).toBeGreaterThan(0);
		for (const one of found) expect(one).toEqual(expect.objectContaining(node));
	});

	test('read the devices once, however many items a workflow is called with', () => {
		for (const { file, nodes, connections } of all) {
			for (const called of nodes.filter(({ type }) => type.endsWith('.executeWorkflowTrigger'))) {
				const [first] = connections[called.name]?.['main']?.flat() ?? [];
				const node = nodes.find(({ name }) => name === first?.node);
				// A part is asked for by the item.
				const isPerItem = JSON.stringify(node?.parameters).includes('$json.');
				expect([file, node?.executeOnce || isPerItem]).toEqual([file, true]);
			}
		}
	});

	test('are made of nodes of n8n and ours, with the credentials that npm start makes', () => {
		const ofPlatforms = exampleCredentials(bench.platform, new Map([['north', bench.platform]]), 'token');
		const known = [...ofPlatforms, mailCredential(25)];
		for (const { type, typeVersion, credentials } of all.flatMap(({ nodes }) => nodes)) {
			// In these versions, this node of n8n stops all polls.
			if (type.startsWith('n8n-nodes-base.postgres')) expect([2.1, 2.2, 2.3, 2.4, 2.5, 2.6]).not.toContain(typeVersion);
			expect(type).toMatch(/^(?:n8n-nodes-base|@n8n\/n8n-nodes-langchain|n8n-nodes-device-management)\.\w+$/);
			if (type === 'n8n-nodes-base.emailSend') expect(credentials).toHaveProperty('smtp');
			for (const [kind, { id, name }] of Object.entries(credentials)) {
				expect(known).toContainEqual(expect.objectContaining({ type: kind, id, name }));
			}
		}
	});

	test('all come with npm start: first an alert that does not wait, and a switch; one has rows', async () => {
		const [alert, switchDevice, ...others] = await workflowsOfStart();
		expect(others.length).toBe(all.length - 1);
		expect(alert?.nodes[0]?.parameters).toMatchObject({ forAtLeast: 0 });
		expect([alert?.name, switchDevice?.name].join()).toMatch(/\(at once\),.*switch a device off/);
		const pinned = JSON.stringify(others.find(({ id }) => id === 'exampleSheetLookup')?.['pinData']);
		const rows = [...pinned.matchAll(/"Serial Number":"(.+?)"/g)].map(([, sn = '']) => bench.fleet.get(sn)?.sn ?? '');
		expect(rows).toEqual(['RT46643907', 'LG27988829', '']);
	});
});
