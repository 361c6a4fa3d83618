import type { IConnections, IDataObject, INode, IPinData, IWorkflowSettings } from 'n8n-workflow';
import { randomUUID } from 'node:crypto';

import { workflow as n8n } from './host.cjs';

/** A workflow as n8n exports it, or the part of one that matters for a run. */
export interface WorkflowJson extends Partial<Omit<ParsedWorkflow, 'nodes'>> {
	nodes: NodeJson[];
}

type NodeJson = Pick<INode, 'name' | 'type'> & Partial<INode>;

export interface ParsedWorkflow {
	id: string;
	name: string;
	nodes: INode[];
	connections: IConnections;
	settings: IWorkflowSettings;
	staticData: IDataObject;
	pinData: IPinData;
}

/** Returns a copy of a workflow with what n8n's editor would have saved (ids, positions, type version 1). */
export function readWorkflow({ nodes, ...given }: WorkflowJson): ParsedWorkflow {
	const workflow = { id: 'engine-workflow', name: 'Engine workflow', connections: {}, staticData: {}, pinData: {} };
	const settings: IWorkflowSettings = { executionOrder: 'v1' };
	return n8n.deepCopy({ ...workflow, settings, ...given, nodes: nodes.map(nodeOf) });
}

/** Returns a single node, filled in like those of {@link readWorkflow}. */
export function nodeOf(source: NodeJson): INode {
	return { id: randomUUID(), typeVersion: 1, position: [0, 0], parameters: {}, ...source };
}
