/**
 * A new user in the editor: what `npm start` says, then each step from the nodes panel to a published workflow, with its expected
 * result. Then workflows of pages and examples on the canvas. A step that fails ends the part. Pictures are only taken if they are
 * wanted.
 */
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import pWaitFor from 'p-wait-for';

import { checkout } from '../../testbed/checkout.mts';
import type { Editor } from '../../testbed/editor/editor.mts';
import { exampleWorkflows, isNote, workflowsOfStart } from '../../testbed/n8n/examples.mts';
import type { Main } from '../../testbed/n8n/main.mts';
import { OTHER_ENDPOINT } from '../../testbed/platform/server.mts';
import { triggerType } from '../../testbed/watch.mts';
import type { Checks } from './checks.mts';
import type { Servers } from './exampleSetup.mts';
import { errorOutputWorkflow } from './pages.mts';
import type { Look } from './pictures.mts';
import { newId } from './runs.mts';

/** What was on the screen when a step failed. */
const picture = join(checkout, '.cache', 'e2e', 'new-user.png');

const CREDENTIAL = 'Device Management API';
const WITH_KEY = 'Device platform, API key';
const WITH_LOGIN = 'Device platform, login';
const MISSING = 'RT00000000';
/** The device of `switch-a-device-off`. */
const SWITCHED = 'RT46643907';
/** What a person may search for in the nodes panel, for a trigger or another step. */
const SEARCHED = [
	...'iot fleet offline online watch monitor alert sensor gateway telemetry asset'.split(' '),
	...[
		'devices',
		'sensor alert',
		'battery',
		'device offline',
		'offline device',
		'device alert',
		'count devices',
		'iot platform',
	],
];

interface User extends Servers {
	editor: Editor;
	main: Main;
	checks: Checks;
	/** Takes a picture for the docs, if wanted. */
	look: Look;
	/** Runs one step with its expected result. If it fails, it throws. */
	step(promise: string, work: () => Promise<void>): Promise<void>;
}

export async function newUser(setup: Omit<User, 'step'>): Promise<void> {
	const { editor, checks } = setup;
	const step = async (promise: string, work: () => Promise<void>) => {
		if (await checks.check(promise, work)) return;
		await mkdir(dirname(picture), { recursive: true });
		await writeFile(picture, await editor.picture());
		throw new Error(`What was on the screen: ${picture}. What a new user does after that was not tried.`);
	};
	const user = { ...setup, step };
	const readMail = await awaitMail(user);
	await firstClick(user);
	await connect(user);
	await buildWorkflow(user);
	await changeForm(user);
	await readOnce(user);
	await keepOld(user);
	await watch(user);
	const readAlert = await watchBattery(user);
	// A poll has come.
	await readMail();
	await readAlert();
	await onCanvas(user);
	// An open workflow keeps a processor busy.
	await editor.page.goto('about:blank');
}

/** Does what `npm start` says in the terminal. Returns the last step, which reads the mail. */
async function awaitMail({ editor, main, platform, mailServer, step }: User): Promise<() => Promise<void>> {
	const workflows = (await workflowsOfStart()).map((workflow) => ({ ...workflow, id: newId() }));
	const [alert, switchDevice] = workflows;
	const sheet = workflows.find(({ name }) => name.includes('Google Sheet'));
	assert(alert && switchDevice && sheet);
	const execute = async (id: string, node: string) => {
		await editor.openWorkflow(id, [node]);
		await editor.executeWorkflow([node]);
	};
	await step(
		'the alert of npm start is published, a device switched off, and a sheet of sample rows looked up',
		async () => {
			for (const workflow of [alert, switchDevice, sheet]) await main.create(workflow);
			await editor.openWorkflow(alert.id, ['Send mail']);
			await editor.publish();
			await execute(switchDevice.id, 'Switch off or on');
			await execute(sheet.id, 'Group and status');
		},
	);
	return async () =>
		await step('the mail is in the mailbox within two polls, and the device is switched on again', async () => {
			await editor.page.goto(mailServer.mailbox);
			await editor.page.getByText(SWITCHED).waitFor({ timeout: 120_000 });
			const { at = 0 } = platform.requests.findLast(({ method }) => method === 'PUT') ?? {};
			assert(Date.parse(mailServer.mails.find(({ text }) => text?.includes(SWITCHED))?.date ?? '') < at + 120_000);
			await execute(switchDevice.id, 'Switch off or on');
			assert.equal(platform.fleet.get(SWITCHED)?.onlineStatus, 1);
			await main.unpublish(alert.id);
		});
}

async function firstClick({ editor, platform: { fleet }, step, look }: User): Promise<void> {
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
			await node.scrollToTop();
			await look('get-many', 'stepToFilters');
			await node.close();
		},
	);
}

async function connect({ editor, platform, step, look }: User): Promise<void> {
	await step('finds trigger and action by searching the nodes panel', async () => {
		await editor.newWorkflow();
		for (const text of SEARCHED) await (await editor.searchNodes(text)).waitFor();
		const seeDetails = async () => {
			await editor.newWorkflow();
			await (await editor.searchNodes('device management')).click();
			await editor.unfold('Triggers', 'On device created');
			await editor.unfold('Actions', 'Get many devices');
		};
		await seeDetails();
		const listed = await editor.nodesPanel.getByTestId('node-creator-item-name').allInnerTexts();
		for (const entry of ['On device going offline or online', 'Count devices', 'Get device', 'Make API request']) {
			assert(listed.includes(entry), `'${entry}' is not among ${listed.join(', ')}`);
		}
		await look('nodes-panel', 'nodesPanel', seeDetails);
	});

	await step('connects with an API key', async () => {
		const form = await editor.newCredential(CREDENTIAL);
		await form.rename(WITH_KEY);
		await form.fill('Base URL', platform.baseUrl);
		await form.fill('API Key', platform.apiKey);
		await form.connect();
		await look('credential-connected', 'dialog');
		await form.close();
	});

	await step('connects with a login; told that a wrong password is refused, and why; and connects again', async () => {
		const form = await editor.newCredential(CREDENTIAL);
		await form.rename(WITH_LOGIN);
		await form.fill('Base URL', platform.baseUrl);
		await form.choose('Authentication', 'Login');
		await form.fill('Login Name', platform.loginName);
		await form.fill('Password', platform.password);
		await form.connect();
		await form.fill('Password', 'not-the-password');
		await form.save();
		const reason = await form.refused(async () => await look('credential-refused', 'dialog'));
		assert.match(reason, /Incorrect login name or password/);
		assert(!reason.includes('not-the-password'));
		await form.fill('Password', platform.password);
		await form.connect();
		await form.close();
	});
}

/** A workflow of three steps. */
async function buildWorkflow(user: User): Promise<void> {
	const { editor, platform, step, look } = user;
	await step('counts the devices of a status', async () => {
		await editor.newWorkflow();
		const node = await editor.addStep('Actions', 'Count devices');
		await node.widenOutput();
		await node.chooseCredential(WITH_KEY);
		await node.add('Add Filter', 'Composite Status');
		await node.fill('Composite Status', '2');
		await node.execute();
		const active = platform.fleet.devices.filter(({ status }) => status === 2).length;
		assert.deepEqual(await node.table(), [{ count: String(active) }]);
		await node.close();
	});

	await pickDevice(user);
	await listDevices(user);
	await step('runs the whole workflow', async () => {
		await editor.page.getByTestId('tidy-up-button').click();
		await editor.showWholeCanvas();
		await editor.executeWorkflow(['Count devices', 'Get device', 'Get many devices']);
		await look('execution', 'workflow');
	});
}

async function pickDevice({ editor, platform: { fleet }, step, look }: User): Promise<void> {
	await step('picks a device from the list, by typing and by scrolling past the first page', async () => {
		const chosen = fleet.devices.slice(100).find(({ description }) => description?.startsWith('Spare unit'))?.sn ?? '';
		for (const text of SEARCHED) await (await editor.searchNodes(text)).waitFor();
		const node = await editor.addStep('Actions', 'Get device');
		await node.chooseCredential(WITH_LOGIN);
		await node.scrollListTo(fleet.at(73).sn);
		await node.searchList('L5');
		await look('device-list', 'list');
		await node.searchList('Warehouse Hamburg');
		await node.searchList(chosen);
		await node.listed(chosen).click();
		await node.execute();
		const shown = await node.table();
		assert.deepEqual([shown.length, shown[0]?.['sn']], [1, chosen]);
		await node.showOutputAs('JSON', chosen);
		await look('get', 'step');
		await node.close();
	});
}

async function listDevices({ editor, platform: { fleet }, step }: User): Promise<void> {
	await step('lists devices by an attribute, in the order of two rules, and reads them as a table', async () => {
		const wanted = fleet.devices
			.filter(({ attributes }) => attributes['site'] === 'Hamburg')
			.sort((a, b) => compare(b.createTime, a.createTime) || compare(a.sn, b.sn))
			.map(({ sn }) => sn);
		const node = await editor.addStep('Actions', 'Get many devices');
		await node.chooseCredential(WITH_KEY);
		await node.switchOn('Return All');
		await node.add('Add Filter', 'Attributes');
		await node.click('Add Attribute');
		await node.fill('Name', 'site');
		await node.fill('Value', 'Hamburg');
		await node.click('Add Sort Rule');
		await node.click('Add Sort Rule');
		await node.choose('Field', 'Serial Number');
		await node.choose('Direction', 'Ascending');
		await node.execute();
		await node.showOutputAs('Table', String(wanted[0]));
		const shown = (await node.table()).map(({ sn }) => sn);
		assert.deepEqual(shown, wanted.slice(0, shown.length));
		assert.equal(await node.output.getByTestId('ndv-items-count').innerText(), `${wanted.length} items`);
		await node.close();
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
	});
}

/** Workflows of one step. */
async function readOnce({ editor, platform: { fleet }, step, look }: User): Promise<void> {
	await step('is told of a wrong serial number what to do about it', async () => {
		await editor.newWorkflow();
		const node = await editor.addStep('Actions', 'Get device');
		await node.chooseCredential(WITH_KEY);
		await node.locateBy('Device', 'By SN');
		await node.fill('Device', MISSING);
		await node.execute();
		const message = await node.output.getByTestId('node-error-message').innerText();
		assert.match(message, new RegExp(`No device has the serial number ${MISSING}`));
		assert.match(await node.output.getByTestId('node-error-description').innerText(), /'If Not Found'/);
		await look('error', 'step');
		await node.close();
	});

	await step('calls another endpoint of the platform', async () => {
		await editor.newWorkflow();
		const node = await editor.addStep('Actions', 'Make API request');
		await node.chooseCredential(WITH_KEY);
		await node.fill('Path', OTHER_ENDPOINT);
		await node.execute();
		const names = (await node.table()).map((model) => model['name']);
		const wanted = fleet.models.map(({ name }) => name);
		assert.deepEqual(names, wanted);
		await look('api-request', 'step');
		await node.close();
	});
}

async function watch({ editor, main, step, look }: User): Promise<void> {
	await step('chooses other events and back, and keeps the keys of the attributes', async () => {
		await editor.newWorkflow();
		const node = await editor.addStep('Triggers', 'On attribute changed');
		await node.output.getByText(/^The first poll only records the current state/).waitFor();
		await node.fill('Attributes', 'firmware');
		await node.toggle('Events', 'Device Removed');
		await node.toggle('Events', 'Attribute Changed');
		await node.fill('Attributes', 'firmware, site');
		await node.toggle('Events', 'Attribute Changed');
		await node.close();
		assert.equal((await editor.save())['attributes'], 'firmware, site');
	});

	await step('takes a test event from the trigger', async () => {
		await editor.newWorkflow();
		const node = await editor.addStep('Triggers', 'On device going offline or online');
		await node.widenOutput();
		await node.chooseCredential(WITH_KEY);
		await node.click('Add Condition');
		await node.chooseListed('To', 'usually offline');
		await node.fill('For At Least (Minutes)', '15');
		await node.click('Fetch Test Event');
		assert.deepEqual(
			// The table shows null in brackets.
			(await node.table()).map(({ event, previous, current }) => [event, previous?.replaceAll(/\W/g, ''), current]),
			Array(3).fill(['onlineStatusChanged', 'null', '0']),
		);
		await node.add('Add Option', 'Items per Poll');
		await node.choose('Items per Poll', 'One Item per Poll');
		await node.click('Fetch Test Event');
		await node.showOutputAs('JSON', '"events"');
		await node.scrollToTop();
		await look('trigger', 'step');
		await node.close();
	});

	await step('publishes the workflow', async () => {
		await editor.publish();
		const [, id = ''] = /\/workflow\/([^/?]+)/.exec(editor.page.url()) ?? [];
		await main.unpublish(id);
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

/** A trigger that is built by clicks alone, but for a number. Returns the step that reads its event. */
async function watchBattery({ editor, main, platform: { fleet }, step }: User): Promise<() => Promise<void>> {
	let id = '';
	const { sn, attributes } = fleet.at(0);
	const charge = (battery: number) => fleet.update(sn, { attributes: { ...attributes, battery } });
	await step('builds “battery below 20” in a group by clicks, and publishes it', async () => {
		charge(25);
		await editor.newWorkflow();
		const node = await editor.addStep('Triggers', 'On attribute changed');
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
			const results = await main.results(execution);
			const [item] = Object.values(results)[0]?.items ?? [];
			assert.deepEqual([item?.['previous'], item?.['current']], [25, 19]);
			await main.unpublish(id);
			fleet.update(sn, { attributes });
		});
}

/** The workflow of a page, and all notes of the examples side by side, because the editor takes seconds to open a workflow. */
async function onCanvas({ editor, main, platform, step, look }: User): Promise<void> {
	await step(
		'an unknown serial number leaves by the error output, and an If node finds it, as docs/troubleshooting.md says',
		async () => {
			const workflow = errorOutputWorkflow(platform);
			const names = workflow.nodes.map(({ name }) => name);
			await editor.openWorkflow(await main.create(workflow), names);
			await editor.executeWorkflow(names.slice(1));
			await look('error-output', 'workflow');
		},
	);
	await step('each note of an example shows all of its text', async () => {
		const notes = [...(await exampleWorkflows()).values()].flatMap(({ nodes }) => nodes.filter(isNote));
		const nodes = notes.map((note, at) => ({ ...note, name: `Note ${at}`, position: [1200 * at, 0] }));
		await editor.openWorkflow(
			await main.create({ id: newId(), name: 'Notes', active: false, nodes, connections: {} }),
			[],
		);
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

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
