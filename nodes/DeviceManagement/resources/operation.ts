import type { IDataObject, INodeParameters, INodeProperties } from 'n8n-workflow';

import type { Device } from '../core/device';
import type { ReadParameter } from '../fields/values';
import type { Platform } from '../transport/platform';

/** What the items of one execution share that lead to the same platform. */
export interface Execution {
	platform: Platform;
	/** Devices that were asked for in this execution, by serial number, so that none is asked for twice. */
	askedDevices: Map<string, Promise<Device>>;
	/** Whether a model calls the node as its tool and fills the parameters. */
	byModel: boolean;
	/** Says something beside the output that the output alone can't show. */
	hint(message: string): void;
}

/** An operation: its fields and its handler, in one place. */
export interface Operation {
	fields: INodeProperties[];
	/**
	 * Whether one item has to be finished before the next one begins; several at once where this is left out.
	 * @param parameters the node's own, expressions not resolved
	 */
	inSequence?(parameters: INodeParameters): boolean;
	/**
	 * Runs the operation for one input item.
	 * @param read reads the node's parameters as they are for this item
	 * @returns the data of the output items for it
	 * @throws Failure with words for whoever runs the workflow
	 */
	run(execution: Execution, read: ReadParameter): Promise<readonly IDataObject[]>;
}

/** Shows fields for one operation only. */
export function forOperation(
	resource: string,
	operation: string,
	fields: INodeProperties[],
): INodeProperties[] {
	return fields.map((field) => ({
		...field,
		displayOptions: {
			show: { ...field.displayOptions?.show, resource: [resource], operation: [operation] },
		},
	}));
}
