/** The examples that read a fleet part by part. */
import assert from 'node:assert/strict';

import type { ExampleWorkflow } from '../../testbed/n8n/examples.mts';
import type { Main } from '../../testbed/n8n/main.mts';
import { type NodeResults, resultOf } from '../../testbed/n8n/results.mts';
import type { Device, Fleet } from '../../testbed/platform/server.mts';
import { newId, published } from './runs.mts';

/** Small enough that there are many. */
const PART = 150;

/**
 * Runs a copy of an example with small parts.
 * @returns the copy's id, and its results
 * @throws AssertionError unless the parts have each device of the fleet once, the oldest first
 */
export async function runInParts(
	main: Main,
	{ devices, size }: Fleet,
	workflow: ExampleWorkflow,
): Promise<{ id: string; results: NodeResults }> {
	const text = JSON.stringify(workflow.nodes);
	const small = text.replace(
		'"name":"limit","type":"number","value":1000',
		`"name":"limit","type":"number","value":${PART}`,
	);
	const id = await main.create({ ...workflow, nodes: JSON.parse(small), id: newId() });
	const run = async () => await main.execute(id, 'Start');
	const results = await (text.includes('n8n-nodes-base.webhook') ? published(main, id, run) : run());
	const parts = await partsOf(main, id);
	assert.equal(parts.length, Math.ceil(size / PART));
	assert.deepEqual(parts.flat(), serialNumbers([...devices].sort(oldestFirst)));
	return { id, results };
}

export function serialNumbers(items: ReadonlyArray<{ readonly sn?: unknown }>): string[] {
	return items.map(({ sn }) => String(sn));
}

/** The serial numbers that each execution of a workflow's lower row read, in the order of their parts. */
async function partsOf(main: Main, workflowId: string): Promise<string[][]> {
	const parts = new Map<number, string[]>();
	for (const execution of await main.executions(workflowId)) {
		const results = await main.results(execution);
		if (results['Get this part'] === undefined) continue;
		const [answer] = Object.values(results).at(-1)?.items ?? [];
		const devices = resultOf(results, 'Get this part').items.filter(({ sn }) => sn !== undefined);
		parts.set(Number(answer?.['skip']), serialNumbers(devices));
	}
	return [...parts].sort(([one], [other]) => one - other).map(([, devices]) => devices);
}

function oldestFirst(a: Device, b: Device): number {
	if (a.createTime !== b.createTime) return a.createTime < b.createTime ? -1 : 1;
	return a.id < b.id ? -1 : 1;
}
