/** A user who changes a form that is filled in: nothing that still counts disappears from the saved workflow. */
import assert from 'node:assert/strict';

import type { Editor } from './editor.mts';
import type { NodePanel } from './form.mts';
import type { Witness } from './newUser.mts';

interface Change {
	/** Which fields stay when which field changes. */
	promise: string;
	entry: readonly ['Actions' | 'Triggers', string];
	make: (node: NodePanel) => Promise<void>;
	saved: Record<string, unknown>;
}

const fieldsStay = (entry: Change['entry']): Change => ({
	promise: `'Fields' of '${entry[1]}' stay when 'Output' changes`,
	entry,
	async make(node) {
		await node.choose('Output', 'Selected Fields');
		await node.toggle('Fields', 'Model');
		await node.useExpression('Output');
	},
	saved: { output: '=selected', fields: ['sn', 'onlineStatus', 'status', 'model'] },
});

const changes: readonly Change[] = [
	fieldsStay(['Triggers', 'On device created']),
	fieldsStay(['Actions', 'Get device']),
	fieldsStay(['Actions', 'Get many devices']),
	{
		promise: "'Only When', 'Attributes' and 'For At Least (Minutes)' stay when 'Events' changes",
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
		promise: "'Limit' and 'If the Fleet Keeps Changing' stay when 'Return All' changes",
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
		promise: "the attribute of a rule under 'Only When' stays when 'Field' changes",
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
		promise: "the name of a rule under 'Sort' stays when 'Field' changes",
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
		promise: "'Filters' and 'Options' stay when 'Operation' changes",
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
		promise: "'Body' stays when 'Method' changes",
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
export async function changeForms(editor: Editor, step: Witness['step']): Promise<void> {
	for (const { promise, entry, make, saved } of changes) {
		await step(promise, async () => {
			await editor.newWorkflow();
			const node = await editor.addStep(...entry);
			await make(node);
			await node.close();
			const parameters = await editor.save();
			for (const [name, value] of Object.entries(saved)) assert.deepEqual(parameters[name], value, name);
		});
	}
}
