import type { INodeProperties } from 'n8n-workflow';

/**
 * Returns a collection and its hidden twin, so that the node reads the collection as the workflow has it. n8n rebuilds a
 * collection from the fields it knows, and silently drops an unknown field or an expression for the whole. Of two parameters
 * with one name the later one counts, and n8n doesn't rebuild a hidden one.
 */
export function asGiven(field: INodeProperties): INodeProperties[] {
	const { displayName, name } = field;
	return [field, { displayName, name, type: 'hidden', default: {} }];
}
