import type { INodeParameters } from 'n8n-workflow';

import type { Engine, WorkflowJson } from './engine/engine.mts';

/** The action node's type, as workflows name it. */
export const nodeType = 'n8n-nodes-device-management.deviceManagement';

/** How a node is set under "On Error". */
export type OnError = 'stopWorkflow' | 'continueRegularOutput' | 'continueErrorOutput';

/** A workflow in which an agent without a model calls this package's node, by the name `Devices`, once for each item. */
export function deviceToolWorkflow(
	engine: Engine,
	credential: string,
	parameters: Record<string, unknown>,
): WorkflowJson {
	return {
		nodes: [
			{ name: 'Start', type: 'n8n-nodes-base.manualTrigger' },
			{ name: 'Agent', type: '@n8n/n8n-nodes-langchain.toolExecutor' },
			{
				name: 'Devices',
				type: `${nodeType}Tool`,
				parameters: parameters as INodeParameters,
				credentials: engine.credentialReference(credential),
			},
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
		nodes: [
			{ name: 'Start', type: 'n8n-nodes-base.manualTrigger' },
			{
				name: 'Devices',
				type: nodeType,
				// Tests also pass values that the editor would never save.
				parameters: parameters as INodeParameters,
				credentials: engine.credentialReference(credential),
				onError,
			},
		],
		connections: { Start: { main: [[{ node: 'Devices', type: 'main', index: 0 }]] } },
	};
}
