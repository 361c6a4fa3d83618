/** A user who changes a form that is filled in: nothing that still counts disappears from the saved workflow. */
import assert from 'node:assert/strict';

import type { Editor } from './editor.mts';
import { takeEntry, type Witness } from './newUser.mts';
import type { NodePanel } from './nodePanel.mts';

interface Change {
	/** The fields that stay. */
	fields: string;
	/** The field that changes. */
	when: string;
	entry: readonly ['Actions' | 'Triggers', string];
	make: (node: NodePanel) => Promise<void>;
	saved: Record<string, unknown>;
}

/** Fills in 'Fields', then lets an expression choose the output. */
async function chooseFields(node: NodePanel): Promise<void> {
	await node.choose('Output', 'Selected Fields');
	await node.toggle('Fields', 'Model');
	await node.useExpression('Output');
}
const chosenFields = { output: '=selected', fields: ['sn', 'onlineStatus', 'status', 'model'] };

const changes: readonly Change[] = [
	{
		fields: "'Only When', 'Attributes' and 'For At Least (Minutes)'",
		when: "'Events'",
		entry: ['Triggers', 'On online status changed'],
		async make(node) {
			await node.click('Add Rule');
			await node.fill('From', '1');
			await node.fill('To', '0');
			await node.fill('For At Least (Minutes)', '15');
			await node.toggle('Events', 'Attribute Changed');
			await node.fill('Attributes', 'firmware');
			for (const event of ['Attribute Changed', 'Online Status Changed', 'Device Created']) {
				await node.toggle('Events', event);
			}
			await node.useExpression('Events');
		},
		saved: {
			events: '={{ ["deviceCreated"] }}',
			conditions: { rule: [{ field: 'onlineStatus', attribute: '', from: '1', to: '0' }] },
			attributes: 'firmware',
			forAtLeast: 15,
		},
	},
	{
		fields: "'Fields' of the trigger",
		when: "'Output'",
		entry: ['Triggers', 'On device created'],
		make: chooseFields,
		saved: chosenFields,
	},
	...['Get device', 'Get many devices'].map(
		(action): Change => ({
			fields: `'Fields' of '${action}'`,
			when: "'Output'",
			entry: ['Actions', action],
			make: chooseFields,
			saved: chosenFields,
		}),
	),
	{
		fields: "'Limit' and 'If the Fleet Keeps Changing'",
		when: "'Return All'",
		entry: ['Actions', 'Get many devices'],
		async make(node) {
			await node.fill('Limit', '7');
			await node.add('Add Option', 'Skip');
			await node.fill('Skip', '3');
			await node.useExpression('Return All');
			await node.add('Add Option', 'If the Fleet Keeps Changing');
		},
		saved: { returnAll: '={{ false }}', limit: 7, options: { skip: 3, ifFleetChanges: 'fail' } },
	},
	{
		fields: "the attribute of a rule under 'Only When'",
		when: "'Field'",
		entry: ['Triggers', 'On attribute changed'],
		async make(node) {
			await node.fill('Attributes', 'firmware');
			await node.click('Add Rule');
			await node.choose('Field', 'Attribute');
			await node.fill('Attribute', 'firmware');
			await node.useExpression('Field');
		},
		saved: {
			attributes: 'firmware',
			conditions: { rule: [{ field: '=attributes', attribute: 'firmware', from: '', to: '' }] },
		},
	},
	{
		fields: "the name of a rule under 'Sort'",
		when: "'Field'",
		entry: ['Actions', 'Get many devices'],
		async make(node) {
			await node.click('Add Sort Rule');
			await node.choose('Field', 'Attribute');
			await node.fill('Attribute or Field Name', 'site');
			await node.choose('Field', 'Custom');
		},
		saved: { sort: { rule: [{ field: 'custom', attribute: 'site', direction: 'desc' }] } },
	},
	{
		fields: "'Filters' and 'Options'",
		when: "'Operation'",
		entry: ['Actions', 'Get many devices'],
		async make(node) {
			await node.add('Add Filter', 'Composite Status');
			await node.fill('Composite Status', '2');
			await node.add('Add Option', 'Timeout (Milliseconds)');
			await node.fill('Timeout (Milliseconds)', '500');
			await node.choose('Operation', 'Count');
		},
		saved: { operation: 'count', filters: { compositeStatus: 2 }, options: { timeout: 500 } },
	},
	{
		fields: "'Body'",
		when: "'Method'",
		entry: ['Actions', 'Make API request'],
		async make(node) {
			await node.choose('Method', 'POST');
			await node.fill('Path', '/api/model/list');
			await node.useExpression('Body');
			await node.choose('Method', 'PUT');
		},
		saved: { method: 'PUT', body: '=' },
	},
];

/** Makes each change and reads the saved workflow. */
export async function changeForms(editor: Editor, { step }: Pick<Witness, 'step'>): Promise<void> {
	for (const { fields, when, entry, make, saved } of changes) {
		await step(`${fields} stay when ${when} changes`, async () => {
			await editor.newWorkflow();
			const node = await takeEntry(editor, ...entry);
			await make(node);
			await node.close();
			const parameters = await editor.save();
			for (const [name, value] of Object.entries(saved)) assert.deepEqual(parameters[name], value, name);
		});
	}
}
