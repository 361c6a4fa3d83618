/** `-- --pictures`: takes the pictures of the docs along the steps of the run. Replaces those `.png` files in `docs/pictures/` that a page shows. */
import assert from 'node:assert/strict';
import { execa } from 'execa';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { glob } from 'tinyglobby';

import { checkout } from '../../testbed/checkout.mts';
import type { Editor } from '../../testbed/editor/editor.mts';
import type { Frame } from '../../testbed/editor/frame.mts';
import { exampleFleet, exampleWorkflows, isNote } from '../../testbed/n8n/examples.mts';
import type { Mail } from '../../testbed/n8n/mailServer.mts';
import { ownFileOf, pages, targetsOf } from '../../testbed/pages.mts';
import { type EmbeddedPlatform, startPlatform } from '../../testbed/platform/server.mts';
import { EXAMPLE_ADDRESS } from './pages.mts';
import { mailPage, terminalPage } from './picturePages.mts';

const folder = join(checkout, 'docs', 'pictures');

/** Pixels of a picture for each pixel of the page: the pages show pictures smaller than they are. */
export const SCALE = 1.5;

/**
 * The screen shows something for a picture.
 * @param again shows it again, if n8n doesn't follow a change of the theme
 */
export type Look = (name: string, frame: Frame, again?: () => Promise<unknown>) => Promise<void>;

/**
 * Removes all pictures, and returns what takes one in both themes. Another command draws the charts in their folder. In fields, a
 * picture shows the address of the docs instead of the embedded platform's.
 */
export async function pictureTaker(editor: Editor, { baseUrl }: EmbeddedPlatform): Promise<Look> {
	for (const picture of await glob('*.png', { cwd: folder, absolute: true })) await rm(picture);
	return async (name, frame, again) =>
		await inBothThemes(editor.page, name, async (colorScheme) => {
			if (colorScheme === 'dark') await again?.();
			await editor.page.locator('input').evaluateAll(
				(inputs: HTMLInputElement[], [from, to]) => {
					for (const input of inputs) if (input.value === from) input.value = to;
				},
				[baseUrl, EXAMPLE_ADDRESS] as const,
			);
			return await editor.picture(frame);
		});
}

/** Takes the pictures that no step of the run shows: examples, the dialog that installs the package, two commands and two mails. */
export async function takeOtherPictures(editor: Editor, look: Look, mails: readonly Mail[]): Promise<void> {
	const { page } = editor;
	const fillIn = async () => {
		await page.goto('/settings/community-nodes');
		await page
			.getByRole('button', { name: /^Install/ })
			.first()
			.click();
		const dialog = page.locator('.el-dialog:visible');
		await dialog.getByRole('textbox').fill('n8n-nodes-device-management');
		await dialog.getByText('I understand the risks').click();
	};
	await fillIn();
	await look('install', 'dialog', fillIn);
	await showTemplates(editor, look);

	const own = await page.context().newPage();
	const keepPage = async (name: string, html: string) => {
		await own.setContent(html);
		await inBothThemes(own, name, async () => await own.locator('body').screenshot());
	};
	await keepPage('demo', terminalPage('npm run demo', await demo()));
	const flags = `--base-url ${EXAMPLE_ADDRESS} --api-key`;
	await keepPage('check-platform', terminalPage(`npm run check-platform -- ${flags}`, await checkPlatform()));
	for (const [name, subject] of [
		['report', /^Offline devices: 4/],
		['alert', /15 minutes/],
	] as const) {
		const mail = mails.find((its) => subject.test(its.subject ?? ''));
		assert(mail, `no mail for the picture ${name}`);
		await keepPage(name, mailPage(mail));
	}
}

/** The examples that pages show, on the canvas. */
async function showTemplates(editor: Editor, look: Look): Promise<void> {
	for (const [name, { id, nodes }] of await exampleWorkflows()) {
		const picture = `template-${name}`;
		if (!isShown(picture)) continue;
		const names = nodes.filter((node) => !isNote(node)).map((node) => node.name);
		await editor.openWorkflow(id, names);
		await look(picture, 'workflow');
	}
}

async function demo(): Promise<string> {
	const [shown = ''] = (await run('demo.mts')).split('\nNext:\n');
	// A terminal replaces the line of a running step by the line of the finished step.
	return shown.replace(/^❯.*\n/gm, '').trimEnd();
}

async function checkPlatform(): Promise<string> {
	const platform = await startPlatform({ fleet: exampleFleet });
	try {
		const env = { DEVICE_MANAGEMENT_API_KEY: platform.apiKey };
		const output = await run('checkPlatform.mts', ['--base-url', platform.baseUrl, '--api-key'], env);
		return output.replaceAll(platform.baseUrl, EXAMPLE_ADDRESS).trimEnd();
	} finally {
		await platform.stop();
	}
}

async function run(script: string, flags: readonly string[] = [], env = {}): Promise<string> {
	const args = ['--import', 'tsx', join(checkout, 'scripts', script), ...flags];
	return (await execa(process.execPath, args, { cwd: checkout, env })).stdout;
}

/** Whether a page shows a picture. */
function isShown(name: string): boolean {
	const shown = pages.flatMap((page) => targetsOf(page).map((target) => ownFileOf(page, target)));
	return shown.includes(`docs/pictures/${name}-light.png`);
}

/** A user interface has few colors: a palette keeps pictures small and text sharp. */
async function inBothThemes(
	page: Page,
	name: string,
	take: (colorScheme: 'light' | 'dark') => Promise<Buffer>,
): Promise<void> {
	if (!isShown(name)) return;
	for (const colorScheme of ['light', 'dark'] as const) {
		await page.emulateMedia({ colorScheme });
		await sharp(await take(colorScheme))
			.png({ palette: true, colours: 128, dither: 0, effort: 10, compressionLevel: 9 })
			.toFile(join(folder, `${name}-${colorScheme}.png`));
	}
}
