/** Pastes every workflow of the documentation into a real n8n, and runs those with a manual trigger. */
import assert from 'node:assert/strict';

import { readWorkflow, type WorkflowJson } from '../../testbed/engine/workflowFile.mts';
import type { Main } from '../../testbed/n8n/main.mts';
import { resultOf } from '../../testbed/n8n/results.mts';
import { pages, type ShownWorkflow, workflowsOn } from '../../testbed/pages.mts';
import type { EmbeddedPlatform } from '../../testbed/platform/server.mts';
import type { Checks } from './checks.mts';
import { newId } from './runs.mts';

/** The address on the pages. The serial number on them exists in the embedded fleet. */
const EXAMPLE_ADDRESS = 'https://devices.example.com';

/** @param credential the id of a credential for the platform */
export async function shownWorkflows(
	main: Main,
	platform: EmbeddedPlatform,
	credential: string,
	checks: Checks,
): Promise<void> {
	const types = await main.nodeTypes();
	const shown = pages.flatMap((page) => workflowsOn(page).map((workflow) => ({ page, workflow })));
	for (const { page, workflow } of shown) {
		const { nodes } = workflow;
		const id = await main.create(pasted(workflow, platform, credential));
		await checks.check(`${page}: n8n knows each node and parameter of a workflow of ${nodes.length} nodes`, () => {
			for (const { name, type, typeVersion, parameters } of nodes) {
				const known = types.find((its) => its.name === type && its.version.includes(typeVersion));
				assert(known, `there is no ${type} ${typeVersion}`);
				const names = known.properties.map((property) => property.name);
				const strays = Object.keys(parameters).filter((parameter) => !names.includes(parameter));
				assert.deepEqual(strays, [], `of ${name}`);
			}
		});
		const start = nodes.find(({ type }) => type === 'n8n-nodes-base.manualTrigger');
		if (start === undefined) continue;
		await checks.check(`${page}: runs, and each node has output`, async () => {
			const results = await main.execute(id, start.name);
			for (const { name } of nodes) assert(resultOf(results, name).items.length > 0, `${name} has no output`);
		});
	}
	await checks.check('the pages have workflows', () => assert(shown.length > 5));
}

/** As the editor saves it, with a credential chosen and the platform's address filled in. */
function pasted(workflow: ShownWorkflow, platform: EmbeddedPlatform, credential: string): object {
	const json: WorkflowJson = JSON.parse(JSON.stringify(workflow).replaceAll(EXAMPLE_ADDRESS, platform.baseUrl));
	const id = newId();
	const { nodes, ...rest } = readWorkflow({ ...json, id, name: id });
	const credentials = { deviceManagementApi: { id: credential, name: credential } };
	const chosen = nodes.map((node) =>
		/deviceManagement|httpRequest/.test(node.type) ? { ...node, credentials } : node,
	);
	return { ...rest, active: false, nodes: chosen };
}
