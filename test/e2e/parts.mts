/** The examples that read a fleet part by part. */
import assert from 'node:assert/strict';

import type { ExampleWorkflow } from '../../testbed/n8n/examples.mts';
import type { Main } from '../../testbed/n8n/main.mts';
import type { NodeResults } from '../../testbed/n8n/results.mts';
import type { Fleet } from '../../testbed/platform/server.mts';
import { newId, published } from './runs.mts';

/** Small enough that there are many. */
export const PART = 150;

/**
 * Runs a copy of an example with small parts.
 * @returns the copy's id, and its results
 * @throws AssertionError unless its executions read each device of the fleet once
 */
export async function runInParts(
	main: Main,
	{ devices }: Fleet,
	workflow: ExampleWorkflow,
): Promise<{ id: string; results: NodeResults }> {
	const text = JSON.stringify(workflow.nodes);
	const limit = '"name":"limit","type":"number","value":';
	const nodes: ExampleWorkflow['nodes'] = JSON.parse(text.replace(`${limit}1000`, `${limit}${PART}`));
	const id = await main.create({ ...workflow, nodes, id: newId() });
	const run = async () => await main.execute(id, 'Start');
	const results = await (text.includes('n8n-nodes-base.webhook') ? published(main, id, run) : run());
	const executions = await main.executions(id);
	const parts = await Promise.all(executions.map(async (execution) => await main.results(execution)));
	const read = parts.flatMap((part) => serialNumbers(part['Get this part']?.items ?? []));
	assert.deepEqual(read.sort(), serialNumbers(devices).sort());
	return { id, results };
}

export function serialNumbers(items: ReadonlyArray<{ readonly sn?: unknown }>): string[] {
	return items.flatMap(({ sn }) => (sn === undefined ? [] : [String(sn)]));
}
