import type { IExecuteFunctions, INodeExecutionData, INodeProperties } from 'n8n-workflow';

import type { Device } from '../core/page';
import type { Platform } from '../shared/transport';

/** What every item of one execution shares. */
export interface Execution {
	context: IExecuteFunctions;
	platform: Platform;
	/** Devices that were asked for by serial number in this execution, so that none is asked for twice. */
	devices: Map<string, Promise<Device>>;
}

/** An operation: its fields and its handler, in one place. */
export interface Operation {
	fields: INodeProperties[];
	/** Whether one item has to be finished before the next one begins; several at once where this is left out. */
	inSequence?(context: IExecuteFunctions): boolean;
	/**
	 * Runs the operation for one input item.
	 * @returns the output items for it
	 * @throws Failure with words for whoever runs the workflow
	 */
	run(execution: Execution, itemIndex: number): Promise<INodeExecutionData[]>;
}
