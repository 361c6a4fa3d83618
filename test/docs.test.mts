import type { INodeProperties } from 'n8n-workflow';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { globSync } from 'tinyglobby';

import { DeviceManagementApi } from '../credentials/DeviceManagementApi.credentials.ts';
import { DeviceManagement } from '../nodes/DeviceManagement/DeviceManagement.node.ts';
import { DeviceManagementTrigger } from '../nodes/DeviceManagement/DeviceManagementTrigger.node.ts';
import { deviceFieldChoices } from '../nodes/DeviceManagement/fields/deviceFields.ts';
import { RESOURCES } from '../nodes/DeviceManagement/resources/index.ts';
import type { Resource } from '../nodes/DeviceManagement/resources/operation.ts';
import { triggerFields } from '../nodes/DeviceManagement/trigger/form.ts';
import { checkout } from '../testbed/checkout.mts';
import { signInCredentials } from '../testbed/n8n/examples.mts';
import {
	anchorsOf,
	italicsOn,
	lostTargetsOf,
	namesOn,
	pages,
	readPage,
	targetsOf,
	userPages,
} from '../testbed/pages.mts';
import { choices, everyField, labelsOf } from './form.mts';

const credential = new DeviceManagementApi();
const read = (file: string) => readFileSync(join(checkout, file), 'utf8');

test.each(pages)('%s has no broken links', (page) => {
	expect(lostTargetsOf(page)).toEqual([]);
});

test('the README leads to every page, and every example and picture is on a page', () => {
	const reached = new Set(['README.md']);
	for (const page of reached) {
		const targets = pages.includes(page) ? targetsOf(page) : [];
		for (const target of targets) reached.add(join(page, '..', target.split('#', 1)[0] ?? ''));
	}
	const shown = ['examples', 'docs/pictures'].flatMap((folder) =>
		readdirSync(join(checkout, folder)).map((file) => join(folder, file)),
	);
	expect([...pages, ...shown].filter((file) => !reached.has(file))).toEqual([]);
});

test('the first commands of the README are commands that .ci/run runs, and npm start', () => {
	const [block = ''] = /```sh[^]+?```/.exec(readPage('README.md')) ?? [];
	const commands = [...block.matchAll(/^npm .+/gm)].map(([command]) => command);
	expect(commands).toEqual(['npm run demo', 'npm test', 'npm start']);
	for (const command of commands.slice(0, 2)) {
		expect(read('.ci/run')).toMatch(new RegExp(`^(step|counted) '.+' ${command}( |$)`, 'm'));
	}
});

test('each picture is there for light and for dark, with a text alternative', () => {
	const pictures = pages.flatMap((page) => readPage(page).match(/<picture>[\s\S]*?<\/picture>/g) ?? []);
	expect(pictures.length).toBeGreaterThan(5);
	for (const picture of pictures) {
		expect(picture).toMatch(/srcset="([^"]+)-dark\.(png|svg)"[\s\S]*src="\1-light\.\2"/);
		expect(picture).toMatch(/alt="[^"]{10,}"/);
	}
});

const api = Object.values(RESOURCES).filter(({ name }) => name === 'API Request');
/** A new resource belongs to docs/list.md. */
const listed = Object.values(RESOURCES).filter(({ name }) => name !== 'API Request');

test.each([
	['README.md', operationLabels([...listed, ...api])],
	['docs/list.md', [...operationLabels(listed), ...fieldLabels(formOf(listed))]],
	['docs/api-request.md', [...operationLabels(api), ...fieldLabels(formOf(api), formOf(listed))]],
	['docs/watch.md', fieldLabels(triggerFields, formOf([...listed, ...api]))],
	['docs/connect.md', fieldLabels(credential.properties)],
])('%s names each operation, event, field and choice that it describes', (page, labels) => {
	const named = new Set(namesOn(page));
	const missing = [...new Set(labels)].filter((label) => !named.has(label));
	expect(missing.map((label) => `Describe '${label}' in ${page}: in italics, in bold or as a heading`)).toEqual([]);
});

/** As a page tells operations apart: Get Many, Group: Get Many, and API Request for the operation 'Request' of this resource. */
function operationLabels(resources: readonly Resource[]): string[] {
	return resources.flatMap(({ name, operations }) =>
		Object.values(operations).map((operation) => {
			if (name === 'Device') return operation.name;
			return name.endsWith(operation.name) ? name : `${name}: ${operation.name}`;
		}),
	);
}

function formOf(resources: readonly Resource[]): INodeProperties[] {
	return resources.flatMap(({ operations }) => Object.values(operations).flatMap(({ fields }) => fields));
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

test('texts in italics on pages for users are labels of the package or of n8n', () => {
	const ofN8n = [
		...['On Error', 'Continue', 'Continue (using error output)', 'Retry On Fail', 'Import from File', 'Tool'],
		...['MCP Server Trigger', 'Remove Duplicates'],
		'Authentication → Predefined Credential Type → Device Management API',
	];
	const access = { baseUrl: '', apiKey: '', loginName: '', password: '' };
	const forms = [credential, new DeviceManagement().description, new DeviceManagementTrigger().description];
	const labels = new Set([
		...ofN8n,
		...forms.flatMap(({ displayName, properties }) => [displayName, ...labelsOf(properties)]),
		...signInCredentials(access).map(({ name }) => name),
	]);
	const onPages = userPages.flatMap((page) => italicsOn(page).map((label) => ({ page, label })));
	expect(onPages.filter(({ label }) => !labels.has(label))).toEqual([]);
});

test('help links in the editor lead to existing pages and headings', () => {
	const home = 'https://github.com/n8n-nodes-device-management/n8n-nodes-device-management/blob/main/';
	const codex = globSync('nodes/**/*.node.json', { cwd: checkout });
	const links = [credential.documentationUrl, ...codex.flatMap((file) => read(file).match(/https:[^"]+/g) ?? [])];
	expect(links.length).toBeGreaterThan(codex.length);
	for (const link of links) {
		expect(link.startsWith(home)).toBe(true);
		const [page = '', anchor] = link.slice(home.length).split('#');
		expect(pages).toContain(page);
		if (anchor !== undefined) expect(anchorsOf(page)).toContain(anchor);
	}
});

test('the messages that the page about trouble quotes are those of the package', () => {
	const sources = globSync('{nodes,credentials}/**/*.ts', { cwd: checkout }).map(read).join();
	const messages = [...readPage('docs/troubleshooting.md').matchAll(/^\| “(.+?)” +\|/gm)];
	expect(messages.length).toBeGreaterThan(5);
	// “…” and numbers replace varying parts. The others must be in the sources.
	const pieces = messages.flatMap(([, message = '']) => message.split(/…|\(|\d+/)).map((piece) => piece.trim());
	expect(pieces.filter((piece) => !sources.includes(piece))).toEqual([]);
});
