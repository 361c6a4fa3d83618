import type { INodeParameters, OnError } from 'n8n-workflow';

import type { Engine, WorkflowJson } from './engine/engine.mts';

/** The action node's type, as workflows name it. */
export const nodeType = 'n8n-nodes-device-management.deviceManagement';

const start = { name: 'Start', type: 'n8n-nodes-base.manualTrigger' };
const to = (node: string, type: 'main' | 'ai_tool') => ({ [type]: [[{ node, type, index: 0 }]] });

/** A workflow: a manual trigger, then this package's node under the name `Devices`. */
export function deviceWorkflow(
	engine: Engine,
	credential: string,
	parameters: Record<string, unknown>,
	onError: OnError = 'stopWorkflow',
) {
	const credentials = engine.credentialReference(credential);
	// Tests also pass values that the editor would never save.
	const node = { name: 'Devices', type: nodeType, parameters: parameters as INodeParameters, credentials, onError };
	return { nodes: [start, node], connections: { Start: to('Devices', 'main') } };
}

/** A workflow in which an agent without a model calls this package's node, by the name `Devices`, once for each item. */
export function deviceToolWorkflow(...given: Parameters<typeof deviceWorkflow>): WorkflowJson {
	const [, devices] = deviceWorkflow(...given).nodes;
	const agent = { name: 'Agent', type: '@n8n/n8n-nodes-langchain.toolExecutor' };
	return {
		nodes: [start, agent, { ...devices, name: 'Devices', type: `${nodeType}Tool` }],
		connections: { Start: to('Agent', 'main'), Devices: to('Agent', 'ai_tool') },
	};
}
