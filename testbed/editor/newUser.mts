/** The steps of a new user after the installation, in order, with the expected results. */
import assert from 'node:assert/strict';

import { type Device, type EmbeddedPlatform, OTHER_ENDPOINT } from '../platform/server.mts';
import type { Editor } from './editor.mts';
import type { Frame } from './frame.mts';

/** Follows the steps: a test, which may take pictures. */
export interface Witness {
	/** Runs one step with its expected result. If `work` throws, the step fails. */
	step(promise: string, work: () => Promise<void>): Promise<void>;
	/**
	 * The screen shows something for a picture.
	 * @param again shows it again, if n8n doesn't follow a change of the theme
	 */
	look(name: string, frame: Frame, again?: () => Promise<unknown>): Promise<void>;
}

const CREDENTIAL = 'Device Management API';
const WITH_KEY = 'Device platform, API key';
const WITH_LOGIN = 'Device platform, login';
const MISSING = 'RT00000000';
/** What a person may search for in the nodes panel, for a trigger or another step. */
const SEARCHED = 'iot fleet offline online watch monitor alert sensor gateway telemetry asset'.split(' ');

/**
 * Runs all steps, from the nodes panel to a published workflow.
 * @param editor signed in to an n8n that has the package
 * @param platform with the example fleet; the steps type its API key and password
 */
export async function walkAsNewUser(editor: Editor, platform: EmbeddedPlatform, witness: Witness): Promise<void> {
	await connect(editor, platform, witness);
	await buildWorkflow(editor, platform, witness);
	await listOffline(editor, platform, witness);
	await changeForm(editor, witness);
	await readOnce(editor, platform, witness);
	await watch(editor, platform, witness);
}

async function connect(editor: Editor, platform: EmbeddedPlatform, { step, look }: Witness): Promise<void> {
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
		for (const entry of ['On online status changed', 'Count devices', 'Get device', 'Make API request']) {
			assert(listed.includes(entry), `'${entry}' is not among ${listed.join(', ')}`);
		}
		await look('nodes-panel', 'nodesPanel', seeDetails);
	});

	await step('connects with an API key, which the form hides', async () => {
		const form = await editor.newCredential(CREDENTIAL);
		await form.rename(WITH_KEY);
		await form.fill('Base URL', platform.baseUrl);
		assert(await form.fillSecret('API Key', platform.apiKey));
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
		assert(await form.fillSecret('Password', platform.password));
		await form.connect();
		await form.fillSecret('Password', 'not-the-password');
		await form.save();
		const reason = await form.refused(async () => await look('credential-refused', 'dialog'));
		assert.match(reason, /login name or the password is not right/);
		assert(!reason.includes('not-the-password'));
		await form.fillSecret('Password', platform.password);
		await form.connect();
		await form.close();
	});
}

/** A workflow of three steps. */
async function buildWorkflow(editor: Editor, { fleet }: EmbeddedPlatform, witness: Witness): Promise<void> {
	const { step, look } = witness;
	await step('counts the devices of a status', async () => {
		await editor.newWorkflow();
		const node = await editor.addStep('Actions', 'Count devices');
		await node.widenOutput();
		await node.chooseCredential(WITH_KEY);
		await node.add('Add Filter', 'Composite Status');
		await node.fill('Composite Status', '2');
		await node.execute();
		const active = fleet.devices.filter(({ status }) => status === 2).length;
		assert.deepEqual(await node.table(), [{ count: String(active) }]);
		await node.close();
	});

	await pickDevice(editor, fleet.devices, witness);
	await listDevices(editor, fleet.devices, witness);
	await step('runs the whole workflow', async () => {
		await editor.page.getByTestId('tidy-up-button').click();
		await editor.showWholeCanvas();
		await editor.executeWorkflow(['Count devices', 'Get device', 'Get many devices']);
		await look('execution', 'workflow');
	});
}

async function pickDevice(editor: Editor, devices: readonly Device[], { step, look }: Witness): Promise<void> {
	await step('picks a device from the list, by typing and by scrolling past the first page', async () => {
		const chosen = devices.slice(100).find(({ description }) => description?.startsWith('Spare unit'))?.sn ?? '';
		for (const text of SEARCHED) await (await editor.searchNodes(text)).waitFor();
		const node = await editor.addStep('Actions', 'Get device');
		await node.chooseCredential(WITH_LOGIN);
		await node.scrollListTo(devices[73]?.sn ?? '');
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

async function listDevices(editor: Editor, devices: readonly Device[], { step, look }: Witness): Promise<void> {
	await step('lists devices by an attribute, in the order of two rules, and reads them as a table', async () => {
		const wanted = devices
			.filter(({ attributes }) => attributes['site'] === 'Hamburg')
			.sort((a, b) => compare(b.createTime, a.createTime) || compare(a.sn, b.sn))
			.map(({ sn }) => sn);
		const node = await editor.addStep('Actions', 'Get many devices');
		await node.chooseCredential(WITH_KEY);
		await node.switchOn('Return All');
		await node.add('Add Filter', 'Attributes');
		await node.click('Add Attribute');
		await node.fill('Key', 'site');
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
		await node.scrollToTop();
		await look('get-many', 'stepToFilters');
		await node.close();
	});
}

/** A workflow of one step. */
async function listOffline(editor: Editor, { fleet }: EmbeddedPlatform, { step }: Witness): Promise<void> {
	await step('lists all devices that are offline', async () => {
		await editor.newWorkflow();
		const node = await editor.addStep('Actions', 'Get many devices');
		await node.chooseCredential(WITH_KEY);
		await node.switchOn('Return All');
		await node.add('Add Filter', 'Online Status');
		await node.execute();
		const offline = fleet.devices.filter(({ onlineStatus }) => onlineStatus === 0).length;
		await node.output.getByText(`${offline} items`).waitFor();
		assert.deepEqual(new Set((await node.table()).map(({ onlineStatus }) => onlineStatus)), new Set(['0']));
		await node.close();
	});
}

async function changeForm(editor: Editor, { step }: Witness): Promise<void> {
	const filters = { compositeStatus: 2 };
	const listActive = async () => {
		await editor.newWorkflow();
		const node = await editor.addStep('Actions', 'Get many devices');
		await node.add('Add Filter', 'Composite Status');
		await node.fill('Composite Status', '2');
		return node;
	};
	await step("changes 'Operation', and the saved workflow keeps 'Filters'", async () => {
		const node = await listActive();
		await node.choose('Operation', 'Count');
		await node.close();
		assert.deepEqual((await editor.save())['filters'], filters);
	});

	await step(
		'changes other fields of a filled form, and the saved workflow loses nothing that still counts',
		async () => {
			const node = await listActive();
			await node.click('Add Sort Rule');
			await node.choose('Field', 'Attribute');
			await node.fill('Attribute or Field Name', 'site');
			await node.choose('Field', 'Custom');
			await node.choose('Output', 'Selected Fields');
			await node.toggle('Fields', 'Model');
			await node.useExpression('Output');
			await node.useExpression('Return All');
			await node.close();
			const saved = await editor.save();
			const sort = { rule: [{ field: 'custom', attribute: 'site', direction: 'desc' }] };
			const fields = ['sn', 'onlineStatus', 'status', 'model'];
			assert.deepEqual([saved['filters'], saved['sort'], saved['fields']], [filters, sort, fields]);
		},
	);
}

/** Workflows of one step. */
async function readOnce(editor: Editor, { fleet }: EmbeddedPlatform, { step, look }: Witness): Promise<void> {
	await step('is told of a wrong serial number what to do about it', async () => {
		await editor.newWorkflow();
		const node = await editor.addStep('Actions', 'Get device');
		await node.chooseCredential(WITH_KEY);
		await node.locateBy('By SN');
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

async function watch(editor: Editor, { fleet }: EmbeddedPlatform, { step, look }: Witness): Promise<void> {
	await step('takes a test event from the trigger', async () => {
		await editor.newWorkflow();
		const node = await editor.addStep('Triggers', 'On online status changed');
		await node.widenOutput();
		await node.chooseCredential(WITH_KEY);
		await node.click('Add Rule');
		await node.fill('To', '0');
		await node.fill('For At Least (Minutes)', '15');
		await node.click('Fetch Test Event');
		assert.deepEqual(
			// The table shows null in brackets.
			(await node.table()).map(({ event, previous, current }) => [event, previous?.replaceAll(/\W/g, ''), current]),
			fleet.devices
				.slice(0, 3)
				.map(({ onlineStatus }) => ['onlineStatusChanged', onlineStatus === 0 ? 'null' : '1', '0']),
		);
		await node.add('Add Option', 'Items per Poll');
		await node.choose('Items per Poll', 'One Item for Each Poll');
		await node.click('Fetch Test Event');
		await node.showOutputAs('JSON', '"events"');
		await node.scrollToTop();
		await look('trigger', 'step');
		const notice = editor.page.getByText('Devices that are offline at the first poll are not reported');
		await notice.waitFor();
		await node.add('Add Option', 'First Poll');
		await node.choose('First Poll', 'Report States');
		await notice.waitFor({ state: 'hidden' });
		await node.close();
	});

	await step('publishes the workflow', async () => await editor.publish());
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
