/** Pastes the workflows of the documentation into a real n8n, and runs those with a manual trigger. */
import assert from 'node:assert/strict';

import type { ExampleWorkflow } from '../../testbed/n8n/examples.mts';
import type { Main } from '../../testbed/n8n/main.mts';
import { resultOf } from '../../testbed/n8n/results.mts';
import { pages, type ShownWorkflow, workflowsOn } from '../../testbed/pages.mts';
import type { EmbeddedPlatform } from '../../testbed/platform/server.mts';
import type { Checks } from './checks.mts';
import { byHand, newId } from './runs.mts';

/** The address of the platform on the pages, and in their pictures. The serial number on them exists in the embedded fleet. */
export const EXAMPLE_ADDRESS = 'https://devices.example.com';

const MANUAL = 'n8n-nodes-base.manualTrigger';

export async function shownWorkflows(main: Main, platform: EmbeddedPlatform, checks: Checks): Promise<void> {
	platform.forget();
	const shown = pages.flatMap((page) => workflowsOn(page).map((workflow) => ({ page, workflow })));
	for (const { page, workflow } of shown) {
		const { nodes } = workflow;
		if (nodes[0]?.type !== MANUAL) continue;
		await checks.check(`${page}: ${nodes.at(-1)?.name} runs, and each node has output`, async () => {
			const results = await byHand(main, pasted(workflow, platform));
			for (const { name } of nodes) assert(resultOf(results, name).items.length > 0, `${name} has no output`);
		});
	}
	await checks.check("our nodes and n8n's HTTP Request share one sign-in", () => {
		assert(platform.logins.attempted <= 1, `${platform.logins.attempted} logins`);
		assert(platform.requestsOf('sn').length > 0 && platform.requestsOf('list').length > 2);
	});
}

/** The page about trouble shows a workflow without a start. This one starts with serial numbers, of which one is unknown. */
export function errorOutputWorkflow(platform: EmbeddedPlatform): ExampleWorkflow {
	const [shown] = workflowsOn('docs/troubleshooting.md');
	assert(shown);
	const [first] = shown.nodes;
	const start = {
		name: 'Start',
		type: MANUAL,
		typeVersion: 1,
		position: [-220, 0] as [number, number],
		parameters: {},
	};
	const serialNumbers = [platform.fleet.at(4).sn, 'RT00000000', platform.fleet.at(7).sn];
	const connections = {
		...shown.connections,
		Start: { main: [[{ node: first?.name ?? '', type: 'main', index: 0 }]] },
	};
	const workflow = pasted({ ...shown, nodes: [start, ...shown.nodes], connections }, platform);
	return { ...workflow, pinData: { Start: serialNumbers.map((sn) => ({ json: { sn } })) } };
}

/** As the editor saves it, with a login chosen and the platform's address filled in. */
function pasted(workflow: ShownWorkflow, platform: EmbeddedPlatform): ExampleWorkflow {
	const text = JSON.stringify(workflow).replaceAll(EXAMPLE_ADDRESS, platform.baseUrl);
	const { nodes, connections }: ShownWorkflow = JSON.parse(text);
	const credentials = { deviceManagementApi: { id: 'deviceManagementLogin', name: 'Device Management (login)' } };
	const saved = nodes.map((node, at) => ({
		id: `node-${at}`,
		...node,
		...(/deviceManagement|httpRequest/.test(node.type) && { credentials }),
	}));
	const id = newId();
	return { id, name: id, nodes: saved, connections, active: false, settings: { executionOrder: 'v1' } };
}
