import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import pLimit from 'p-limit';

import { inputFailure } from '../core/failure';
import { optionFields } from '../shared/descriptions';
import { asNodeError, failedItem } from '../shared/nodeError';
import { checkNumber, readCollection } from '../shared/parameters';
import { connect } from '../shared/transport';
import { request } from './api/request';
import { count } from './device/count';
import { get } from './device/get';
import { getAll } from './device/getAll';
import type { Execution, Operation } from './operation';

/** Every operation of the node, by resource and operation. */
export const OPERATIONS: Readonly<Record<string, Readonly<Record<string, Operation>>>> = {
	device: { count, get, getAll },
	api: { request },
};

/**
 * Runs the chosen operation for every input item, several at once, and puts the output in the order of the input.
 * @throws n8n's error of the first item that failed, unless the node is set to continue; then that item's output
 * says why, and no other item is touched
 */
export async function runItems(context: IExecuteFunctions): Promise<INodeExecutionData[]> {
	const items = context.getInputData();
	const goOn = context.continueOnFail();
	const node = context.getNode();
	const operation = chosenOperation(context);
	const parallel = parallelRequestsOf(context);
	const opening = open(context, parallel);
	// A credential that can't be used is reported by each item; nobody else waits for it here.
	opening.catch(() => {});

	const stop = async () => await opening.then(({ platform }) => platform.stop()).catch(() => {});

	const inTurn = pLimit(operation.inSequence?.(context) === true ? 1 : parallel);
	const runItem = async (itemIndex: number): Promise<INodeExecutionData[]> => {
		try {
			return await operation.run(await opening, itemIndex);
		} catch (thrown) {
			const error = asNodeError(node, thrown, itemIndex, items.length > 1);
			if (goOn) return [{ json: failedItem(error, thrown), pairedItem: { item: itemIndex } }];
			// The run has failed: items that are still waiting ask for nothing any more.
			await stop();
			throw error;
		}
	};
	// In the end nothing goes on: an item that failed may have left pages behind that were fetched ahead for it.
	const outputs = await Promise.all(
		items.map(async (_, itemIndex) => await inTurn(runItem, itemIndex)),
	).finally(stop);
	// Not flat() or push(...): a list of 100,000 devices is too long for either to be quick or safe.
	const output: INodeExecutionData[] = [];
	for (const part of outputs) for (const item of part) output.push(item);
	return output;
}

function chosenOperation(context: IExecuteFunctions): Operation {
	const resource = String(context.getNodeParameter('resource', 0));
	const name = String(context.getNodeParameter('operation', 0));
	const operation = OPERATIONS[resource]?.[name];
	if (operation !== undefined) return operation;
	throw asNodeError(
		context.getNode(),
		inputFailure(
			`The node has no operation "${name}" for the resource "${resource}"`,
			"Choose 'Resource' and 'Operation' anew, or update the node.",
		),
		undefined,
		false,
	);
}

async function open(context: IExecuteFunctions, parallel: number): Promise<Execution> {
	return { context, platform: await connect(context, parallel), devices: new Map() };
}

/** The first item's value. If it is wrong, the first item says so when its turn comes, and the others go on without it. */
function parallelRequestsOf(context: IExecuteFunctions): number {
	try {
		return checkNumber(
			readCollection(context, 'options', 0)['parallelRequests'],
			optionFields.parallelRequests,
		);
	} catch {
		return optionFields.parallelRequests.default;
	}
}
