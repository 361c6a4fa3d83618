import type { IConnections, IDataObject, INode, INodeParameters, IPinData, IWorkflowSettings } from 'n8n-workflow';
import { randomUUID } from 'node:crypto';
import * as z from 'zod/v4';

import { workflow as n8n } from './host.cjs';

/** A workflow as n8n exports it, or the part of one that matters for a run. */
export type WorkflowJson = z.input<typeof workflowSchema>;

export type ParsedWorkflow = Omit<z.output<typeof workflowSchema>, 'nodes'> & { nodes: INode[] };

/**
 * Takes a workflow and fills in what n8n's editor would have saved (ids, positions, type version 1). The argument itself is never
 * changed.
 * @throws ZodError when it isn't a workflow
 */
export function readWorkflow(source: WorkflowJson): ParsedWorkflow {
	const { nodes, ...workflow } = workflowSchema.parse(n8n.deepCopy(source));
	// A field that is missing stays absent. To zod's types, it may also be undefined.
	return { ...workflow, nodes: nodes as INode[] };
}

/** Returns a single node, filled in like those of {@link readWorkflow}. */
export function nodeOf(source: z.input<typeof nodeSchema>): INode {
	return nodeSchema.parse(source) as INode;
}

const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);
const plainObject = <T extends object>() => z.custom<T>(isObject, 'must be an object');

const nodeSchema = z.looseObject({
	id: z.string().default(() => randomUUID()),
	name: z.string().min(1),
	type: z.string().min(1),
	typeVersion: z.number().default(1),
	position: z.tuple([z.number(), z.number()]).default([0, 0]),
	parameters: plainObject<INodeParameters>().default(() => ({})),
	credentials: z.record(z.string(), z.object({ id: z.string().nullable(), name: z.string() })).optional(),
	onError: z.enum(['continueErrorOutput', 'continueRegularOutput', 'stopWorkflow']).optional(),
});

// Exported workflows hold null where the editor had nothing to save.
const orElse = <T extends object>(empty: T) =>
	plainObject<T>()
		.nullish()
		.transform((value) => value ?? { ...empty });

const workflowSchema = z.object({
	id: z.string().default('engine-workflow'),
	name: z.string().default('Engine workflow'),
	nodes: z.array(nodeSchema).min(1),
	connections: orElse<IConnections>({}),
	settings: orElse<IWorkflowSettings>({ executionOrder: 'v1' }),
	staticData: orElse<IDataObject>({}),
	pinData: orElse<IPinData>({}),
});
