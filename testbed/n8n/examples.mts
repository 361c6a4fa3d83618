/** The credentials, platforms and fleet that `examples/` need, for `npm start` and the end-to-end tests. */
import { readFile, readdir } from 'node:fs/promises';
import { join, parse } from 'node:path';
import { z } from 'zod/v4';

import { type EmbeddedPlatform, type PlatformAccess, type StartOptions, startPlatform } from '../platform/server.mts';
import { checkout } from '../checkout.mts';
import { targetsOf } from '../pages.mts';
import type { Credential } from './instance.mts';
import type { Database } from './postgres.mts';

const folder = join(checkout, 'examples');

/** A fleet with the devices that the examples need. */
export const exampleFleet = { size: 1000, seed: 1 } satisfies StartOptions['fleet'];

/** The tenants of `several-tenants.json`. Each has its own platform and key. */
const tenants = [
	{ name: 'north', size: 12, seed: 2 },
	{ name: 'south', size: 7, seed: 3 },
] as const;

export type TenantPlatforms = ReadonlyMap<string, EmbeddedPlatform>;

/** Starts a platform for each tenant, by the tenant's name. */
export async function startTenants(): Promise<TenantPlatforms> {
	const start = tenants.map(async ({ name, ...fleet }) => {
		return [name, await startPlatform({ fleet, apiKey: `key-of-${name}` })] as const;
	});
	return new Map(await Promise.all(start));
}

/**
 * Every credential that the examples name, and those of their callers. n8n selects the newest in a new node: the API key works
 * everywhere.
 * @param callersSecret what a person enters in a form, and a program sends to a webhook or to the tools of `agent-tools.json`
 */
export function exampleCredentials(platform: PlatformAccess, tenants: TenantPlatforms, callersSecret: string) {
	return [
		tenantsCredential(tenants),
		...callersCredentials(callersSecret).values(),
		...[databaseCredential('inventoryDatabase'), databaseCredential('n8nDatabase')],
		...signInCredentials(platform).reverse(),
	];
}

/** The name of a caller in a form, and of the header with the secret for a webhook. */
export const CALLER = { user: 'n8n', header: 'X-API-Key' };

/** By the type of the node that checks its caller. */
export function callersCredentials(secret: string): ReadonlyMap<string, Credential> {
	const { user, header } = CALLER;
	const of = (name: string, type: string, data: Credential['data']) => ({ id: `callers-${type}`, name, type, data });
	return new Map([
		['n8n-nodes-base.formTrigger', of('Forms (user and password)', 'httpBasicAuth', { user, password: secret })],
		['n8n-nodes-base.webhook', of('Webhooks (header)', 'httpHeaderAuth', { name: header, value: secret })],
		['@n8n/n8n-nodes-langchain.mcpTrigger', of('Device tools (token)', 'httpBearerAuth', { token: secret })],
	]);
}

/** The one credential for all tenants: address and key are expressions that an item's `tenant` decides. */
function tenantsCredential(platforms: TenantPlatforms): Credential {
	const choose = (field: 'baseUrl' | 'apiKey') => {
		const choices = Object.fromEntries([...platforms].map(([name, platform]) => [name, platform[field]]));
		return `={{ (${JSON.stringify(choices)})[$json.tenant] }}`;
	};
	const access = { baseUrl: choose('baseUrl'), apiKey: choose('apiKey') };
	return keyCredential('deviceManagementTenants', 'Device Management (tenants)', access);
}

/** The names of the credentials for PostgreSQL: of `nightly-inventory-postgres.json`, and of `poll-watch.json`. */
const databases = { inventoryDatabase: 'Inventory database', n8nDatabase: 'n8n database (read-only)' };

/** One of them; default: the PostgreSQL of compose.yaml. `role` is one that the database made. */
export function databaseCredential(
	id: keyof typeof databases,
	{ environment = {} }: Partial<Database> = {},
	role?: string,
): Credential {
	const given = (name: string, otherwise = '') => environment[`DB_POSTGRESDB_${name}`] ?? otherwise;
	const access = { user: role ?? given('USER', 'postgres'), password: role ?? given('PASSWORD') };
	const address = { host: given('HOST', '127.0.0.1'), port: Number(given('PORT', '5432')), ssl: 'disable' };
	const data = { ...address, ...access, database: given('DATABASE', 'postgres') };
	return { id, name: databases[id], type: 'postgres', data };
}

/** A credential with an API key. */
export function keyCredential(
	id: string,
	name: string,
	platform: Pick<PlatformAccess, 'baseUrl' | 'apiKey'>,
): Credential {
	const { baseUrl, apiKey } = platform;
	return { id, name, type: 'deviceManagementApi', data: { baseUrl, authentication: 'apiKey', apiKey } };
}

/** A credential with a login. */
export function loginCredential(id: string, name: string, platform: PlatformAccess): Credential {
	const { baseUrl, loginName, password } = platform;
	return { id, name, type: 'deviceManagementApi', data: { baseUrl, authentication: 'login', loginName, password } };
}

/** The two credentials that most examples use, for a running embedded platform: one for each way to sign in. */
export function signInCredentials(platform: PlatformAccess): Credential[] {
	return [
		keyCredential('deviceManagementKey', 'Device Management (API key)', platform),
		loginCredential('deviceManagementLogin', 'Device Management (login)', platform),
	];
}

/** The parts of an exported workflow that are read here. */
const workflowSchema = z.looseObject({
	id: z.string(),
	name: z.string(),
	nodes: z.array(z.looseObject({ name: z.string(), type: z.string(), parameters: z.record(z.string(), z.unknown()) })),
});

export type ExampleWorkflow = z.infer<typeof workflowSchema>;

export const isNote = ({ type }: { type: string }) => type === 'n8n-nodes-base.stickyNote';

/** The example workflows, as n8n imports them, by the names of their files without the extension. */
export async function exampleWorkflows(): Promise<Map<string, ExampleWorkflow>> {
	const files = (await readdir(folder)).filter((file) => file.endsWith('.json')).sort();
	const read = files.map(async (file) => [parse(file).name, await exampleWorkflow(parse(file).name)] as const);
	return new Map(await Promise.all(read));
}

/** One of them. */
export async function exampleWorkflow(name: string): Promise<ExampleWorkflow> {
	return workflowSchema.parse(JSON.parse(await readFile(join(folder, `${name}.json`), 'utf8')));
}

/** An example with what its file leaves to the user, because n8n then refuses to publish it: addresses of mails, and who may call it. */
export function filledIn(workflow: ExampleWorkflow): ExampleWorkflow {
	const callers = callersCredentials('');
	const nodes = workflow.nodes.map((node) => {
		const { id, name, type } = callers.get(node.type) ?? {};
		const parameters = withAddresses(node);
		return { ...node, parameters, ...(type !== undefined && { credentials: { [type]: { id, name } } }) };
	});
	return { ...workflow, nodes };
}

function withAddresses({ name, type, parameters }: ExampleWorkflow['nodes'][number]): Record<string, unknown> {
	const to = 'operations@example.com';
	if (name === 'People') {
		const text = JSON.stringify(parameters).replaceAll('"value":""', `"value":"${to}"`);
		return z.record(z.string(), z.unknown()).parse(JSON.parse(text));
	}
	if (type !== 'n8n-nodes-base.emailSend') return parameters;
	return { ...parameters, fromEmail: 'n8n@example.com', toEmail: parameters['toEmail'] || to };
}

/** The workflows as `npm start` imports them: the alert, the switch that triggers it, and the others as docs/examples.md lists them. */
export async function workflowsOfStart(): Promise<ExampleWorkflow[]> {
	const row = (sn: string, at: number) => ({ json: { row_number: at + 2, 'Serial Number': sn } });
	const rows = ['RT46643907', 'LG27988829', 'RT00000000'].map(row);
	const pinData = { 'Read rows': rows, 'Write rows': [{ json: {} }] };
	const [alert, switchDevice] = ['offline-devices', 'npm-start/switch-a-device-off'] as const;
	const workflows = new Map([
		...(await exampleWorkflows()),
		[alert, withoutWait(await exampleWorkflow(alert))],
		[switchDevice, await exampleWorkflow(switchDevice)],
		['sheet-lookup', { ...(await exampleWorkflow('sheet-lookup')), pinData }],
	]);
	const names = new Set([alert, switchDevice, ...targetsOf('docs/examples.md').map((target) => parse(target).name)]);
	return [...names].flatMap((name) => workflows.get(name) ?? []).map(filledIn);
}

/** The first mail then comes at the next poll. No text names the minutes. */
function withoutWait(alert: ExampleWorkflow): ExampleWorkflow {
	const text = JSON.stringify(alert)
		.replace('"forAtLeast":15', '"forAtLeast":0')
		.replace(', change *For At Least (Minutes)* (and *subject* in **Texts**)', '')
		.replaceAll(' for 15 minutes', '');
	const workflow = workflowSchema.parse(JSON.parse(text));
	return { ...workflow, name: `${workflow.name} (at once)` };
}
