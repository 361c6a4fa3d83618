/** A person who has just installed the package, in the editor. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { checkout } from '../../testbed/checkout.mts';
import { findBrowser } from '../../testbed/editor/browser.mts';
import { Editor } from '../../testbed/editor/editor.mts';
import { walkAsNewUser } from '../../testbed/editor/newUser.mts';
import type { Main, Owner } from '../../testbed/n8n/main.mts';
import type { EmbeddedPlatform } from '../../testbed/platform/server.mts';
import type { Checks } from './checks.mts';

/** What was on the screen when a step could not be done. */
const picture = join(checkout, '.cache', 'e2e', 'new-user.png');

export async function newUser(main: Main, owner: Owner, platform: EmbeddedPlatform, checks: Checks): Promise<void> {
	const browser = findBrowser();
	if (browser === undefined) {
		checks.leaveOut('NOT TRIED: the new user in the editor. There is no Chromium on this machine; install one, and it is found.');
		return;
	}
	const editor = await Editor.open(browser, main.url, owner);
	let canGoOn = true;
	try {
		await walkAsNewUser(editor, platform, {
			async step(promise, work) {
				if (!canGoOn) return;
				canGoOn = await checks.step(promise, work);
				if (canGoOn) return;
				await mkdir(dirname(picture), { recursive: true });
				await writeFile(picture, await editor.picture('light'));
				console.log(`      What was on the screen: ${picture}\n      The steps after this one were not tried.`);
			},
			async look() {},
		});
		if (canGoOn) await main.unpublish(editor.workflowId);
	} finally {
		await editor.close();
	}
}
