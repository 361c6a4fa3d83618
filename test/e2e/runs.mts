/** How an example is started, and what it is compared with. */
import fastify from 'fastify';
import { randomBytes } from 'node:crypto';
import pWaitFor from 'p-wait-for';

import type { ExampleWorkflow } from '../../testbed/n8n/examples.mts';
import type { Main } from '../../testbed/n8n/main.mts';
import type { NodeResults } from '../../testbed/n8n/results.mts';
import type { Device } from '../../testbed/platform/server.mts';
import type { ExampleSetup } from './exampleSetup.mts';

/** Runs a workflow as a click does, from its first node. */
export async function byHand({ main }: Pick<ExampleSetup, 'main'>, workflow: ExampleWorkflow): Promise<NodeResults> {
	return await main.execute(workflow.id, workflow.nodes[0]?.name ?? '');
}

/** Publishes a copy that is due within the next minute, and waits until it has run once. */
export async function onSchedule({ main }: ExampleSetup, workflow: ExampleWorkflow): Promise<NodeResults> {
	const soon = new Date(Date.now() + 4000).getUTCSeconds();
	const rule = { interval: [{ field: 'cronExpression', expression: `${soon} * * * * *` }] };
	const nodes = workflow.nodes.map((node) =>
		node.type === 'n8n-nodes-base.scheduleTrigger' ? { ...node, parameters: { rule } } : node,
	);
	const id = await main.create({ ...workflow, nodes, id: newId() });
	await main.publish(id);
	try {
		return await newestOf(main, id);
	} finally {
		await main.unpublish(id);
	}
}

/** Runs an example that calls a monitor of this machine. Returns how often it called. */
export async function callsOfMonitor(
	workflow: ExampleWorkflow,
	run: (watched: ExampleWorkflow) => Promise<unknown>,
): Promise<number> {
	let calls = 0;
	const monitor = fastify({ forceCloseConnections: true });
	monitor.get('/check', () => `call ${++calls}`);
	const url = `${await monitor.listen({ host: '127.0.0.1', port: 0 })}/check`;
	const watched = workflow.nodes.map((node) =>
		node.name === 'Call monitor' ? { ...node, disabled: false, parameters: { ...node.parameters, url } } : node,
	);
	try {
		await run({ ...workflow, nodes: watched });
		return calls;
	} finally {
		await monitor.close();
	}
}

/** What the newest execution of a workflow returned, once there is one beside those that are `known`. */
export async function newestOf(main: Main, workflowId: string, known = 0): Promise<NodeResults> {
	const newest = async () => {
		const executions = await main.executions(workflowId);
		const [id] = executions;
		return id !== undefined && executions.length > known && pWaitFor.resolveWith(id);
	};
	return await main.results(await pWaitFor(newest, { interval: 200, timeout: 90_000 }));
}

/** An id for a copy of a workflow. */
export function newId(): string {
	return `copy${randomBytes(6).toString('hex')}`;
}

export function devicesOf({ platform }: ExampleSetup): Device[] {
	return [...platform.fleet.devices];
}

/** A device as _Simplified_ output has it. */
export function simplified(device: Device) {
	const { id, sn, onlineStatus, status, model, group, tags, description, createTime, updateTime } = device;
	const names = { modelName: model.name, groupName: group.name };
	return { id, sn, onlineStatus, status, ...names, tags, description, createTime, updateTime };
}
