/** 'Conditions': the fields of a rule, their dropdowns, and how they are read. What a rule lets pass: rules.ts. */
import type { INodeProperties } from 'n8n-workflow';
import { z } from 'zod/v4';

import type { Device } from '../../core/device';
import { inputFailure } from '../../core/failure';
import { isRecord } from '../../core/json';
import { trimmed } from '../../core/text';
import { checkEntries, chosenValue, givenTextSchema, type ReadParameter, textSchema } from '../../fields/check';
import { choiceField, entriesField, EXISTS, pickedFields, textField } from '../../fields/formFields';
import { type Choice, listOf, statusChoice } from '../../listSearch/choices';
import { type ChangeRule, numberOf, shownText } from '../changes/rules';
import { keepValue } from '../changes/values';
import { FIELDS, type WatchedField } from '../changes/watched';

const FIELD_CHOICES = FIELDS.map(({ name, label }) => ({ name: label, value: name }));
const WITH_KEYS = FIELDS.filter(({ hasKeys }) => hasKeys).map(({ name }) => name);

const LIMITS = [
	{ displayName: 'Below', name: 'below', placeholder: 'e.g. 20' },
	{ displayName: 'Above', name: 'above', placeholder: 'e.g. 80' },
] as const;

const VALUE = { placeholder: 'Any value', hint: 'Online Status: usually 0 = offline, 1 = online' };
const FROM_WORDS = 'Value before the change. Leave it empty to match any value.';
const TO_WORDS =
	"Value after the change. Leave it empty to match any value. 'Below' and 'Above' report a number once, when it passes the limit. The limit itself is neither.";

/** The rules. The defaults of their fields are those of {@link schema}. */
export const conditionsField = entriesField(
	{
		displayName: 'Conditions',
		name: 'conditions',
		description:
			'Only report changes that match. Conditions on the same field are alternatives (OR). Fields without a condition always match.',
	},
	{ displayName: 'Condition', name: 'rule' },
	[
		choiceField('Field', 'field', 'onlineStatus', 'Field to check', FIELD_CHOICES),
		...inRule(textField('Attribute', 'attribute', 'battery', 'Name of the attribute'), 'searchAttributes', {
			field: WITH_KEYS,
		}),
		...inRule({ ...textField('From', 'from', '', FROM_WORDS), ...VALUE }, 'searchValues'),
		...inRule({ ...textField('To', 'to', '', TO_WORDS), ...VALUE }, 'searchValues', {}, LIMITS),
	],
);

/** Returns a field of a rule. n8n's editor would show a missing value of a saved rule as “undefined” in a list. */
function inRule(plain: INodeProperties, method: string, show = {}, modes: typeof LIMITS | [] = []) {
	const isPicked = { [`${plain.name}.mode`]: [EXISTS] };
	return pickedFields(plain, method, [{ show, hide: isPicked }, { show: { ...show, ...isPicked } }], modes);
}

export const ruleChoices = {
	searchAttributes: listOf((devices) =>
		devices.flatMap(({ attributes }) => (isRecord(attributes) ? Object.keys(attributes).map(choiceOf) : [])),
	),
	searchValues: listOf(valueChoices),
};

/** Returns the texts that a rule is compared with. Long values have none. */
function valueChoices(devices: readonly Device[], form: (name: string) => string): Choice[] {
	const field = FIELDS.find(({ name }) => name === (form('field') || 'onlineStatus'));
	const key = field?.hasKeys === true ? form('attribute') : '';
	if (field === undefined || (field.hasKeys && key === ''))
		throw inputFailure("'Attribute' is empty", 'Choose it first.');
	const texts = devices.map((device) => shownText(keepValue({ ...field, key }, device), field.name));
	const shown = texts.every((text) => text === 'null') ? [] : texts.filter((text) => !text.startsWith('\0'));
	return shown.map(field.name === 'onlineStatus' ? statusChoice : choiceOf);
}

const choiceOf = (value: string): Choice => ({ value });

const trimmedSchema = givenTextSchema.transform(trimmed).default('');
const limitSchema = z.object({ mode: z.enum(LIMITS.map(({ name }) => name)) });

const schema = z.strictObject({
	field: z.enum(FIELDS.map(({ name }) => name)).default('onlineStatus'),
	attribute: z.preprocess(chosenValue, textSchema),
	// Nothing would match any value.
	from: z.preprocess(chosenValue, trimmedSchema),
	to: z.preprocess(
		(given) => (limitSchema.safeParse(given).success ? given : { value: chosenValue(given) }),
		limitSchema.partial().extend({ value: trimmedSchema }),
	),
});

/** Returns the rules of the form, each with the name of its attribute. Throws a Failure `input`. */
export function readRules(read: ReadParameter): Array<ChangeRule & { readonly key: string }> {
	const rules = checkEntries(read(conditionsField.name, {}), 'rule', schema, conditionsField.displayName);
	return rules.map(({ field, attribute, from, to: { mode: limit, value: to } }) => {
		const key = WITH_KEYS.includes(field) ? trimmed(attribute) : '';
		const name = key === '' ? field : `${field}.${key}`;
		if (WITH_KEYS.includes(name))
			throw inputFailure("A condition has no 'Attribute'", 'Choose one, or remove the condition.');
		if (limit !== undefined && Number.isNaN(numberOf(to, ''))) {
			const message = `'To' under 'Conditions' is ${to === '' ? 'empty' : `"${to}"`} instead of a number`;
			throw inputFailure(message, "Enter a number, or choose 'By Value'.");
		}
		return { field: name, key, from, to, limit };
	});
}

export function refuseUnwatched(rules: ReturnType<typeof readRules>, fields: readonly WatchedField[]): void {
	const unwatched = rules.find(({ field }) => fields.every(({ name }) => name !== field));
	if (unwatched === undefined) return;
	const label = FIELDS.find(({ name }) => name === unwatched.field.split('.')[0])?.label;
	const remedy = "Add the event, or remove the condition. To watch one group, use the filter 'Group'.";
	throw inputFailure(`The condition on '${label}' needs its event in 'Events'`, remedy);
}
