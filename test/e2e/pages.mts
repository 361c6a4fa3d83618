/** Pastes every workflow of the documentation into a real n8n, and runs those with a manual trigger. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';

import { readWorkflow, type WorkflowJson } from '../../testbed/engine/workflowFile.mts';
import type { Main } from '../../testbed/n8n/main.mts';
import { pages, type ShownWorkflow, workflowsOn } from '../../testbed/pages.mts';
import type { EmbeddedPlatform } from '../../testbed/platform/server.mts';
import type { Checks } from './checks.mts';

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
		const id = await main.create(pasted(workflow, platform, credential));
		checks.check(
			`${page}: n8n imports a workflow of ${workflow.nodes.length} nodes, and knows each node and parameter`,
			() => {
				for (const { name, type, typeVersion, parameters } of workflow.nodes) {
					const known = types.find((its) => its.name === type && its.version.includes(typeVersion));
					assert(known, `there is no ${type} ${typeVersion}`);
					const names = known.properties.map((property) => property.name);
					const strays = Object.keys(parameters).filter((parameter) => !names.includes(parameter));
					assert.deepEqual(strays, [], `of ${name}`);
				}
			},
		);
		const start = workflow.nodes.find(({ type }) => type === 'n8n-nodes-base.manualTrigger');
		if (start === undefined) continue;
		const results = await main.execute(id, start.name);
		checks.check(`${page}: runs, and each node has output`, () => {
			for (const { name } of workflow.nodes) {
				assert.equal(results[name]?.error, undefined);
				assert(results[name]?.items.length, `${name} has no output`);
			}
		});
	}
	checks.check('the pages have workflows', () => assert(shown.length > 5));
}

/** As the editor saves it, with a credential chosen and the platform's address filled in. */
function pasted(workflow: ShownWorkflow, platform: EmbeddedPlatform, credential: string): object {
	const filled = JSON.stringify(workflow).replaceAll(EXAMPLE_ADDRESS, platform.baseUrl);
	const json: WorkflowJson = JSON.parse(filled);
	const { nodes, ...rest } = readWorkflow(json);
	const id = `page${randomBytes(6).toString('hex')}`;
	return {
		...rest,
		id,
		name: id,
		active: false,
		nodes: nodes.map((node) =>
			/deviceManagement|httpRequest/.test(node.type)
				? { ...node, credentials: { deviceManagementApi: { id: credential, name: credential } } }
				: node,
		),
	};
}
