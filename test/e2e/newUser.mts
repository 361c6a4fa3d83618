/** The steps of a new user in the editor. */
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { checkout } from '../../testbed/checkout.mts';
import { Editor, findBrowser } from '../../testbed/editor/editor.mts';
import { walkAsNewUser, type Witness } from '../../testbed/editor/newUser.mts';
import { checkNotes, notesOf } from '../../testbed/editor/templates.mts';
import { exampleWorkflows, workflowsOfStart } from '../../testbed/n8n/examples.mts';
import type { Main, Owner } from '../../testbed/n8n/main.mts';
import type { Services } from '../../testbed/n8n/services.mts';
import type { Checks } from './checks.mts';
import type { Servers } from './exampleSetup.mts';
import { errorOutputWorkflow } from './pages.mts';
import { newId } from './runs.mts';

/** What was on the screen when a step could not be done. */
const picture = join(checkout, '.cache', 'e2e', 'new-user.png');

/** The device of `switch-a-device-off`. */
const SWITCHED = 'RT46643907';

/** Opens the editor; undefined without a browser, which it says. */
export async function openEditor(
	{ url }: Main,
	owner: Owner,
	services: Services,
	checks: Checks,
	scale?: number,
): Promise<Editor | undefined> {
	const browser = findBrowser();
	if (browser !== undefined) return services.add(await Editor.open(browser, url, owner, scale));
	checks.skip('NOT TRIED: the new user in the editor. There is no Chromium here; install one, and it is found.');
	return undefined;
}

/** @param look takes a picture for the docs, if wanted */
export async function newUser(
	editor: Editor,
	main: Main,
	servers: Servers,
	checks: Checks,
	look: Witness['look'],
): Promise<void> {
	const { platform } = servers;
	const step = async (promise: string, work: () => Promise<void>) => {
		const isKept = await checks.check(promise, work);
		if (!isKept) await keepPicture(editor);
		return isKept;
	};
	let canGoOn = true;
	const inOrder: Witness = { look, step: async (promise, work) => void (canGoOn &&= await step(promise, work)) };
	const readMail = await awaitMail(editor, main, servers, inOrder);
	await inOrder.step(
		'the first click after npm start lists devices, with the credential that n8n selected',
		async () => {
			await editor.newWorkflow();
			const node = await editor.addStep('Actions', 'Get many devices');
			assert.equal(await node.credential.inputValue(), 'Device Management (API key)');
			await node.execute();
			assert((await node.table()).length > 0);
			await node.close();
		},
	);
	await walkAsNewUser(editor, platform, inOrder);
	const [, published = ''] = /\/workflow\/([^/?]+)/.exec(editor.page.url()) ?? [];
	// A poll has come.
	await readMail();
	if (canGoOn) await main.unpublish(published);
	else console.log('      What a new user does after that was not tried.');

	await step(
		'an unknown serial number leaves by the error output, in the workflow of docs/troubleshooting.md',
		async () => {
			const workflow = errorOutputWorkflow(platform);
			const names = workflow.nodes.map(({ name }) => name);
			await editor.openWorkflow(await main.create(workflow), names);
			await editor.executeWorkflow(names.slice(1));
			await look('error-output', 'workflow');
		},
	);
	await step('each note of an example shows all of its text', async () => {
		const notes = notesOf(await exampleWorkflows());
		await main.create(notes);
		await checkNotes(editor, notes);
	});
	// An open workflow keeps a processor busy.
	await editor.page.goto('about:blank');
}

/** Does what `npm start` says in the terminal. Returns the last step, which reads the mail. */
async function awaitMail(editor: Editor, main: Main, { platform, mailServer }: Servers, { step }: Witness) {
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

async function keepPicture(editor: Editor): Promise<void> {
	await mkdir(dirname(picture), { recursive: true });
	await writeFile(picture, await editor.picture());
	console.log(`      What was on the screen: ${picture}`);
}
