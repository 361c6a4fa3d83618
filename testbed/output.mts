import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import type { RunResult } from './engine/engine.mts';

/** Returns a node's output items. Throws the error that stopped the execution, so that a failed run never looks empty. */
export function outputOf(result: RunResult, nodeName = 'Devices'): INodeExecutionData[] {
	if (result.error !== undefined) throw result.error;
	return result.data(nodeName);
}

/** Returns the data of a node's output items. */
export function jsonOf(result: RunResult, nodeName = 'Devices'): IDataObject[] {
	return outputOf(result, nodeName).map(({ json }) => json);
}

/** Returns the serial numbers of a node's output items, in order. */
export function serialNumbersOf(result: RunResult, nodeName = 'Devices'): unknown[] {
	return jsonOf(result, nodeName).map(({ sn }) => sn);
}

/** Returns the index of the input item for each output item. */
export function pairedItemsOf(result: RunResult, nodeName = 'Devices'): unknown[] {
	return outputOf(result, nodeName).map(({ pairedItem }) =>
		typeof pairedItem === 'object' && !Array.isArray(pairedItem) ? pairedItem.item : pairedItem,
	);
}
