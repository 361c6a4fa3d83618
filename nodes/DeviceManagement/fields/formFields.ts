import type { IDisplayOptions, INodeProperties, INodePropertyMode, INodePropertyOptions } from 'n8n-workflow';

/**
 * Returns a collection and a hidden field of the same name, so that the node reads the collection as it was saved. n8n rebuilds a
 * collection from the fields that it knows, and silently drops an unknown field or an expression for the whole collection. If
 * two fields have the same name, the later one counts. n8n doesn't rebuild a hidden one, and keeps it if the other isn't shown.
 */
export function asGiven(field: INodeProperties): INodeProperties[] {
	const { displayName, name, default: value } = field;
	return [field, { displayName, name, type: 'hidden', default: value }];
}

export function textField(displayName: string, name: string, example: string, description: string): INodeProperties {
	return { displayName, name, type: 'string', default: '', placeholder: `e.g. ${example}`, description };
}

/** Returns a field for a whole number, for `checkNumber`. */
export function numberField(
	displayName: string,
	name: string,
	[minValue, maxValue]: readonly [number, number],
	value: number,
	more: Pick<INodeProperties, 'description' | 'displayOptions' | 'hint'>,
) {
	return { displayName, name, type: 'number', typeOptions: { minValue, maxValue }, default: value, ...more } as const;
}

export const EXISTS = { _cnd: { exists: true } } as const;

/**
 * Returns a field whose value is chosen from what devices have, or entered: see `chosenValue`. Before it stands the field for a value from
 * before it had a list: n8n shows the first one that isn't hidden, and gives a new entry the default of the last one.
 * @param others more modes; n8n shows about ten characters of a label
 */
export function pickedFields(
	plain: INodeProperties,
	searchListMethod: string,
	shown: readonly [plain: IDisplayOptions, picked: IDisplayOptions],
	others: ReadonlyArray<Pick<INodePropertyMode, 'displayName' | 'name' | 'placeholder'>> = [],
): INodeProperties[] {
	const { displayName, name, description = '', placeholder = '', hint = '' } = plain;
	const typeOptions = { searchListMethod, searchable: true };
	const empty = placeholder.replace(/^e\.g\. .*/, 'Choose…');
	const picked: INodeProperties = {
		...{ displayName, name, description, type: 'resourceLocator', default: { mode: 'list', value: '' } },
		modes: [
			{ displayName: 'From List', name: 'list', type: 'list', placeholder: empty, typeOptions },
			{ displayName: 'By Value', name: 'text', type: 'string', placeholder, hint },
			...others.map((mode) => ({ ...mode, type: 'string' as const })),
		],
		displayOptions: shown[1],
	};
	return [{ ...plain, displayOptions: shown[0] }, picked];
}

export function choiceField<T extends string>(
	displayName: string,
	name: string,
	chosen: NoInfer<T>,
	description: string,
	choices: ReadonlyArray<INodePropertyOptions & { value: T }>,
) {
	return { displayName, name, type: 'options' as const, options: [...choices], default: chosen, description };
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
