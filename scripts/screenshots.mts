/**
 * `npm run screenshots`: takes the pictures of the docs in a real n8n with the packed package, along the steps of a new user, and of
 * every example workflow. Replaces all `.png` files in `docs/pictures/`.
 */
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import sharp from 'sharp';

import { checkout } from '../testbed/checkout.mts';
import { findBrowser } from '../testbed/editor/browser.mts';
import { Editor } from '../testbed/editor/editor.mts';
import { walkAsNewUser, type Witness } from '../testbed/editor/newUser.mts';
import { openTemplates } from '../testbed/editor/templates.mts';
import { exampleCredentials, exampleFleet, exampleWorkflows, startTenants } from '../testbed/n8n/examples.mts';
import { provideN8n } from '../testbed/n8n/host.mts';
import { N8nInstance } from '../testbed/n8n/instance.mts';
import { Services } from '../testbed/n8n/services.mts';
import { startPlatform } from '../testbed/platform/server.mts';
import { aborted, stopSignal } from '../testbed/stopSignal.mts';
import { removing } from '../testbed/removing.mts';

const folder = join(checkout, 'docs', 'pictures');
/** Some pictures show the address of the platform. */
const platformPort = 4070;

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
	const n8n = await services.add(async () => new N8nInstance(await provideN8n(console.log), temporary));
	const platform = await services.add(() =>
		startPlatform({ fleet: exampleFleet, port: platformPort, apiKey: randomUUID(), password: randomUUID() }),
	);
	await n8n.installPackage();
	const main = await n8n.startMain();
	const owner = { email: 'owner@example.com', firstName: 'Device', lastName: 'Owner', password: `${randomUUID()}A1` };
	await main.setUpOwner(owner);
	await mkdir(folder, { recursive: true });
	// Another command draws the charts in this folder.
	const taken = (await readdir(folder)).filter((file) => file.endsWith('.png'));
	await Promise.all(taken.map(async (file) => await rm(join(folder, file))));

	const editor = await services.add(async () => {
		const opened = await Editor.open(browser, main.url, owner);
		return Object.assign(opened, { stop: async () => await opened.close() });
	});
	const look: Witness['look'] = async (name, again) => {
		await editor.setTheme('light');
		await keep(`${name}-light.png`, await editor.picture());
		await editor.setTheme('dark');
		await again?.();
		await keep(`${name}-dark.png`, await editor.picture());
	};
	const witness: Witness = {
		async step(promise, work) {
			await work();
			console.log(`✔ ${promise}`);
		},
		look,
	};
	await walkAsNewUser(editor, platform, witness);

	const tenants = await startTenants();
	for (const tenant of tenants.values()) await services.add(() => tenant);
	await n8n.importCredentials(exampleCredentials(platform, tenants, randomUUID()));
	const examples = await exampleWorkflows();
	await n8n.importWorkflows([...examples.values()]);
	await openTemplates(editor, examples, witness);

	const files = (await readdir(folder)).filter((file) => file.endsWith('.png'));
	const sizes = await Promise.all(files.map(async (file) => (await stat(join(folder, file))).size));
	console.log(
		`\n${files.length} pictures, ${Math.round(sizes.reduce((sum, size) => sum + size, 0) / 1024)} kB, in docs/pictures`,
	);
}

/** A user interface has few colors: a palette keeps pictures small and text sharp. */
async function keep(file: string, picture: Buffer): Promise<void> {
	await sharp(picture)
		.png({ palette: true, colours: 128, dither: 0, effort: 10, compressionLevel: 9 })
		.toFile(join(folder, file));
}
