import type { IDataObject, INodeParameters, INodeProperties } from 'n8n-workflow';

import type { ReadParameter } from '../fields/check';
import type { Settings } from '../fields/options';
import type { Platform } from '../transport/platform';

export interface Item {
	/** Items of the same account share it. */
	platform: Platform;
	/** Whether a model calls the node as its tool and fills in the parameters. */
	byAgent: boolean;
	/** Whether it is the only one. Then n8n itself says that a limit was reached. */
	isOnly: boolean;
	/** Shows a hint beside the output, each text once. */
	hint(message: string, type?: 'info' | 'warning'): void;
	read: ReadParameter;
	settings: Settings;
}

export interface Operation {
	name: string;
	/** A phrase for the node panel. n8n names a new node by it. */
	action: string;
	description: string;
	fields: INodeProperties[];
	/** Whether items run one after the other, and not several at once, by the node's parameters with unresolved expressions. */
	inSequence?(parameters: INodeParameters): boolean;
	/** Returns the data of the output items for one input item. Throws a Failure with words for the user. */
	run(item: Item): Promise<readonly IDataObject[]>;
}

/** A resource: its label, and its operations by the name in saved workflows, in alphabetical order of their labels. */
export interface Resource {
	name: string;
	operations: Readonly<Record<string, Operation>>;
	defaultOperation: string;
}
