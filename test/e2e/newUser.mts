/** The steps of a new user in the editor. */
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { checkout } from '../../testbed/checkout.mts';
import { changeForms } from '../../testbed/editor/changedForms.mts';
import { Editor, findBrowser } from '../../testbed/editor/editor.mts';
import { walkAsNewUser } from '../../testbed/editor/newUser.mts';
import { openTemplates } from '../../testbed/editor/templates.mts';
import { exampleWorkflows } from '../../testbed/n8n/examples.mts';
import type { Main, Owner } from '../../testbed/n8n/main.mts';
import type { EmbeddedPlatform } from '../../testbed/platform/server.mts';
import type { Checks } from './checks.mts';

/** What was on the screen when a step could not be done. */
const picture = join(checkout, '.cache', 'e2e', 'new-user.png');

export async function newUser(main: Main, owner: Owner, platform: EmbeddedPlatform, checks: Checks): Promise<void> {
	const browser = findBrowser();
	if (browser === undefined) {
		checks.skip('NOT TRIED: the new user in the editor. There is no Chromium here; install one, and it is found.');
		return;
	}
	const editor = await Editor.open(browser, main.url, owner);
	const look = async () => {};
	const tryStep = async (promise: string, work: () => Promise<void>) => {
		const isKept = await checks.check(promise, work);
		if (isKept) return true;
		await mkdir(dirname(picture), { recursive: true });
		await writeFile(picture, await editor.picture());
		console.log(`      What was on the screen: ${picture}`);
		return false;
	};
	let canGoOn = true;
	const step = async (promise: string, work: () => Promise<void>) => {
		if (canGoOn) canGoOn = await tryStep(promise, work);
	};
	try {
		await step('the first click after npm start lists devices, with the credential that n8n selected', async () => {
			await editor.newWorkflow();
			const node = await editor.addStep('Actions', 'Get many devices');
			assert.equal(await node.credential.inputValue(), 'Device Management (API key)');
			await node.execute();
			assert((await node.table()).length > 0);
			await node.close();
		});
		await walkAsNewUser(editor, platform, { step, look });
		const [, published = ''] = /\/workflow\/([^/?]+)/.exec(editor.page.url()) ?? [];
		if (canGoOn) await main.unpublish(published);
		else console.log('      What a new user does after that was not tried.');

		const each = async (promise: string, work: () => Promise<void>) => void (await tryStep(promise, work));
		await changeForms(editor, each);
		await openTemplates(editor, await exampleWorkflows(), { look, step: each });
	} finally {
		await editor.stop();
	}
}
