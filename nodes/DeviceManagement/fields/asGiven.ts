import type { INodeProperties } from 'n8n-workflow';

/**
 * A collection as a workflow gives it. n8n rebuilds a collection from the fields it knows, before the node sees it: an
 * expression for the whole of it, a text or a name that nobody knows become nothing, without a word. Of two parameters with
 * one name the later one's value holds, and n8n leaves a hidden one as it is.
 * @returns the field, and its hidden twin
 */
export function asGiven(field: INodeProperties): INodeProperties[] {
	const { displayName, name } = field;
	return [field, { displayName, name, type: 'hidden', default: {} }];
}
