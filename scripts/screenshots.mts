/**
 * `npm run screenshots`: takes the pictures of the docs in a real n8n with the packed package, along the steps of a new user, and of the
 * example workflows that pages show. Replaces all `.png` files in `docs/pictures/`.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import sharp from 'sharp';
import { glob } from 'tinyglobby';

import { checkout } from '../testbed/checkout.mts';
import { Editor, findBrowser } from '../testbed/editor/editor.mts';
import { walkAsNewUser, type Witness } from '../testbed/editor/newUser.mts';
import { openTemplates } from '../testbed/editor/templates.mts';
import { exampleCredentials, exampleFleet, exampleWorkflows, startTenants } from '../testbed/n8n/examples.mts';
import { provideN8n } from '../testbed/n8n/host.mts';
import { N8nInstance } from '../testbed/n8n/instance.mts';
import { newOwner } from '../testbed/n8n/main.mts';
import { Services } from '../testbed/n8n/services.mts';
import { startPlatform } from '../testbed/platform/server.mts';
import { aborted, stopSignal } from '../testbed/stopSignal.mts';
import { removing } from '../testbed/removing.mts';
import { ADDRESS, serveAtAddress } from './screenshots/address.mts';
import { checkPlatform, demo } from './screenshots/commands.mts';
import { errorOutputWorkflow } from './screenshots/errorOutput.mts';
import { alert, report } from './screenshots/mails.mts';

const folder = join(checkout, 'docs', 'pictures');
/** Pixels of a picture for each pixel of the page: the pages show pictures smaller than they are. */
const SCALE = 1.5;

const isStopping = stopSignal();
const services = new Services();
const temporary = await mkdtemp(join(tmpdir(), 'n8n-screenshots-'));
try {
	await Promise.race([takePictures(), aborted(isStopping)]);
} catch (error) {
	console.error(error);
	process.exitCode = 1;
} finally {
	await services.stop();
	await rm(temporary, removing);
}
process.exit(isStopping.aborted ? 1 : process.exitCode);

async function takePictures(): Promise<void> {
	const browser = findBrowser();
	if (browser === undefined) throw new Error('This machine has no Chromium. Install it and run the command again.');
	const platform = await services.add(() =>
		startPlatform({ fleet: exampleFleet, tls: true, apiKey: randomUUID(), password: randomUUID() }),
	);
	const { environment } = await services.add(async () => await serveAtAddress(platform));
	const { fleet, apiKey, loginName, password } = platform;
	const access = { baseUrl: ADDRESS, fleet, apiKey, loginName, password };
	const host = await provideN8n(console.log);
	const n8n = await services.add((settings) => new N8nInstance(host, temporary, settings));
	await n8n.installPackage();
	const owner = newOwner();
	const main = await n8n.startSignedIn(owner);
	const editor = await services.add(async () => await Editor.open(browser, main.url, owner, SCALE));
	// The drawings in this folder are made by hand.
	for (const picture of await glob('*.png', { cwd: folder, absolute: true })) await rm(picture);
	const witness = witnessOf(editor);
	await walkAsNewUser(editor, access, witness);

	const tenants = await startTenants();
	for (const tenant of tenants.values()) await services.add(() => tenant);
	await n8n.importCredentials(exampleCredentials(access, tenants, randomUUID()));
	const examples = await exampleWorkflows();
	const errorOutput = errorOutputWorkflow([fleet.at(4).sn, fleet.at(7).sn, 'RT00000000']);
	await n8n.importWorkflows([...examples.values(), errorOutput]);
	await openTemplates(editor, examples, witness);
	await showInstallDialog(editor, witness);
	await showErrorOutput(editor, errorOutput, witness);

	await keepPage(editor, 'demo', await demo());
	await keepPage(editor, 'check-platform', await checkPlatform(apiKey, environment));
	await keepPage(editor, 'report', await report(n8n, main, fleet));
	await keepPage(editor, 'alert', await alert(n8n, main, fleet));
}

/** Says each step, and takes each picture in both themes. */
function witnessOf(editor: Editor): Witness {
	return {
		async step(promise, work) {
			await work();
			console.log(`✔ ${promise}`);
		},
		async look(name, frame, again) {
			await editor.page.emulateMedia({ colorScheme: 'light' });
			await keep(`${name}-light.png`, await editor.picture(frame));
			await editor.page.emulateMedia({ colorScheme: 'dark' });
			await again?.();
			await keep(`${name}-dark.png`, await editor.picture(frame));
		},
	};
}

async function showInstallDialog({ page, url }: Editor, { step, look }: Witness): Promise<void> {
	const fill = async () => {
		await page.goto(`${url}/settings/community-nodes`);
		const install = page.getByRole('button', { name: /^Install/ });
		await install.first().click();
		const dialog = page.locator('.el-dialog:visible');
		await dialog.getByRole('textbox').fill('n8n-nodes-device-management');
		await dialog.getByText('I understand the risks').click();
	};
	await step('fills in the dialog that installs the package', async () => {
		await fill();
		await look('install', 'dialog', fill);
	});
}

async function showErrorOutput(
	editor: Editor,
	{ id, nodes }: ReturnType<typeof errorOutputWorkflow>,
	{ step, look }: Witness,
): Promise<void> {
	const names = nodes.map(({ name }) => name);
	await step('a device that does not exist goes to the error output', async () => {
		await editor.openWorkflow(id, names);
		await editor.executeWorkflow(names);
		await look('error-output', 'workflow');
	});
}

/** Takes pictures of an HTML page in both themes; its body is as large as its contents. */
async function keepPage(editor: Editor, name: string, html: string): Promise<void> {
	const page = await editor.page.context().newPage();
	await page.setContent(html);
	for (const colorScheme of ['light', 'dark'] as const) {
		await page.emulateMedia({ colorScheme });
		await keep(`${name}-${colorScheme}.png`, await page.locator('body').screenshot());
	}
	await page.close();
	console.log(`✔ ${name}`);
}

/** A user interface has few colors: a palette keeps pictures small and text sharp. */
async function keep(file: string, picture: Buffer): Promise<void> {
	await sharp(picture)
		.png({ palette: true, colours: 128, dither: 0, effort: 10, compressionLevel: 9 })
		.toFile(join(folder, file));
}
