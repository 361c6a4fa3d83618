import type { INodeParameters } from 'n8n-workflow';

import type { Engine, WorkflowJson } from './engine/engine.mts';

/** The action node's type, as workflows name it. */
export const nodeType = 'n8n-nodes-device-management.deviceManagement';

/** How a node is set under "On Error". */
export type OnError = 'stopWorkflow' | 'continueRegularOutput' | 'continueErrorOutput';

const start = { name: 'Start', type: 'n8n-nodes-base.manualTrigger' };

function devices(engine: Engine, credential: string, parameters: Record<string, unknown>) {
	// Tests also pass values that the editor would never save.
	const saved = parameters as INodeParameters;
	return { name: 'Devices', type: nodeType, parameters: saved, credentials: engine.credentialReference(credential) };
}

/** A workflow in which an agent without a model calls this package's node, by the name `Devices`, once for each item. */
export function deviceToolWorkflow(
	engine: Engine,
	credential: string,
	parameters: Record<string, unknown>,
): WorkflowJson {
	return {
		nodes: [
			start,
			{ name: 'Agent', type: '@n8n/n8n-nodes-langchain.toolExecutor' },
			{ ...devices(engine, credential, parameters), type: `${nodeType}Tool` },
		],
		connections: {
			Start: { main: [[{ node: 'Agent', type: 'main', index: 0 }]] },
			Devices: { ai_tool: [[{ node: 'Agent', type: 'ai_tool', index: 0 }]] },
		},
	};
}

/** A workflow: a manual trigger, then this package's node under the name `Devices`. */
export function deviceWorkflow(
	engine: Engine,
	credential: string,
	parameters: Record<string, unknown>,
	onError: OnError = 'stopWorkflow',
): WorkflowJson {
	return {
		nodes: [start, { ...devices(engine, credential, parameters), onError }],
		connections: { Start: { main: [[{ node: 'Devices', type: 'main', index: 0 }]] } },
	};
}
