import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';

/**
 * Returns a collection and a hidden field of the same name, so that the node reads the collection as it was saved. n8n rebuilds a
 * collection from the fields that it knows, and silently drops an unknown field or an expression for the whole collection. If
 * two fields have the same name, the later one counts. n8n doesn't rebuild a hidden one, and keeps it if the other is not shown.
 */
export function asGiven(field: INodeProperties): INodeProperties[] {
	const { displayName, name, default: value } = field;
	return [field, { displayName, name, type: 'hidden', default: value }];
}

/** Returns a field for one text, empty by default. */
export function textField(displayName: string, name: string, example: string, description: string): INodeProperties {
	return { displayName, name, type: 'string', default: '', placeholder: `e.g. ${example}`, description };
}

/** Returns a field for one of several choices. */
export function choiceField<T extends string>(
	displayName: string,
	name: string,
	choices: ReadonlyArray<INodePropertyOptions & { value: T }>,
	chosen: NoInfer<T>,
	description: string,
): INodeProperties {
	return { displayName, name, type: 'options', options: [...choices], default: chosen, description };
}

/** Returns a field with several entries of these fields, for `checkEntries`. */
export function entriesField(
	field: Partial<INodeProperties> & Pick<INodeProperties, 'displayName' | 'name'>,
	entry: { displayName: string; name: string },
	values: INodeProperties[],
): INodeProperties {
	const placeholder = `Add ${entry.displayName}`;
	const typeOptions = { multipleValues: true };
	return { type: 'fixedCollection', typeOptions, placeholder, default: {}, ...field, options: [{ ...entry, values }] };
}
