/**
 * A new user in the editor, from the credential to a published trigger, each step with its expected result. Then workflows of pages
 * and examples on the canvas. A step that fails ends the part.
 */
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import pWaitFor from 'p-wait-for';

import { checkout } from '../../testbed/checkout.mts';
import type { Editor } from '../../testbed/editor/editor.mts';
import { exampleWorkflows, isNote } from '../../testbed/n8n/examples.mts';
import type { Main } from '../../testbed/n8n/main.mts';
import type { EmbeddedPlatform } from '../../testbed/platform/server.mts';
import { triggerType } from '../../testbed/watch.mts';
import type { Checks } from './checks.mts';
import { errorOutputWorkflow } from './pages.mts';
import { newId } from './runs.mts';

/** What was on the screen when a step failed. */
const picture = join(checkout, '.cache', 'e2e', 'new-user.png');

const CREDENTIAL = 'Device Management API';
const WITH_KEY = 'Device platform, API key';
const WITH_LOGIN = 'Device platform, login';
/** What a person may search for in the nodes panel, for a trigger or another step. */
const SEARCHED = [
	...'iot fleet offline online watch monitor alert sensor gateway telemetry asset devices battery'.split(' '),
	...['sensor alert', 'device offline', 'offline device', 'device alert', 'count devices', 'iot platform'],
];

interface User {
	editor: Editor;
	main: Main;
	platform: EmbeddedPlatform;
	checks: Checks;
	/** Runs one step with its expected result. If it fails, it throws. */
	step(promise: string, work: () => Promise<void>): Promise<void>;
}

export async function newUser(setup: Omit<User, 'step'>): Promise<void> {
	const { editor, checks } = setup;
	const step = async (promise: string, work: () => Promise<void>) => {
		if (await checks.check(promise, work)) return;
		await mkdir(dirname(picture), { recursive: true });
		await writeFile(picture, await editor.page.screenshot());
		throw new Error(`What was on the screen: ${picture}. What a new user does after that was not tried.`);
	};
	const user = { ...setup, step };
	await firstClick(user);
	await connect(user);
	await search(user);
	const readEvent = await watchBattery(user);
	await changeForm(user);
	await keepOld(user);
	await onCanvas(user);
	// A poll has come.
	await readEvent();
	// An open workflow keeps a processor busy.
	await editor.page.goto('about:blank');
}

async function firstClick({ editor, platform: { fleet }, step }: User): Promise<void> {
	await step(
		'the first click after npm start lists devices with the credential that n8n selected, and the next one all that are offline',
		async () => {
			await editor.newWorkflow();
			const node = await editor.addStep('Actions', 'Get many devices');
			assert.equal(await node.credential.inputValue(), 'Device Management (API key)');
			await node.execute();
			assert((await node.table()).length > 0);
			await node.switchOn('Return All');
			await node.add('Add Filter', 'Online Status');
			await node.chooseListed('Online Status', 'usually offline');
			await node.execute();
			const offline = fleet.devices.filter(({ onlineStatus }) => onlineStatus === 0).length;
			await node.output.getByText(`${offline} items`).waitFor();
			assert.deepEqual(new Set((await node.table()).map(({ onlineStatus }) => onlineStatus)), new Set(['0']));
			await node.close();
		},
	);
}

async function connect({ editor, platform, step }: User): Promise<void> {
	await step('connects with an API key', async () => {
		const form = await editor.newCredential(CREDENTIAL);
		await form.rename(WITH_KEY);
		await form.fill('Base URL', platform.baseUrl);
		await form.fill('API Key', platform.apiKey);
		await form.connect();
		await form.close();
	});

	await step('is told that a wrong password is refused, and why, and connects with the right one', async () => {
		const form = await editor.newCredential(CREDENTIAL);
		await form.rename(WITH_LOGIN);
		await form.fill('Base URL', platform.baseUrl);
		await form.choose('Authentication', 'Login');
		await form.fill('Login Name', platform.loginName);
		await form.fill('Password', 'not-the-password');
		await form.save();
		const reason = await form.refused();
		assert.match(reason, /Incorrect login name or password/);
		assert(!reason.includes('not-the-password'));
		await form.fill('Password', platform.password);
		await form.connect();
		await form.close();
	});
}

async function search({ editor, platform: { fleet }, step }: User): Promise<void> {
	await step('finds trigger and action by searching the nodes panel', async () => {
		await editor.newWorkflow();
		for (const text of SEARCHED) await (await editor.searchNodes(text)).waitFor();
		await (await editor.searchNodes('device management')).click();
		await editor.unfold('Triggers', 'On device going offline or online');
		for (const action of ['Count devices', 'Get device', 'Make API request']) await editor.unfold('Actions', action);
	});

	await step('picks a device from the list, by typing and by scrolling past the first page', async () => {
		const chosen = fleet.devices.slice(100).find(({ description }) => description?.startsWith('Spare unit'))?.sn ?? '';
		await editor.newWorkflow();
		const node = await editor.addStep('Actions', 'Get device');
		await node.chooseCredential(WITH_LOGIN);
		await node.scrollListTo(fleet.at(73).sn);
		await node.searchList('Warehouse Hamburg');
		await node.searchList(chosen);
		await node.listed(chosen).click();
		await node.execute();
		const shown = await node.table();
		assert.deepEqual([shown.length, shown[0]?.['sn']], [1, chosen]);
		await node.close();
	});
}

/** A trigger that is built by clicks alone, but for a number. Returns the step that reads its event. */
async function watchBattery({ editor, main, platform: { fleet }, step }: User): Promise<() => Promise<void>> {
	let id = '';
	const { sn, attributes } = fleet.at(0);
	const charge = (battery: number) => fleet.update(sn, { attributes: { ...attributes, battery } });
	await step('builds “battery below 20” in a group by clicks, and publishes it', async () => {
		charge(25);
		await editor.newWorkflow();
		const node = await editor.addStep('Triggers', 'On attribute changed');
		await node.output.getByText(/^The first poll only records the current state/).waitFor();
		await node.chooseCredential(WITH_KEY);
		await node.click('Add Condition');
		await node.choose('Field', 'Attribute');
		await node.chooseListed('Attribute', 'battery');
		await node.locateBy('To', 'Below');
		await node.fill('To', '20');
		await node.add('Add Filter', 'Group');
		await node.chooseListed('Group', fleet.at(0).group.name);
		await node.close();
		await editor.save();
		await editor.publish();
		[, id = ''] = /\/workflow\/([^/?]+)/.exec(editor.page.url()) ?? [];
		charge(19);
	});
	return async () =>
		await step('the event comes within two polls', async () => {
			const ran = async () => (await main.executions(id)).length > 0;
			await pWaitFor(ran, { interval: 1000, timeout: 120_000 });
			const [execution = ''] = await main.executions(id);
			const [item] = Object.values(await main.results(execution))[0]?.items ?? [];
			assert.deepEqual([item?.['previous'], item?.['current']], [25, 19]);
			await main.unpublish(id);
			fleet.update(sn, { attributes });
		});
}

async function changeForm({ editor, step }: User): Promise<void> {
	await step('changes fields of a filled form, and the saved workflow loses nothing that still counts', async () => {
		await editor.newWorkflow();
		const node = await editor.addStep('Actions', 'Get many devices');
		await node.add('Add Filter', 'Composite Status');
		await node.fill('Composite Status', '2');
		await node.choose('Operation', 'Count');
		await node.choose('Operation', 'Get Many');
		await node.click('Add Sort Rule');
		await node.choose('Field', 'Attribute');
		await node.fill('Attribute', 'site');
		await node.choose('Field', 'Other Field');
		await node.choose('Output', 'Selected Fields');
		await node.toggle('Fields', 'Model');
		await node.useExpression('Output');
		await node.useExpression('Return All');
		await node.close();
		const { filters, sort, fields } = await editor.save();
		assert.deepEqual(filters, { compositeStatus: 2 });
		assert.deepEqual(sort, { rule: [{ field: 'custom', attribute: 'site', direction: 'desc' }] });
		assert.deepEqual(fields, ['sn', 'onlineStatus', 'status', 'model']);

		await editor.newWorkflow();
		const trigger = await editor.addStep('Triggers', 'On attribute changed');
		await trigger.fill('Attributes', 'firmware');
		for (const event of ['Device Removed', 'Attribute Changed', 'Attribute Changed']) {
			await trigger.toggle('Events', event);
		}
		await trigger.close();
		assert.equal((await editor.save())['attributes'], 'firmware');
	});
}

/** A workflow that was saved before conditions and filters had lists. */
async function keepOld({ editor, main, step }: User): Promise<void> {
	await step('a workflow with typed conditions and filters looks as before, and is saved unchanged', async () => {
		const given = {
			events: ['onlineStatusChanged', 'attributeChanged'],
			attributes: 'battery',
			conditions: { rule: [{ to: '0' }, { field: 'attributes', attribute: 'battery', from: '30', to: '={{ 20 }}' }] },
			filters: { onlineStatus: 0, group: 'Default' },
		};
		const node = { id: 'old', name: 'Old', type: triggerType, typeVersion: 1, position: [0, 0], parameters: given };
		const workflow = { id: newId(), name: 'Old', active: false, nodes: [node], connections: {} };
		await editor.openWorkflow(await main.create(workflow), ['Old']);
		const panel = await editor.openNode('Old');
		assert.deepEqual(await panel.values('From'), ['', '30']);
		assert.deepEqual([await panel.values('Online Status'), await panel.values('Group')], [['0'], ['Default']]);
		await panel.fill('For At Least (Minutes)', '15');
		await panel.close();
		const { conditions, filters } = await editor.save();
		assert.deepEqual({ conditions, filters }, { conditions: given.conditions, filters: given.filters });
	});
}

/** The workflow of a page, and all notes of the examples side by side, because the editor takes seconds to open a workflow. */
async function onCanvas({ editor, main, platform, step }: User): Promise<void> {
	await step(
		'an unknown serial number leaves by the error output, and an If node finds it, as docs/troubleshooting.md says',
		async () => {
			const workflow = errorOutputWorkflow(platform);
			const names = workflow.nodes.map(({ name }) => name);
			await editor.openWorkflow(await main.create(workflow), names);
			await editor.executeWorkflow(names.slice(1));
		},
	);
	await step('each note of an example shows all of its text', async () => {
		const notes = [...(await exampleWorkflows()).values()].flatMap(({ nodes }) => nodes.filter(isNote));
		const nodes = notes.map((note, at) => ({ ...note, name: `Note ${at}`, position: [1200 * at, 0] }));
		const workflow = { id: newId(), name: 'Notes', active: false, nodes, connections: {} };
		await editor.openWorkflow(await main.create(workflow), []);
		const shown = editor.page.getByTestId('sticky');
		await shown.nth(notes.length - 1).waitFor();
		for (const note of await shown.all()) assert(await note.evaluate(isWhole), (await note.innerText()).slice(0, 80));
	});
}

/** Whether a note shows all of its text. */
function isWhole(note: Element): boolean {
	return [note, ...Array.from(note.querySelectorAll('*'))].every(
		({ scrollHeight, clientHeight }) => scrollHeight <= clientHeight + 1,
	);
}
