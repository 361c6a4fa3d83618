import type { INodeProperties } from 'n8n-workflow';
import { z } from 'zod/v4';

import { type Failure, inputFailure } from '../core/failure';
import type { OutputMode } from '../core/output';
import type { ListCriteria } from '../core/query';
import { asGiven } from '../fields/asGiven';
import { filtersField, readFilters } from '../fields/filters';
import { optionFields, optionsField, readOptions, readSettings } from '../fields/options';
import { outputFields, readOutputMode } from '../fields/output';
import { check, checkEntries, checkNumber, type ReadParameter, textSchema } from '../fields/values';
import type { ListSettings } from '../transport/devices';
import { type ChangeRule, EVENT_NAMES, type EventName, watchedFields } from './events';
import type { WatchedField } from './values';

/** What the trigger is asked for. */
export interface TriggerParameters {
	readonly events: ReadonlySet<EventName>;
	/** Keys of the watched attributes, each once, in alphabetical order; none where no event watches them. */
	readonly attributes: readonly string[];
	/** The fields whose values are compared; the statuses come first. */
	readonly fields: readonly WatchedField[];
	readonly rules: readonly ChangeRule[];
	readonly criteria: ListCriteria;
	readonly output: OutputMode;
	readonly settings: ListSettings;
	/** How long a new value has to hold, in seconds. */
	readonly holdSeconds: number;
	/** One item for each event, or one for all of a poll. */
	readonly emit: 'perDevice' | 'perPoll';
}

/** Each costs up to twelve bytes a device in n8n's database. */
const MOST_ATTRIBUTES = 20;

const forAtLeastField = {
	displayName: 'For At Least (Minutes)',
	name: 'forAtLeast',
	type: 'number',
	typeOptions: { minValue: 0, maxValue: 43_200 },
	default: 0,
	description:
		'How long a new value has to hold before it is reported, as far as polls can see it. A device that came back in between gives no event.',
} as const satisfies INodeProperties;

const triggerOptions: INodeProperties[] = [
	{
		displayName: 'Emit',
		name: 'emit',
		type: 'options',
		options: [
			{ name: 'One Item for Each Event', value: 'perDevice', description: 'An item for each event' },
			{
				name: 'One Item for Each Poll',
				value: 'perPoll',
				description: 'A single item that lists all events of a poll',
			},
		],
		default: 'perDevice',
		description: 'How events are handed to the workflow',
	},
	forAtLeastField,
	optionFields.maxRetries,
	optionFields.pageSize,
	optionFields.parallelRequests,
	optionFields.timeout,
];

const OPTION_NAMES: ReadonlySet<string> = new Set(triggerOptions.map(({ name }) => name));

/** The trigger's fields. */
export const triggerFields: INodeProperties[] = [
	{
		displayName: 'Events',
		name: 'events',
		type: 'multiOptions',
		required: true,
		options: [
			{
				name: 'Attribute Changed',
				value: 'attributeChanged',
				description: 'An attribute of a device has another value',
			},
			{ name: 'Device Created', value: 'deviceCreated', description: 'A device is new on the platform' },
			{
				name: 'Device Removed',
				value: 'deviceRemoved',
				description: 'A device is no longer on the platform',
			},
			{
				name: 'Device Updated',
				value: 'deviceUpdated',
				description: 'A device was edited: its update time changed',
			},
			{
				name: 'Online Status Changed',
				value: 'onlineStatusChanged',
				description: 'The online status of a device has another value',
			},
			{ name: 'Status Changed', value: 'statusChanged', description: 'The status of a device has another value' },
		],
		default: ['deviceCreated'],
		description: 'What starts the workflow',
	},
	{
		displayName: 'Attributes',
		name: 'attributes',
		type: 'string',
		required: true,
		default: '',
		placeholder: 'e.g. firmware, site',
		displayOptions: { show: { events: ['attributeChanged'] } },
		description: 'The keys of the attributes to watch, separated by commas',
	},
	...asGiven({
		displayName: 'Only When',
		name: 'conditions',
		type: 'fixedCollection',
		typeOptions: { multipleValues: true },
		placeholder: 'Add Rule',
		default: {},
		description:
			'Report a change only from and to these values. Rules of one field are alternatives; a field without a rule has every change reported.',
		options: [
			{
				displayName: 'Rule',
				name: 'rule',
				values: [
					{
						displayName: 'Field',
						name: 'field',
						type: 'options',
						options: [
							{ name: 'Attribute', value: 'attributes' },
							{ name: 'Online Status', value: 'onlineStatus' },
							{ name: 'Status', value: 'status' },
						],
						default: 'onlineStatus',
						description: 'What the rule is for',
					},
					{
						displayName: 'Attribute',
						name: 'attribute',
						type: 'string',
						default: '',
						displayOptions: { show: { field: ['attributes'] } },
						placeholder: 'e.g. firmware',
						description: 'Key of the attribute',
					},
					{
						displayName: 'From',
						name: 'from',
						type: 'string',
						default: '',
						placeholder: 'e.g. 1',
						description: 'The value before, compared as text; empty for any',
					},
					{
						displayName: 'To',
						name: 'to',
						type: 'string',
						default: '',
						placeholder: 'e.g. 0',
						description: 'The value after, compared as text; empty for any',
					},
				],
			},
		],
	}).map((field) => ({
		...field,
		displayOptions: { show: { events: ['attributeChanged', 'onlineStatusChanged', 'statusChanged'] } },
	})),
	...outputFields,
	...asGiven(filtersField),
	...asGiven(optionsField(triggerOptions)),
];

/**
 * Reads what the trigger is asked for.
 * @throws Failure `input` naming the field
 */
export function readTriggerParameters(read: ReadParameter): TriggerParameters {
	const events = readEvents(read);
	const attributes = events.has('attributeChanged') ? readAttributes(read) : [];
	const fields = watchedFields(events, attributes);
	const options = readOptions(read, OPTION_NAMES);
	return {
		events,
		attributes,
		fields,
		rules: fields.length === 0 ? [] : readRules(read, fields),
		criteria: readFilters(read),
		output: readOutputMode(read),
		settings: readSettings(read, OPTION_NAMES),
		holdSeconds: checkNumber(options['forAtLeast'], forAtLeastField) * 60,
		emit: check(z.enum(['perDevice', 'perPoll']).default('perDevice'), options['emit'], 'Emit'),
	};
}

function readEvents(read: ReadParameter): ReadonlySet<EventName> {
	const events = check(z.array(z.enum(EVENT_NAMES)), read('events'), 'Events');
	if (events.length > 0) return new Set(events);
	throw inputFailure("'Events' is empty", 'Choose at least one event.');
}

function readAttributes(read: ReadParameter): string[] {
	const keys = check(textSchema, read('attributes', ''), 'Attributes')
		.split(',')
		.map((key) => key.trim())
		.filter((key) => key !== '');
	if (keys.length === 0) {
		throw inputFailure(
			"'Attributes' is empty",
			"Enter the key of an attribute, or take 'Attribute Changed' out of 'Events'.",
		);
	}
	const distinct = [...new Set(keys)].sort();
	if (distinct.length <= MOST_ATTRIBUTES) return distinct;
	throw inputFailure(
		`'Attributes' holds ${distinct.length} keys, and ${MOST_ATTRIBUTES} can be watched`,
		'Remove some of them, or use a second trigger in another workflow.',
	);
}

const RULE = {
	entry: z.strictObject({
		field: z.enum(['onlineStatus', 'status', 'attributes']),
		attribute: textSchema,
		from: textSchema,
		to: textSchema,
	}),
	defaults: { field: 'onlineStatus' },
};

function readRules(read: ReadParameter, fields: readonly WatchedField[]): ChangeRule[] {
	const rules = checkEntries(read('conditions', {}), 'rule', RULE, 'Only When');
	return rules.map(({ field: chosen, attribute, from, to }) => {
		const field: WatchedField = chosen === 'attributes' ? `attributes.${attribute.trim()}` : chosen;
		if (fields.includes(field)) return { field, from, to };
		throw unwatched(chosen, attribute.trim());
	});
}

function unwatched(field: 'onlineStatus' | 'status' | 'attributes', attribute: string): Failure {
	if (field === 'onlineStatus') {
		return inputFailure(
			"A rule under 'Only When' is for 'Online Status', which no chosen event watches",
			"Add 'Online Status Changed' to 'Events', or remove the rule.",
		);
	}
	if (field === 'status') {
		return inputFailure(
			"A rule under 'Only When' is for 'Status', which no chosen event watches",
			"Add 'Status Changed' to 'Events', or remove the rule.",
		);
	}
	if (attribute === '') {
		return inputFailure("A rule under 'Only When' names no attribute", "Enter the key in 'Attribute', or remove the rule.");
	}
	return inputFailure(
		`A rule under 'Only When' is for the attribute "${attribute}", which is not watched`,
		"Add 'Attribute Changed' to 'Events' and the key to 'Attributes', or remove the rule.",
	);
}
