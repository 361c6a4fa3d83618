/**
 * The trigger's form, and how a poll reads it: an invalid value fails the poll with the label of its field. Events and subtitle
 * derive from the table in watched.ts. It doesn't have the fields of a rule (ruleForm.ts) and those of both nodes (fields/).
 */
import type { INodeProperties, IPollFunctions, NodeHint } from 'n8n-workflow';
import { z } from 'zod/v4';

import { inputFailure } from '../../core/failure';
import { textsIn } from '../../core/text';
import { asGiven, choiceField, EXISTS, numberField, textField } from '../../fields/formFields';
import { filtersField, readFilters } from '../../fields/filters';
import { optionFields, optionNames, optionsField, readSettings } from '../../fields/options';
import { outputFields, readOutputMode } from '../../fields/output';
import { check, checkChoice, checkNumber, type ReadParameter, textSchema } from '../../fields/check';
import { conditionsField, readRules, refuseUnwatched } from './ruleForm';
import { isForState } from '../changes/rules';
import { type EventName, EVENTS, isUpdateTime, watchedFields } from '../changes/watched';

export type TriggerParameters = Readonly<ReturnType<typeof readTriggerParameters>>;

const attributesField = {
	...textField('Attributes', 'attributes', 'firmware, site', 'Names of the attributes to watch, separated by commas'),
	hint: "Not needed for attributes of 'Conditions'",
};

const forAtLeastField = numberField('For At Least (Minutes)', 'forAtLeast', [0, 43_200], 0, {
	hint: 'Applies to changes only. 0 reports them immediately.',
	description: 'How long a change must last before n8n reports it. If it reverts earlier, nothing is reported.',
});

const EMIT = choiceField('Items per Poll', 'emit', 'perDevice', 'How to group the events of a poll', [
	{ name: 'One Item per Event', value: 'perDevice' },
	{
		name: 'One Item per Poll',
		value: 'perPoll',
		description: 'One item lists all events, for example for one email',
	},
]);

const FIRST_POLL_WORDS = 'What to do on the first poll, and after you change what is watched';
const ONLY_RECORD = 'Only Record the Current State';
const FIRST_POLL = choiceField('First Poll', 'firstPoll', 'remember', FIRST_POLL_WORDS, [
	{ name: ONLY_RECORD, value: 'remember', description: 'Report changes from then on' },
	{
		name: 'Report Matching Devices',
		value: 'report',
		description: "Also report devices that already match a condition with only 'To' set",
	},
]);

const RECORDS_FIRST =
	"The first poll only records the current state. To include devices that are already offline, set 'First Poll' under 'Options'.";

/** They stay visible after a test, which isn't a poll. */
export const triggerHints: NodeHint[] = [{ message: RECORDS_FIRST, location: 'outputPane', whenToDisplay: 'always' }];

/** 'Online Status' is only shown in workflows that have it: people took it for a condition. */
const watchedFilters = filtersField.options.map((filter) =>
	filter.name === 'onlineStatus' && filter.type === 'resourceLocator'
		? { ...filter, displayOptions: { show: { '/filters.onlineStatus.mode': [EXISTS] } } }
		: filter,
);

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
	...asGiven(conditionsField),
	forAtLeastField,
	// n8n's editor deletes what it hides, so 'Attributes' is only hidden while it is empty.
	{ ...attributesField, displayOptions: { show: { '/attributes': [''], '/events': ['attributeChanged'] } } },
	...asGiven({ ...attributesField, displayOptions: { show: { '/attributes': [EXISTS] } } }),
	...asGiven({ ...filtersField, options: watchedFilters }),
	...outputFields,
	...optionsField([FIRST_POLL, EMIT, optionFields.pageSize]),
];

const OPTION_NAMES = optionNames(triggerFields);

export const triggerSubtitle = `={{ $parameter["events"].map((event) => (${JSON.stringify(
	Object.fromEntries(EVENTS.map(({ name, label }) => [name, label])),
)})[event]).join(", ") }}`;

/** Returns the values of the trigger's form. Throws a Failure `input` that names the field. */
export function readTriggerParameters(context: Pick<IPollFunctions, 'getNodeParameter'>) {
	const read: ReadParameter = (name, fallback, options) => context.getNodeParameter(name, fallback, options);
	const events: ReadonlySet<EventName> = new Set(check(eventsSchema, read('events'), 'Events'));
	if (events.size === 0) throw inputFailure("'Events' is empty", 'Choose at least one event.');
	const rules = readRules(read);
	const attributes = readAttributes(read, events.has('attributeChanged'), rules);
	const fields = watchedFields(events, attributes);
	const minutes = checkNumber(read('forAtLeast', 0) ?? '', forAtLeastField);
	const isUnused = minutes > 0 && fields.every(isUpdateTime);
	refuseUnused(forAtLeastField.displayName, isUnused, 'Set it to 0, or add an event of a change.');
	const { options, ...settings } = readSettings(read, OPTION_NAMES);
	refuseUnwatched(rules, fields);
	const { own, ...criteria } = readFilters(read);
	const reportsFirst = checkChoice(options['firstPoll'], FIRST_POLL) === 'report';
	if (reportsFirst && !rules.some(isForState)) {
		const remedy = `Add one, or set 'First Poll' to '${ONLY_RECORD}'.`;
		throw inputFailure("'First Poll' needs a condition with only 'To' set", remedy);
	}
	return {
		events,
		attributes,
		fields,
		rules,
		reportsFirst,
		criteria,
		own,
		output: readOutputMode(read),
		settings,
		holdSeconds: minutes * 60,
		emit: checkChoice(options['emit'], EMIT),
	};
}

const eventsSchema = z.array(z.enum(EVENTS.map(({ name }) => name)));

/** Returns the keys to watch: those of the form, and those of conditions. */
function readAttributes(read: ReadParameter, isWatched: boolean, rules: ReadonlyArray<{ key: string }>): string[] {
	const named = textsIn(check(textSchema, read('attributes', ''), 'Attributes'));
	refuseUnused('Attributes', named.length > 0 && !isWatched, "Empty it, or add 'Attribute Changed' to 'Events'.");
	const keys = [...named, ...rules.map(({ key }) => key)].filter((key) => key !== '');
	if (keys.length > 0 || !isWatched) return [...new Set(keys)].sort();
	const remedy = "Enter a name, add a condition for an attribute, or remove 'Attribute Changed' from 'Events'.";
	throw inputFailure("'Attributes' is empty", remedy);
}

export function isFiltered({ own, criteria }: Pick<TriggerParameters, 'criteria' | 'own'>): boolean {
	return own !== undefined || criteria.body !== '{}' || Object.keys(criteria.query).length > 0;
}

function refuseUnused(label: string, isUnused: boolean, remedy: string): void {
	if (isUnused) throw inputFailure(`'${label}' is filled in, but no event uses it`, remedy);
}
