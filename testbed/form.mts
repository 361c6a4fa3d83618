import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';

import { filtersField } from '../nodes/DeviceManagement/fields/filters.ts';

/** A property of the form, a collection's or a list's own ones included. */
interface Place {
	path: string;
	property: INodeProperties;
}

/** Every field a person can see, at any depth; `path` leads to it through collections. */
export function everyField(fields: readonly INodeProperties[], path = ''): Place[] {
	return fields.flatMap((property) => {
		const here = `${path}${property.name}`;
		const below = (property.options ?? []).flatMap((option): Place[] => {
			if ('values' in option) return everyField(option.values, `${here}.${option.name}.`);
			return 'displayName' in option ? everyField([option], `${here}.`) : [];
		});
		return [{ path: here, property }, ...below];
	});
}

/** Hidden fields with the name of a collection, see `asGiven`. */
export const isTwin = ({ name, type }: INodeProperties) =>
	type === 'hidden' && ['attributes', 'conditions', 'filters', 'options', 'query', 'sort'].includes(name);

export const choices = (property: INodeProperties | undefined): INodePropertyOptions[] =>
	(property?.options ?? []).filter(
		(option): option is INodePropertyOptions => !('displayName' in option) && 'value' in option,
	);

/** Labels of a form: of its fields at any depth, of their choices, and of a locator's modes. */
export function labelsOf(
	fields: readonly (INodeProperties | INodePropertyOptions | { displayName: string; values: INodeProperties[] })[],
): string[] {
	return fields.flatMap((field) => [
		'displayName' in field ? field.displayName : field.name,
		...('options' in field ? labelsOf((field.options ?? []) as INodeProperties[]) : []),
		...('values' in field ? labelsOf(field.values) : []),
		...('modes' in field ? (field.modes ?? []).map(({ displayName }) => displayName) : []),
	]);
}

/** What n8n's nodes panel shows for the choices of a form, like “Get many devices”. */
export const actionsOf = (fields: readonly INodeProperties[]): string[] =>
	fields.flatMap((field) => choices(field).flatMap(({ action }) => action ?? []));

/** The filters of the form. */
export const filterFields: INodeProperties[] = filtersField.options;

/** Those whose value is a text or a number, and not several entries. */
export const plainFilters = filterFields.filter(({ type }) => type !== 'fixedCollection');

/** A value for each field of a form, by its path: what a workflow contains. A collection of entries has one. */
export function filledIn(fields: readonly INodeProperties[], valueAt: (path: string) => unknown, path = ''): object {
	return Object.fromEntries(
		fields.map(({ name, options = [] }) => {
			const here = `${path}${name}`;
			const groups = options.flatMap((group) =>
				'values' in group ? [[group.name, [filledIn(group.values, valueAt, `${here}.${group.name}.`)]]] : [],
			);
			return [name, groups.length === 0 ? valueAt(here) : Object.fromEntries(groups)];
		}),
	);
}

/** Names of fields in responses of the platform; messages quote those, too. */
export const WIRE_NAMES: ReadonlySet<string> = new Set(['.', '..', 'code', 'content', 'data', 'totalElements']);

/** Texts in single quotes, as messages quote labels. An apostrophe has a letter before it, an opening quote has none. */
export function quotedIn(text: string): string[] {
	return [...text.matchAll(/(?<![\p{L}\d])'([^']+)'/gu)].map(([, quoted = '']) => quoted);
}
