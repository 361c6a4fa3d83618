/** The steps of a new user after the installation, in order, with the expected results. */
import assert from 'node:assert/strict';

import { type EmbeddedPlatform, OTHER_ENDPOINT, type PlatformAccess } from '../platform/server.mts';
import type { Editor } from './editor.mts';
import type { Frame } from './frame.mts';
import type { NodePanel } from './nodePanel.mts';

/** Follows the steps: a test, or the command that takes pictures. */
export interface Witness {
	/** Runs one step with its expected result. If `work` throws, the step fails. */
	step(promise: string, work: () => Promise<void>): Promise<void>;
	/**
	 * The screen shows something for a picture.
	 * @param again shows it again, if n8n doesn't follow a change of the theme
	 */
	look(name: string, frame: Frame, again?: () => Promise<void>): Promise<void>;
}

const WITH_KEY = 'Device platform, API key';
const WITH_LOGIN = 'Device platform, login';

/**
 * Runs all steps, from the nodes panel to a published workflow.
 * @param editor signed in to an n8n that has the package
 * @param platform with the example fleet; the steps type its API key and password
 */
export async function walkAsNewUser(
	editor: Editor,
	platform: PlatformAccess & Pick<EmbeddedPlatform, 'fleet'>,
	{ step, look }: Witness,
): Promise<void> {
	const { devices } = platform.fleet;

	const seeDetails = async () => {
		await editor.newWorkflow();
		await editor.openNodesPanel();
		await editor.searchNodes('device management');
		await editor.openNodeDetails('Device Management');
		await editor.unfold('Triggers', 'On device created');
		await editor.unfold('Actions', 'Get many devices');
	};
	await step('finds trigger and action by searching the nodes panel', async () => {
		await editor.newWorkflow();
		await editor.openNodesPanel();
		for (const text of ['iot', 'fleet', 'device management']) {
			await editor.searchNodes(text);
			await editor.seesInNodesPanel('Device Management');
		}
		await seeDetails();
		const listed = await editor.listedInNodesPanel();
		for (const entry of ['On online status changed', 'Count devices', 'Get device', 'Make API request']) {
			assert(listed.includes(entry), `'${entry}' is not among ${listed.join(', ')}`);
		}
		await look('nodes-panel', 'nodesPanel', seeDetails);
	});

	await step('connects with an API key, which the form hides', async () => {
		const form = await editor.newCredential('Device Management API');
		await form.rename(WITH_KEY);
		await form.fill('Base URL', platform.baseUrl);
		await form.fillSecret('API Key', platform.apiKey);
		assert(await form.isMasked('API Key'));
		await form.save();
		await form.connected();
		await look('credential-connected', 'dialog');
		await form.close();
	});

	await step('connects with a login; told that a wrong password is refused, and why; and connects again', async () => {
		const form = await editor.newCredential('Device Management API');
		await form.rename(WITH_LOGIN);
		await form.fill('Base URL', platform.baseUrl);
		await form.choose('Authentication', 'Login');
		await form.fill('Login Name', platform.loginName);
		await form.fillSecret('Password', platform.password);
		assert(await form.isMasked('Password'));
		await form.save();
		await form.connected();
		await form.fillSecret('Password', 'not-the-password');
		await form.save();
		const reason = await form.refused(async () => await look('credential-refused', 'dialog'));
		assert.match(reason, /login name or the password is not right/);
		assert(!reason.includes('not-the-password'));
		await form.fillSecret('Password', platform.password);
		await form.save();
		await form.connected();
		await form.close();
	});

	const takeAction = async (action: string) => await takeEntry(editor, 'Actions', action);

	await step('counts the devices of a status', async () => {
		await editor.newWorkflow();
		const node = await takeAction('Count devices');
		await node.widenOutput();
		await node.chooseCredential(WITH_KEY);
		await node.add('Add Filter', 'Composite Status');
		await node.fill('Composite Status', '2');
		await node.execute();
		const active = devices.filter(({ status }) => status === 2).length;
		assert.deepEqual(await node.table(), [{ count: String(active) }]);
		await node.close();
	});

	const [newest, beyond] = [devices[0], devices[73]];
	const chosen = devices.slice(100).find(({ description }) => description?.startsWith('Spare unit'));
	assert(newest && beyond && chosen);
	await step('picks a device from the list, by typing and by scrolling past the first page', async () => {
		const node = await takeAction('Get device');
		await node.chooseCredential(WITH_LOGIN);
		await node.openList();
		await node.scrollListTo(beyond.sn);
		await node.searchList('L5', 'L5');
		await look('device-list', 'list');
		await node.searchList(chosen.sn, chosen.sn);
		await node.pickFromList(chosen.sn);
		await node.execute();
		assert.deepEqual(
			(await node.table()).map(({ sn }) => sn),
			[chosen.sn],
		);
		await node.showOutputAs('JSON', chosen.sn);
		await look('get', 'step');
		await node.close();
	});

	const site = 'Hamburg';
	const wanted = devices
		.filter(({ attributes }) => attributes['site'] === site)
		.sort((a, b) => compare(b.createTime, a.createTime) || compare(a.sn, b.sn))
		.map(({ sn }) => sn);
	await step('lists devices by an attribute, in the order of two rules, and reads them as a table', async () => {
		const node = await takeAction('Get many devices');
		await node.chooseCredential(WITH_KEY);
		await node.switchOn('Return All');
		await node.add('Add Filter', 'Attributes');
		await node.click('Add Attribute');
		await node.fill('Key', 'site');
		await node.fill('Value', site);
		await node.click('Add Sort Rule');
		await node.click('Add Sort Rule');
		await node.choose('Field', 'Serial Number');
		await node.choose('Direction', 'Ascending');
		await node.execute();
		await node.showOutputAs('Table', String(wanted[0]));
		const shown = (await node.table()).map(({ sn }) => sn);
		assert.deepEqual(shown, wanted.slice(0, shown.length));
		assert.equal(await node.itemCount(), `${wanted.length} items`);
		await node.scrollToTop();
		await look('get-many', 'stepToFilters');
		await node.close();
	});

	await step('runs the whole workflow', async () => {
		await editor.tidyUp();
		await editor.executeWorkflow(['Count devices', 'Get device', 'Get many devices']);
		await look('execution', 'workflow');
	});

	const missing = 'RT00000000';
	assert(platform.fleet.get(missing) === undefined);
	await step('is told of a wrong serial number what to do about it', async () => {
		await editor.newWorkflow();
		const node = await takeAction('Get device');
		await node.chooseCredential(WITH_KEY);
		await node.locateBy('By SN');
		await node.fill('Device', missing);
		await node.execute();
		const { message, advice } = await node.error();
		assert.match(message, new RegExp(`No device has this serial number.*${missing}`));
		assert.match(advice, /'If Not Found'/);
		await look('error', 'step');
		await node.close();
	});

	await step('calls another endpoint of the platform', async () => {
		await editor.newWorkflow();
		const node = await takeAction('Make API request');
		await node.chooseCredential(WITH_KEY);
		await node.fill('Path', OTHER_ENDPOINT);
		await node.execute();
		const names = (await node.table()).map((model) => model['name']);
		assert.deepEqual(
			names,
			platform.fleet.models.map(({ name }) => name),
		);
		await look('api-request', 'step');
		await node.close();
	});

	await step('takes a test event from the trigger', async () => {
		await editor.newWorkflow();
		const node = await takeEntry(editor, 'Triggers', 'On online status changed');
		await node.widenOutput();
		await node.chooseCredential(WITH_KEY);
		await node.click('Add Rule');
		await node.fill('To', '0');
		await node.fill('For At Least (Minutes)', '15');
		await node.fetchTestEvent();
		assert.deepEqual(
			// The table shows null in brackets.
			(await node.table()).map(({ event, previous, current }) => [event, previous?.replaceAll(/\W/g, ''), current]),
			devices.slice(0, 3).map(({ onlineStatus }) => ['onlineStatusChanged', onlineStatus === 0 ? 'null' : '1', '0']),
		);
		await node.add('Add Option', 'Items per Poll');
		await node.choose('Items per Poll', 'One Item for Each Poll');
		await node.fetchTestEvent();
		await node.showOutputAs('JSON', '"events"');
		await node.scrollToTop();
		await look('trigger', 'step');
		await node.close();
	});

	await step('publishes the workflow', async () => {
		await editor.publish();
	});
}

/** Adds a step of the package, as the nodes panel lists it, to the open workflow. */
export async function takeEntry(editor: Editor, list: 'Actions' | 'Triggers', entry: string): Promise<NodePanel> {
	await editor.openNodesPanel();
	await editor.searchNodes('device management');
	await editor.openNodeDetails('Device Management');
	await editor.unfold(list, entry);
	return await editor.addStep(entry);
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
