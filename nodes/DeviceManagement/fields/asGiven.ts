import type { INodeProperties } from 'n8n-workflow';

/**
 * Returns a collection and a hidden field of the same name, so that the node reads the collection as it was saved. n8n rebuilds a
 * collection from the fields that it knows, and silently drops an unknown field or an expression for the whole collection. If
 * two fields have the same name, the later one counts. n8n doesn't rebuild a hidden one.
 */
export function asGiven(field: INodeProperties): INodeProperties[] {
	const { displayName, name } = field;
	return [field, { displayName, name, type: 'hidden', default: {} }];
}
