/** The examples that read a fleet part by part, and what has to come out of them. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';

import type { ExampleWorkflow } from '../../testbed/n8n/examples.mts';
import type { Main } from '../../testbed/n8n/main.mts';
import { resultOf } from '../../testbed/n8n/results.mts';
import type { Device } from '../../testbed/platform/server.mts';

/** A copy whose parts are small enough to be many. */
export function inPartsOf150(workflow: ExampleWorkflow): object {
	const nodes = JSON.stringify(workflow.nodes).replace(
		'"name":"limit","type":"number","value":1000',
		'"name":"limit","type":"number","value":150',
	);
	assert.notEqual(nodes, JSON.stringify(workflow.nodes));
	return { ...workflow, nodes: JSON.parse(nodes), id: `part${randomBytes(6).toString('hex')}` };
}

/** The serial numbers that each execution of a workflow's lower row read, in the order of their parts. */
export async function partsOf(main: Main, workflowId: string): Promise<string[][]> {
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

export function oldestFirst(a: Device, b: Device): number {
	if (a.createTime !== b.createTime) return a.createTime < b.createTime ? -1 : 1;
	return a.id < b.id ? -1 : 1;
}

export function serialNumbers(items: ReadonlyArray<{ readonly sn?: unknown }>): string[] {
	return items.map(({ sn }) => String(sn));
}
