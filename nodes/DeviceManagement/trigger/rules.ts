/**
 * 'Only When': the fields of a rule, how they are read, and which changes the rules let pass. Only {@link isMet} compares a
 * rule with a value. It doesn't decide how long a value must last: see step.ts.
 */
import { z } from 'zod/v4';

import { inputFailure } from '../core/failure';
import { checkEntries, givenTextSchema, type ReadParameter, textSchema } from '../fields/check';
import { choiceField, entriesField, textField } from '../fields/formFields';
import type { Change } from './events';
import { keep, type Kept, partOf, textOf } from './values';
import { FIELDS, type WatchedField } from './watched';

const FIND_NUMBER =
	'To find the number that means offline, use Get to read a device that you know is offline, and look at its onlineStatus.';

const FIELD_CHOICES = FIELDS.map(({ name, label }) => ({ name: label, value: name }));

/** The rules. The defaults of their fields are those of {@link schema}. */
export const onlyWhenField = entriesField(
	{
		displayName: 'Only When',
		name: 'conditions',
		description:
			'Report only changes that match a rule. Rules for the same field are alternatives. For a field without a rule, n8n reports every change.',
	},
	{ displayName: 'Rule', name: 'rule' },
	[
		choiceField('Field', 'field', FIELD_CHOICES, 'onlineStatus', 'The field that the rule applies to'),
		{
			...textField('Attribute', 'attribute', 'firmware', 'Key of the attribute'),
			displayOptions: { show: { field: FIELDS.filter(({ hasKeys }) => hasKeys).map(({ name }) => name) } },
		},
		{
			...textField(
				'From',
				'from',
				'1',
				`Value before the change, compared as text. Leave it empty to match any value, also of a new device that has the value in 'To'. ${FIND_NUMBER}`,
			),
			placeholder: 'Any value',
		},
		textField(
			'To',
			'to',
			'0',
			`Value after the change, compared as text. Leave it empty to match any value. Online Status: often 0 is offline, 1 online. ${FIND_NUMBER}`,
		),
	],
);

const trimmedSchema = givenTextSchema.transform((text) => text.trim()).default('');

const schema = z.strictObject({
	field: z.enum(FIELDS.map(({ name }) => name)).default('onlineStatus'),
	attribute: textSchema,
	// Nothing would match any value.
	from: trimmedSchema,
	to: trimmedSchema,
});

/** A rule: report only changes between these values. `field` is the name of a watched field. */
export type ChangeRule = Readonly<Omit<z.output<typeof schema>, 'attribute'>>;

/** Returns the rules of the form. Throws a Failure `input`, also for a rule of a field that is not watched. */
export function readRules(read: ReadParameter, fields: readonly WatchedField[]): ChangeRule[] {
	const rules = checkEntries(read(onlyWhenField.name, {}), 'rule', schema, onlyWhenField.displayName);
	return rules.map(({ field: chosen, attribute, ...rule }) => {
		const kind = FIELDS.find(({ name }) => name === chosen);
		const key = kind?.hasKeys === true ? attribute.trim() : '';
		const field = fields.find((each) => each.event === kind?.event && each.key === key);
		if (field !== undefined) return { field: field.name, ...rule };
		const what = kind?.hasKeys === true ? `the attribute "${key}"` : `'${kind?.label}'`;
		const remedy = fields.some((each) => each.event === kind?.event)
			? "Add the key to 'Attributes', or remove the rule."
			: "A rule is about a change of its own field. To watch only one group, use the filter 'Group'.";
		throw inputFailure(`A rule under 'Only When' is for ${what}, which is not watched`, remedy);
	});
}

/**
 * Whether to report a change. Rules of one field are alternatives. For a field without a rule, every change is reported. Before a state
 * that was not reported yet, nothing is known: only a rule for the state counts.
 */
export function isAskedFor(rules: readonly ChangeRule[], { field, previous, current }: Change): boolean {
	if (previous === undefined) return asksForState(rules, field, current);
	const own = rules.filter((rule) => rule.field === field.name);
	return own.length === 0 || own.some((rule) => isMet(rule, 'from', previous) && isMet(rule, 'to', current));
}

/** Whether no rule asks for a change, but a rule asks for a change from its new value. */
export function leadsToRule(rules: readonly ChangeRule[], change: Change): boolean {
	const { field, current } = change;
	return rules.some((rule) => rule.field === field.name && isMet(rule, 'from', current)) && !isAskedFor(rules, change);
}

/** Whether a rule with 'To' and without 'From' accepts a value: it asks for a state, whatever was before. */
export function asksForState(rules: readonly ChangeRule[], field: WatchedField, value: Kept): boolean {
	return rules.some((rule) => rule.field === field.name && isForState(rule) && isMet(rule, 'to', value));
}

export function isForState({ from, to }: ChangeRule): boolean {
	return from === '' && to !== '';
}

/**
 * Whether a rule accepts a value before or after a change: the rule's text is empty, or it is the text that users see, without spaces
 * around it. Of a long value, only a digest is known, so it must be the same character by character.
 */
export function isMet(rule: ChangeRule, side: 'from' | 'to', value: Kept): boolean {
	const { field, [side]: text } = rule;
	return text === '' || textOf(keep(text), field) === textOf(partOf(value, 'shown'), field).trim();
}
