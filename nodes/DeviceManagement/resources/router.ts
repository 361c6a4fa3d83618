import { type IExecuteFunctions, type INodeExecutionData, NodeHelpers } from 'n8n-workflow';
import pLimit from 'p-limit';

import { inputFailure } from '../core/failure';
import { optionFields, readSettings } from '../fields/options';
import { checkCollection, checkNumber, type ReadParameter } from '../fields/check';
import { asNodeError, failedItem } from '../nodeError';
import { Execution } from '../transport/platform';
import { OPTION_NAMES, RESOURCES } from './index';
import type { Item, Operation } from './operation';

/**
 * Runs the chosen operation for every input item, several at the same time, and returns the output in the order of the input.
 * @throws n8n's error of the first item that failed. If the node is set to continue, that item's output has the error instead.
 */
export async function runItems(context: IExecuteFunctions): Promise<INodeExecutionData[]> {
	const items = context.getInputData();
	const continues = context.continueOnFail();
	const node = context.getNode();
	const operation = chosenOperation(context);
	const parallel = parallelRequestsOf(readerOf(context, 0));
	const execution = new Execution(context, { parallelRequests: parallel });
	// Items often have the same hint.
	const hints = new Map<string, 'info' | 'warning'>();
	const hint: Item['hint'] = (message, type = 'warning') => void hints.set(message, type);
	// isToolExecution() is false for a node that an agent calls.
	const byAgent = NodeHelpers.isToolType(node.type);

	const itemSlots = pLimit(operation.inSequence?.(node.parameters) === true ? 1 : parallel);
	const runItem = async (itemIndex: number): Promise<readonly INodeExecutionData['json'][]> => {
		try {
			const platform = await execution.forItem(itemIndex);
			const read = readerOf(context, itemIndex);
			const settings = readSettings(read, OPTION_NAMES);
			return await operation.run({ platform, byAgent, isOnly: items.length === 1, hint, read, settings });
		} catch (thrown) {
			const error = asNodeError(node, thrown, itemIndex, items.length > 1);
			if (continues) return [failedItem(error, thrown)];
			throw error;
		}
	};
	// After a failure, waiting items and pages that are fetched ahead send no more requests.
	const outputs = await Promise.all(items.map(async (_, itemIndex) => await itemSlots(runItem, itemIndex))).finally(
		() => execution.stop(),
	);
	for (const [message, type] of hints) context.addExecutionHints({ message, location: 'outputPane', type });
	return outputs.flatMap((output, item) => {
		const pairedItem = { item };
		return output.map((json) => ({ json, pairedItem }));
	});
}

function readerOf(context: IExecuteFunctions, itemIndex: number): ReadParameter {
	return (name, fallback, options) => context.getNodeParameter(name, itemIndex, fallback, options);
}

function chosenOperation(context: IExecuteFunctions): Operation {
	const resource = String(context.getNodeParameter('resource', 0));
	const name = String(context.getNodeParameter('operation', 0));
	const operation = RESOURCES[resource]?.operations[name];
	if (operation !== undefined) return operation;
	const failure = inputFailure(
		`The node has no operation "${name}" for the resource "${resource}"`,
		"Choose 'Resource' and 'Operation' again, or update the node.",
	);
	throw asNodeError(context.getNode(), failure);
}

/** Returns the first item's value, or the default if it is invalid. The first item then fails when it runs. */
function parallelRequestsOf(read: ReadParameter): number {
	try {
		const options = checkCollection(read('options', {}), 'Options');
		return checkNumber(options['parallelRequests'], optionFields.parallelRequests);
	} catch {
		return optionFields.parallelRequests.default;
	}
}
