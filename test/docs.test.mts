import type { INodeProperties } from 'n8n-workflow';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod/v4';

import { DeviceManagementApi } from '../credentials/DeviceManagementApi.credentials.ts';
import { DeviceManagement } from '../nodes/DeviceManagement/DeviceManagement.node.ts';
import { DeviceManagementTrigger } from '../nodes/DeviceManagement/DeviceManagementTrigger.node.ts';
import { deviceFieldChoices } from '../nodes/DeviceManagement/fields/deviceFields.ts';
import type { Resource } from '../nodes/DeviceManagement/resources/operation.ts';
import { RESOURCES } from '../nodes/DeviceManagement/resources/index.ts';
import { triggerFields } from '../nodes/DeviceManagement/trigger/form.ts';
import { checkout } from '../testbed/checkout.mts';
import { nodeType } from '../testbed/deviceWorkflow.mts';
import { useBench } from '../testbed/jest.mts';
import { signInCredentials } from '../testbed/n8n/examples.mts';
import {
	anchorsOf,
	italicsOn,
	jsonOn,
	lostTargetsOf,
	namesOn,
	pages,
	readPage,
	targetsOf,
	userPages,
	workflowsOn,
} from '../testbed/pages.mts';
import { choices, everyField, labelsOf, withoutTwins } from './form.mts';

// Enough devices for each part and filter that a page shows. It has the device that pages name, as every seeded fleet of 720 devices.
const bench = useBench({ fleet: { size: 3500, seed: 1 } });
const ours = /^n8n-nodes-device-management\./;

describe.each(pages)('%s', (page) => {
	test('has no broken links', () => {
		expect(lostTargetsOf(page)).toEqual([]);
	});

	test('shows each picture for light and for dark, with a text alternative', () => {
		for (const [picture] of readPage(page).matchAll(/<picture>[\s\S]*?<\/picture>/g)) {
			const [, dark, darkType] = /srcset="([^"]+)-dark\.(png|svg)"/.exec(picture) ?? [];
			const [, light, lightType] = /src="([^"]+)-light\.(png|svg)"/.exec(picture) ?? [];
			expect({ picture, dark, type: darkType }).toEqual({ picture, dark: light, type: lightType });
			expect(light).toBeDefined();
			expect(picture).toMatch(/alt="[^"]{10,}"/);
			// A new operation or field would make it wrong.
			expect(picture).not.toMatch(
				/ (two|three|four|five|six|seven|eight|nine|ten|\d+) (\w+ )?(action|event|field|operation|option|tool|trigger)s/,
			);
		}
	});
});

const pagesWithNodes = pages.filter((page) => workflowsOn(page).length + parametersOn(page).length > 0);

describe.each(pagesWithNodes)('%s', (page) => {
	test('shows workflows with valid parameters and connections', () => {
		for (const { nodes, connections } of workflowsOn(page)) {
			for (const { type, parameters } of nodes.filter((node) => ours.test(node.type))) {
				expect(strayIn(parameters, fieldsOf(type))).toEqual([]);
			}
			const names = nodes.map(({ name }) => name);
			expect(new Set(names).size).toBe(names.length);
			const joined = Object.values(connections).flatMap((outputs) => Object.values(outputs).flat(2));
			expect(names).toEqual(expect.arrayContaining([...Object.keys(connections), ...joined.map(({ node }) => node)]));
		}
		for (const parameters of parametersOn(page)) expect(strayIn(parameters, fieldsOf(nodeType))).toEqual([]);
	});

	test('shows nodes that run unchanged', async () => {
		const nodes = workflowsOn(page).flatMap((workflow) => workflow.nodes.filter(({ type }) => type === nodeType));
		for (const parameters of [...nodes.map((node) => node.parameters), ...parametersOn(page)]) {
			const result = await bench.run(parameters, { input: [{ sn: bench.fleet.at(0).sn }] });
			expect({ parameters, error: result.error?.message }).toEqual({ parameters, error: undefined });
			expect({ parameters, items: result.data('Devices').length }).not.toEqual({ parameters, items: 0 });
		}
	});
});

/** As a page tells operations apart: Get Many, Group: Get Many, and API Request for the operation 'Request' of this resource. */
function operationLabels(several: readonly Resource[]): string[] {
	return several.flatMap(({ name, operations }) =>
		Object.values(operations).map((operation) => {
			if (name === 'Device') return operation.name;
			return name.endsWith(operation.name) ? name : `${name}: ${operation.name}`;
		}),
	);
}

function resourcesThat(isMeant: (resource: Resource) => boolean): Resource[] {
	return Object.values(RESOURCES).filter(isMeant);
}

function formOf(several: readonly Resource[]): INodeProperties[] {
	return several.flatMap(({ operations }) => Object.values(operations).flatMap(({ fields }) => fields));
}

/**
 * The labels of a form and of its choices, without those that another page describes. Key, name and value of a pair, fields of a device
 * and HTTP methods describe themselves.
 */
function fieldLabels(fields: readonly INodeProperties[], elsewhere: readonly INodeProperties[] = []): string[] {
	const known = new Set(everyField(elsewhere).map(({ path }) => path));
	return everyField(fields)
		.filter(({ path, property }) => !known.has(path) && !['hidden', 'notice'].includes(property.type))
		.filter(({ path }) => !/\.(pair|parameter)\./.test(path))
		.flatMap(({ path, property }) => [
			property.displayName,
			...choices(path === 'method' ? undefined : property)
				.filter(({ value }) => !deviceFieldChoices.some((field) => field.value === value))
				.map(({ name }) => name),
		]);
}

/** Parameters of a node of ours that a page shows without a node around them. */
function parametersOn(page: string): Array<Record<string, unknown>> {
	const schema = z.looseObject({ resource: z.string(), operation: z.string() });
	return jsonOn(page).flatMap((json) => schema.safeParse(json).data ?? []);
}

function fieldsOf(type: string): INodeProperties[] {
	return withoutTwins(bench.engine.packages.getByNameAndVersion(type, 1).description.properties);
}

/** Returns the paths of values that the form doesn't have: fields at any depth, and choices. */
function strayIn(values: unknown, fields: readonly INodeProperties[], path = ''): string[] {
	return Object.entries(z.record(z.string(), z.unknown()).parse(values)).flatMap(([name, value]) => {
		const here = `${path}${name}`;
		const known = fields.filter((field) => field.name === name);
		if (known.length === 0) return [here];
		// The form has the field once for each operation.
		const strays = known.map((field) => strayInField(value, field, here));
		return strays.find((stray) => stray.length === 0) ?? strays[0] ?? [];
	});
}

function strayInField(value: unknown, field: INodeProperties, here: string): string[] {
	if (typeof value === 'string' && value.startsWith('=')) return [];
	switch (field.type) {
		case 'options':
			return choices(field).some((choice) => choice.value === value) ? [] : [`${here}: ${String(value)}`];
		case 'multiOptions':
			return z
				.array(z.string())
				.parse(value)
				.flatMap((chosen) => strayInField(chosen, { ...field, type: 'options' }, here));
		case 'collection':
			return strayIn(value, (field.options ?? []).filter(isField), `${here}.`);
		case 'fixedCollection':
			return Object.entries(z.record(z.string(), z.unknown()).parse(value)).flatMap(([name, entries]) => {
				const group = field.options?.find((option) => 'values' in option && option.name === name);
				if (group === undefined || !('values' in group)) return [`${here}.${name}`];
				return [entries].flat().flatMap((entry) => strayIn(entry, group.values, `${here}.${name}.`));
			});
		default:
			return [];
	}
}

function isField(option: NonNullable<INodeProperties['options']>[number]): option is INodeProperties {
	return 'type' in option;
}

test('the README leads to every page', () => {
	const reached = new Set(['README.md']);
	for (const page of reached) {
		for (const target of targetsOf(page)) {
			const place = join(page, '..', target.split('#', 1)[0] ?? '');
			if (pages.includes(place)) reached.add(place);
		}
	}
	expect(pages.filter((page) => !reached.has(page))).toEqual([]);
});

test('every example and every picture is on a page', () => {
	const targets = new Set(pages.flatMap((page) => targetsOf(page).map((target) => join(page, '..', target))));
	const files = ['examples', 'docs/pictures']
		.filter((folder) => existsSync(join(checkout, folder)))
		.flatMap((folder) => readdirSync(join(checkout, folder)).map((file) => join(folder, file)));
	expect(files.filter((file) => !targets.has(file))).toEqual([]);
});

/** What a page has to name, from the tables that the nodes are made of. A new resource belongs to docs/list.md. */
const api = resourcesThat(({ name }) => name === 'API Request');
const listed = resourcesThat(({ name }) => name !== 'API Request');
const DESCRIBED = Object.entries({
	'README.md': operationLabels([...listed, ...api]),
	'docs/list.md': [...operationLabels(listed), ...fieldLabels(formOf(listed))],
	'docs/api-request.md': [...operationLabels(api), ...fieldLabels(formOf(api), formOf(listed))],
	'docs/watch.md': fieldLabels(triggerFields, formOf([...listed, ...api])),
	'docs/connect.md': fieldLabels(new DeviceManagementApi().properties),
});

test.each(DESCRIBED)('%s names each operation, event, field and choice that it describes', (page, labels) => {
	const named = new Set(namesOn(page));
	const missing = [...new Set(labels)].filter((label) => !named.has(label));
	expect(missing.map((label) => `Describe '${label}' in ${page}: in italics, in bold or as a heading`)).toEqual([]);
});

test('texts in italics on pages for users are labels of the package or of n8n', () => {
	const OF_N8N = [
		...['On Error', 'Continue', 'Continue (using error output)', 'Retry On Fail', 'Import from File', 'Tool'],
		...['MCP Server Trigger', 'Remove Duplicates'],
		'Authentication → Predefined Credential Type → Device Management API',
	];
	const descriptions = [new DeviceManagement(), new DeviceManagementTrigger()].map(({ description }) => description);
	const labels = new Set([
		...OF_N8N,
		...descriptions.flatMap(({ displayName, properties }) => [displayName, ...labelsOf(properties)]),
		...[new DeviceManagementApi()].flatMap(({ displayName, properties }) => [displayName, ...labelsOf(properties)]),
		...signInCredentials(bench.platform).map(({ name }) => name),
	]);
	const unknown = userPages.flatMap((page) =>
		italicsOn(page)
			.filter((label) => !labels.has(label))
			.map((label) => `${page}: ${label}`),
	);
	expect(unknown).toEqual([]);
});

test('help links in the editor lead to existing pages and headings', () => {
	const home = 'https://github.com/n8n-nodes-device-management/n8n-nodes-device-management';
	const codex = readdirSync(join(checkout, 'nodes/DeviceManagement'))
		.filter((file) => file.endsWith('.node.json'))
		.map((file) => readFileSync(join(checkout, 'nodes/DeviceManagement', file), 'utf8'));
	const links = [
		new DeviceManagementApi().documentationUrl,
		...codex.flatMap((text) => text.match(/https:[^"]+/g) ?? []),
	];
	expect(links.length).toBeGreaterThan(codex.length);
	for (const link of links) {
		const [, page = '', anchor] = new RegExp(`^${home}/blob/main/([^#]+)(?:#(.+))?$`).exec(link) ?? [];
		expect({ link, page }).toEqual({ link, page: pages.find((known) => known === page) });
		if (anchor !== undefined) expect(anchorsOf(page)).toContain(anchor);
	}
});

test('the messages that the page about trouble quotes are those of the package', () => {
	const sources = ['nodes', 'credentials'].flatMap((folder) =>
		readdirSync(join(checkout, folder), { recursive: true, encoding: 'utf8' })
			.filter((file) => file.endsWith('.ts'))
			.map((file) => readFileSync(join(checkout, folder, file), 'utf8')),
	);
	const quoted = [...readPage('docs/troubleshooting.md').matchAll(/^\| “(.+?)” +\|/gm)].map(
		([, message = '']) => message,
	);
	expect(quoted.length).toBeGreaterThan(10);
	// “…” and numbers replace varying parts. The others must be in the sources.
	const pieces = quoted.flatMap((message) => message.split(/…|\(|\d+/)).map((piece) => piece.trim());
	expect(pieces.filter((piece) => !sources.some((source) => source.includes(piece)))).toEqual([]);
});
