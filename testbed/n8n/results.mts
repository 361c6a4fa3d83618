import { parse } from 'flatted';
import assert from 'node:assert/strict';
import { z } from 'zod/v4';

const itemSchema = z.looseObject({
	json: z.record(z.string(), z.unknown()),
	binary: z.record(z.string(), z.looseObject({ id: z.string().optional() })).optional(),
});
const runSchema = z.object({
	error: z.looseObject({ message: z.string(), description: z.string().nullish() }).optional(),
	data: z.object({ main: z.array(z.array(itemSchema).nullable()).optional() }).optional(),
});

/** The parts of n8n's record of an execution that are read here. */
const executionDataSchema = z.object({
	resultData: z.object({ runData: z.record(z.string(), z.array(runSchema)) }),
});

/** The output of a node's first run. */
export interface NodeResult {
	/** The data of the items of its first output. */
	items: Record<string, unknown>[];
	/** Of the file in the first of them, for `Main.download`. */
	fileId: string | undefined;
	error: string | undefined;
}

/** By the names of the nodes that ran. */
export type NodeResults = Record<string, NodeResult>;

/** Reads the output of each node from n8n's record of an execution. flatted wrote it, which keeps references to the same object. */
export function readResults(record: string): NodeResults {
	const { resultData } = executionDataSchema.parse(parse(record));
	const results = Object.entries(resultData.runData).map(([node, [run]]): [string, NodeResult] => {
		const output = run?.data?.main?.[0] ?? [];
		const error = run?.error && [run.error.message, run.error.description].filter(Boolean).join(' ');
		return [node, { items: output.map(({ json }) => json), fileId: output[0]?.binary?.['data']?.id, error }];
	});
	return Object.fromEntries(results);
}

/**
 * Returns a node's output.
 * @throws AssertionError with the name of the failed node, if this node did not run or failed
 */
export function resultOf(results: NodeResults, node: string): NodeResult {
	const result = results[node];
	const [blamed, failed] = Object.entries(results).find(([, { error }]) => error !== undefined) ?? [];
	assert(result && result.error === undefined, blamed ? `${blamed}: ${failed?.error}` : `${node} did not run`);
	return result;
}
