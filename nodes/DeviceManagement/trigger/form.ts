/**
 * The trigger's form, and how a poll reads it: an invalid value fails the poll with the label of its field. Events and subtitle
 * derive from the table in watched.ts. It doesn't have the fields of a rule (rules.ts) and those of both nodes (fields/).
 */
import type { INodeProperties, IPollFunctions, NodeHint } from 'n8n-workflow';
import { z } from 'zod/v4';

import { inputFailure } from '../core/failure';
import { asGiven, choiceField } from '../fields/formFields';
import { filtersField, readFilters } from '../fields/filters';
import { optionFields, optionNames, optionsField, readSettings } from '../fields/options';
import { outputFields, readOutputMode } from '../fields/output';
import { check, checkNumber, oneOf, type ReadParameter, textSchema } from '../fields/check';
import { isForState, onlyWhenField, readRules } from './rules';
import { type EventName, EVENTS, UPDATE_TIME, watchedFields } from './watched';

export type TriggerParameters = Readonly<ReturnType<typeof readTriggerParameters>>;

const attributesField: INodeProperties = {
	displayName: 'Attributes',
	name: 'attributes',
	type: 'string',
	default: '',
	placeholder: 'e.g. firmware, site',
	description: "Keys of the attributes that 'Attribute Changed' watches, separated by commas",
};

const forAtLeastField = {
	displayName: 'For At Least (Minutes)',
	name: 'forAtLeast',
	type: 'number',
	typeOptions: { minValue: 0, maxValue: 43_200 },
	default: 0,
	hint: 'Only changes wait. 0 reports them at once.',
	description:
		'How many minutes a new value must last before n8n reports it. If the value changes back in that time, there is no event.',
} as const satisfies INodeProperties;

const EMIT = [
	{ name: 'One Item for Each Event', value: 'perDevice', description: 'Each event is an item' },
	{ name: 'One Item for Each Poll', value: 'perPoll', description: 'One item lists all events of a poll' },
] as const;

const FIRST_POLL = [
	{ name: 'Remember Only', value: 'remember', description: 'Report only what changes later' },
	{
		name: 'Report States',
		value: 'report',
		description: "Also report values that a rule with 'To' and without 'From' asks for",
	},
] as const;

/** What users should know before the first poll. */
export const triggerHints: NodeHint[] = [
	{
		message:
			"The first poll records the current state. To also report devices that are offline then, set the option 'First Poll'.",
		location: 'outputPane',
		whenToDisplay: 'beforeExecution',
	},
];

/** A collection depends on no field: n8n deletes it whenever a field that shows it changes. */
export const triggerFields: INodeProperties[] = [
	{
		displayName: 'Events',
		name: 'events',
		type: 'multiOptions',
		required: true,
		options: EVENTS.map(({ name, label, ...words }) => ({ ...words, name: label, value: name })),
		default: ['deviceCreated'],
		description: 'Events that start the workflow',
	},
	...asGiven(onlyWhenField),
	forAtLeastField,
	// n8n's editor deletes what it hides, so 'Attributes' is only hidden while it is empty.
	{ ...attributesField, displayOptions: { show: { '/attributes': [''], '/events': ['attributeChanged'] } } },
	...asGiven({ ...attributesField, displayOptions: { show: { '/attributes': [{ _cnd: { exists: true } }] } } }),
	...asGiven(filtersField),
	...outputFields,
	...optionsField([
		choiceField(
			'First Poll',
			'firstPoll',
			FIRST_POLL,
			'remember',
			'What the first poll does, also that after a change of what is watched',
		),
		choiceField('Items per Poll', 'emit', EMIT, 'perDevice', 'How the workflow receives events'),
		optionFields.pageSize,
	]),
];

const OPTION_NAMES = optionNames(triggerFields);

/** The node's subtitle: the labels of its events. */
export const triggerSubtitle = `={{ $parameter["events"].map((event) => (${JSON.stringify(
	Object.fromEntries(EVENTS.map(({ name, label }) => [name, label])),
)})[event]).join(", ") }}`;

/** Returns the values of the trigger's form. Throws a Failure `input` that names the field. */
export function readTriggerParameters(context: Pick<IPollFunctions, 'getNodeParameter'>) {
	const read: ReadParameter = (name, fallback, options) => context.getNodeParameter(name, fallback, options);
	const events: ReadonlySet<EventName> = new Set(check(eventsSchema, read('events'), 'Events'));
	if (events.size === 0) throw inputFailure("'Events' is empty", 'Choose at least one event.');
	const attributes = readAttributes(read, events.has('attributeChanged'));
	const fields = watchedFields(events, attributes);
	const minutes = checkNumber(read('forAtLeast', 0) ?? '', forAtLeastField);
	const isUnused = minutes > 0 && fields.every(({ event }) => event === UPDATE_TIME.event);
	refuseUnused(forAtLeastField.displayName, isUnused, 'Set it to 0, or add an event of a change.');
	const { options, ...settings } = readSettings(read, OPTION_NAMES);
	const rules = readRules(read, fields);
	const { own, ...criteria } = readFilters(read);
	const reportsFirst = check(oneOf(FIRST_POLL).default('remember'), options['firstPoll'], 'First Poll') === 'report';
	if (reportsFirst && !rules.some(isForState)) {
		const remedy = "Add a rule with 'To' and without 'From' under 'Only When', or set 'First Poll' to 'Remember Only'.";
		throw inputFailure("'First Poll' is 'Report States', but no rule asks for a state", remedy);
	}
	return {
		events,
		/** Keys, each once, in alphabetical order. */
		attributes,
		fields,
		rules,
		reportsFirst,
		criteria,
		own,
		output: readOutputMode(read),
		settings,
		holdSeconds: minutes * 60,
		emit: check(oneOf(EMIT).default('perDevice'), options['emit'], 'Items per Poll'),
	};
}

const eventsSchema = z.array(z.enum(EVENTS.map(({ name }) => name)));

function readAttributes(read: ReadParameter, isWatched: boolean): string[] {
	const keys = check(textSchema, read('attributes', ''), 'Attributes')
		.split(',')
		.map((key) => key.trim())
		.filter((key) => key !== '');
	refuseUnused('Attributes', keys.length > 0 && !isWatched, "Empty it, or add 'Attribute Changed' to 'Events'.");
	if (keys.length > 0 || !isWatched) return [...new Set(keys)].sort();
	throw inputFailure("'Attributes' is empty", "Enter a key, or remove 'Attribute Changed' from 'Events'.");
}

function refuseUnused(label: string, isUnused: boolean, remedy: string): void {
	if (isUnused) throw inputFailure(`'${label}' is filled in, but no event uses it`, remedy);
}
