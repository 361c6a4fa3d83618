import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import type { RunResult } from './engine/engine.mts';

/** What a node put out. Throws what stopped the execution, so that nobody takes a failed run for an empty one. */
export function outputOf(result: RunResult, nodeName = 'Devices'): INodeExecutionData[] {
	if (result.error !== undefined) throw result.error;
	return result.data(nodeName);
}

/** The data alone of what a node put out. */
export function jsonOf(result: RunResult, nodeName = 'Devices'): IDataObject[] {
	return outputOf(result, nodeName).map(({ json }) => json);
}

/** The serial numbers of what a node put out, in order. */
export function serialNumbersOf(result: RunResult, nodeName = 'Devices'): unknown[] {
	return jsonOf(result, nodeName).map(({ sn }) => sn);
}

/** The index of the input item that each output item belongs to. */
export function pairedItemsOf(result: RunResult, nodeName = 'Devices'): unknown[] {
	return outputOf(result, nodeName).map(({ pairedItem }) =>
		typeof pairedItem === 'object' && !Array.isArray(pairedItem) ? pairedItem.item : pairedItem,
	);
}
