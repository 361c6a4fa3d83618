import assert from 'node:assert/strict';
import { z } from 'zod/v4';

const itemSchema = z.looseObject({
	json: z.record(z.string(), z.unknown()),
	binary: z.record(z.string(), z.looseObject({ fileName: z.string().optional(), data: z.string() })).optional(),
});
const runSchema = z.object({
	error: z.looseObject({ message: z.string(), description: z.string().nullish() }).optional(),
	data: z.object({ main: z.array(z.array(itemSchema).nullable()).optional() }).optional(),
});

/** The parts of n8n's record of an execution that are read here. */
export const executionDataSchema = z.object({
	resultData: z.object({ runData: z.record(z.string(), z.array(runSchema)) }),
});

/** The output of a node's first run. */
export interface NodeResult {
	/** The data of the items of its first output. */
	items: Record<string, unknown>[];
	/** The items of each of its outputs, files included. */
	outputs: Array<z.infer<typeof itemSchema>[]>;
	error: string | undefined;
}

/** By the names of the nodes that ran. */
export type NodeResults = Record<string, NodeResult>;

/** Reads the output of each node from n8n's record of an execution. */
export function readResults({ resultData }: z.infer<typeof executionDataSchema>): NodeResults {
	const results = Object.entries(resultData.runData).map(([node, [run]]): [string, NodeResult] => {
		const outputs = (run?.data?.main ?? []).map((items) => items ?? []);
		const items = (outputs[0] ?? []).map(({ json }) => json);
		const error = run?.error && [run.error.message, run.error.description].filter(Boolean).join(' ');
		return [node, { items, outputs, error }];
	});
	return Object.fromEntries(results);
}

/**
 * Returns a node's output.
 * @throws AssertionError with the name of the failed node, if this node did not run or failed
 */
export function resultOf(results: NodeResults, node: string): NodeResult {
	const result = results[node];
	const blamed = Object.entries(results).find(([, { error }]) => error !== undefined);
	assert(
		result?.error === undefined && result !== undefined,
		blamed ? `${blamed[0]}: ${blamed[1].error}` : `${node} did not run`,
	);
	return result;
}
