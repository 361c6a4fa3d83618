/** How an example is started, and what it is compared with. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import pWaitFor from 'p-wait-for';
import { FormData } from 'undici';
import { z } from 'zod/v4';

import { CALLER, type ExampleWorkflow } from '../../testbed/n8n/examples.mts';
import type { Main } from '../../testbed/n8n/main.mts';
import type { NodeResults } from '../../testbed/n8n/results.mts';
import type { Device, EmbeddedPlatform, Settings } from '../../testbed/platform/server.mts';
import type { ExampleSetup } from './exampleSetup.mts';

/** Runs a copy of a workflow as a click does, from its first node. */
export async function byHand(main: Main, workflow: ExampleWorkflow): Promise<NodeResults> {
	return await main.execute(await main.create({ ...workflow, id: newId() }), workflow.nodes[0]?.name ?? '');
}

/** Publishes a copy that is due within the next minute, and waits until it has run once. */
export async function onSchedule(main: Main, workflow: ExampleWorkflow): Promise<NodeResults> {
	const soon = new Date(Date.now() + 4000).getUTCSeconds();
	const rule = { interval: [{ field: 'cronExpression', expression: `${soon} * * * * *` }] };
	const nodes = workflow.nodes.map((node) =>
		node.type === 'n8n-nodes-base.scheduleTrigger' ? { ...node, parameters: { rule } } : node,
	);
	const id = await main.create({ ...workflow, nodes, id: newId() });
	return await published(main, id, async () => await newestOf(main, id));
}

/** Publishes a workflow for the time of some work. */
export async function published<T>(main: Main, workflowId: string, work: () => Promise<T>): Promise<T> {
	await main.publish(workflowId);
	try {
		return await work();
	} finally {
		await main.unpublish(workflowId);
	}
}

/** Does some work while the platform has a fault; default: it is down. */
export async function faulty<T>(
	{ settings }: EmbeddedPlatform,
	work: () => Promise<T>,
	fault: Settings['fault'] = () => ({ code: 10005 }),
): Promise<T> {
	settings.fault = fault;
	try {
		return await work();
	} finally {
		settings.fault = undefined;
	}
}

/** Runs an example that calls a monitor: here, an address of the platform. Returns the output, and how often it called. */
export async function monitored(
	platform: EmbeddedPlatform,
	workflow: ExampleWorkflow,
	run: (watched: ExampleWorkflow) => Promise<NodeResults>,
): Promise<{ results: NodeResults; calls: number }> {
	const url = `${platform.baseUrl}/api/echo?monitor=yes`;
	const calls = () => platform.requestsOf('other').filter(({ query }) => query['monitor'] !== undefined).length;
	const before = calls();
	const nodes = workflow.nodes.map((node) =>
		node.name === 'Call monitor' ? { ...node, disabled: false, parameters: { ...node.parameters, url } } : node,
	);
	return { results: await run({ ...workflow, nodes }), calls: calls() - before };
}

/** What the newest execution of a workflow returned, once there is one beside those that are `known`. */
export async function newestOf(main: Main, workflowId: string, known = 0): Promise<NodeResults> {
	let ids: string[] = [];
	await until('the workflow does not run', async () => (ids = await main.executions(workflowId)).length > known);
	return await main.results(ids[0] ?? '');
}

const startedSchema = z.object({ formWaitingUrl: z.string() });

/** Submits the form of an example with a spreadsheet, as a browser does. Returns the results, and the message of the last page. */
export async function submitted(
	{ main, workflow, callersSecret }: Pick<ExampleSetup, 'main' | 'workflow' | 'callersSecret'>,
	file: Buffer,
	choice?: string,
): Promise<{ results: NodeResults; message: string | undefined }> {
	return await published(main, workflow.id, async () => {
		const known = (await main.executions(workflow.id)).length;
		const form = new FormData();
		form.set('field-0', new Blob([new Uint8Array(file)]), 'devices.xlsx');
		if (choice !== undefined) form.set('field-1', choice);
		const webhookId = workflow.nodes.find((node) => node['webhookId'] !== undefined)?.['webhookId'];
		const request = { method: 'POST', body: form, headers: { Authorization: signIn(callersSecret) } };
		const answer = await main.request(`/form/${webhookId}`, request);
		assert.equal(answer.status, 200, 'the form does not take a spreadsheet');
		const message = await lastPage(main, startedSchema.parse(await answer.json()).formWaitingUrl);
		return { results: await newestOf(main, workflow.id, known), message };
	});
}

/** What a browser sends after a person has entered name and password. */
export function signIn(secret: string): string {
	return `Basic ${Buffer.from(`${CALLER.user}:${secret}`).toString('base64')}`;
}

/** Waits for the end of an execution that a form started. Returns the message of its last page, if it has one of its own. */
async function lastPage(main: Main, address: string): Promise<string | undefined> {
	const { pathname, search } = new URL(address);
	let status = '';
	await until('the execution does not end', async () => {
		status = await (await main.request(`${pathname}/n8n-execution-status${search}`)).text();
		return !['running', 'new'].includes(status);
	});
	if (status !== 'form-waiting') return undefined;
	const page = await (await main.request(pathname + search)).text();
	// The page sends this when it is shown.
	await (await main.request(pathname + search, { method: 'POST' })).body?.cancel();
	return /<p [^>]*>(.*?)<\/p>/s.exec(page)?.[1];
}

/** Waits until something is so, for minutes: after an outage, n8n may wait that long before it polls again. */
export async function until(message: string, isSo: () => boolean | Promise<boolean>, interval = 100): Promise<void> {
	await pWaitFor(isSo, { interval, timeout: { milliseconds: 300_000, message } });
}

/** An id for a copy of a workflow. */
export function newId(): string {
	return `copy${randomBytes(6).toString('hex')}`;
}

/** A device as _Simplified_ output has it. */
export function simplified(device: Device) {
	const { id, sn, onlineStatus, status, model, group, tags, description, createTime, updateTime } = device;
	// A hostile device may lack its group.
	const names = { modelName: model?.name ?? null, groupName: group?.name ?? null };
	return { id, sn, onlineStatus, status, ...names, tags, description, createTime, updateTime };
}

const itemsSchema = z.array(z.looseObject({ sn: z.string().optional() }));

export function serialNumbers(items: unknown): string[] {
	return itemsSchema.parse(items).flatMap(({ sn }) => sn ?? []);
}
