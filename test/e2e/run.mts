/**
 * The packed package in a real n8n, headless, against the embedded platform: `npm run test:e2e`.
 * Slow and large (the first run fetches n8n), so apart from `npm test`. Ends with a line `N passed, N failed`.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkout } from '../../scripts/checkout.mts';
import { exampleCredentials, exampleFleet, exampleWorkflows } from '../../scripts/examples.mts';
import { provideN8n } from '../../scripts/n8n-host.mts';
import { N8nInstance, type NodeResults } from '../../scripts/n8n-instance.mts';
import { type Device, startPlatform } from '../platform/server.mts';
import { findBrowser, lookAtNode } from './editor.mts';
import { signInWorkflow, wrongKeyWorkflow } from './workflows.mts';

let passed = 0;
let failed = 0;

const host = await provideN8n(progress('Fetching n8n (once, some minutes and 3 GB)'));
// The largest page is small, so that every list takes several.
const platform = await startPlatform({ fleet: exampleFleet, largestSize: 300 });
const folder = await mkdtemp(join(tmpdir(), 'n8n-e2e-'));
const n8n = new N8nInstance(host, folder);
// Ends what n8n is doing; the step under way then fails, and everything is cleared away as usual.
process.once('SIGINT', () => void n8n.stop());
try {
	const devices = [...platform.fleet.devices];
	const wanted = devices.filter(({ status }) => status === 2).sort((a, b) => (a.sn < b.sn ? -1 : 1));
	const chosen = devices[417];
	assert(chosen);
	const credentials = exampleCredentials(platform);
	const wrongKey = `${platform.apiKey}-wrong`;

	console.log('Setting up: the packed package, credentials and workflows in a new n8n');
	await n8n.installPackage();
	await n8n.importCredentials([
		...credentials,
		...credentials
			.filter(({ id }) => id === 'deviceManagementKey')
			.map((credential) => ({ ...credential, id: 'wrongKey', data: { ...credential.data, apiKey: wrongKey } })),
	]);
	await n8n.importWorkflows([
		...(await exampleWorkflows()),
		...credentials.map(({ id }, position) => signInWorkflow(`e2eSignIn${position}`, id, platform.baseUrl, chosen.sn)),
		wrongKeyWorkflow('e2eWrongKey', 'wrongKey'),
	]);

	for (const [position, { id, name }] of credentials.entries()) {
		console.log(`\n${name}`);
		platform.forget();
		const results = await n8n.execute(`e2eSignIn${position}`);
		check('lists every device that meets the filter, over several pages, in order and untouched', () => {
			assert.deepEqual(itemsOf(results, 'Get Many'), wanted);
			assert(platform.requestsOf('list').length > 1);
		});
		check('reads one device by its serial number', () => {
			assert.deepEqual(itemsOf(results, 'Get'), [chosen]);
		});
		check('counts devices', () => {
			assert.deepEqual(itemsOf(results, 'Count'), [{ count: wanted.length }]);
		});
		check("n8n's own HTTP Request node reads the same device with the same credential", () => {
			const [answer] = itemsOf(results, 'HTTP Request');
			assert.equal(answer?.['code'], 0);
			assert.deepEqual(answer['data'], chosen);
		});
		check("n8n's own HTTP Request node posts a list request with the same credential", () => {
			const [answer] = itemsOf(results, 'HTTP Request, list');
			assert.equal(answer?.['code'], 0);
		});
		if (id === 'deviceManagementLogin') {
			check('logs in once for all of it', () => assert.equal(platform.logins.attempted, 1));
		}
	}

	console.log('\nExamples');
	platform.forget();
	const listed = await n8n.execute('exampleListDevices');
	check('list-devices.json lists the devices it promises, newest first', () => {
		const inHamburg = devices.filter(({ status, attributes }) => status === 2 && attributes['site'] === 'Hamburg');
		assert(inHamburg.length > 1);
		assert.deepEqual(
			itemsOf(listed, 'Get many devices').map((item) => item['sn']),
			inHamburg.sort(newestThenSerialNumber).map(({ sn }) => sn),
		);
	});
	const read = await n8n.execute('exampleReadDevice');
	check('read-device.json reads its device', () => {
		const [device] = itemsOf(read, 'Get a device');
		assert.deepEqual(device, devices.find(({ sn }) => sn === device?.['sn']));
	});
	check('a later execution uses the token that n8n saved with the credential', () => {
		assert.equal(platform.logins.attempted, 0);
	});

	console.log('\nA wrong API key');
	const refused = (await n8n.execute('e2eWrongKey'))['Get Many'];
	check('stops the node with a message that does not tell the key', () => {
		assert(refused?.error);
		assert(!JSON.stringify(refused).includes(wrongKey));
	});

	console.log('\nThe editor');
	const browser = findBrowser();
	if (browser === undefined) {
		console.log('  not looked at: there is no Chromium on this machine');
	} else {
		const owner = { email: 'owner@example.com', firstName: 'Device', lastName: 'Owner', password: `${randomUUID()}A1` };
		const editor = await n8n.startEditor(0);
		await n8n.setUpOwner(editor, owner);
		const picture = join(checkout, '.cache', 'e2e', 'node.png');
		const panel = await lookAtNode({
			...owner,
			browser,
			picture,
			url: editor.url,
			workflow: 'exampleListDevices',
			node: 'Get many devices',
		});
		check('shows the fields of the node, and its devices once the step was run', () => {
			for (const label of ['Resource', 'Operation', 'Return All', 'Filters', 'Options', 'Sort']) {
				assert(panel.text.includes(label), `no field ${label}`);
			}
			assert(panel.rows > 1);
		});
		console.log(`  picture: ${picture}`);
	}
} catch (error) {
	failed++;
	console.error(error instanceof Error ? (error.stack ?? error.message) : error);
} finally {
	await n8n.stop();
	await platform.stop();
	await rm(folder, { recursive: true, force: true });
}
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;

function check(promise: string, attempt: () => void): void {
	try {
		attempt();
		passed++;
		console.log(`  ✔ ${promise}`);
	} catch (error) {
		failed++;
		const reason = error instanceof Error ? error.message : String(error);
		console.log(`  ✖ ${promise}\n${reason.split('\n').slice(0, 30).join('\n').replace(/^/gm, '      ')}`);
	}
}

function itemsOf(results: NodeResults, node: string): Record<string, unknown>[] {
	const result = results[node];
	const blamed = Object.entries(results).find(([, { error }]) => error !== undefined);
	assert(result?.error === undefined && result !== undefined, blamed ? `${blamed[0]}: ${blamed[1].error}` : `${node} did not run`);
	return result.items;
}

function newestThenSerialNumber(a: Device, b: Device): number {
	if (a.createTime !== b.createTime) return a.createTime < b.createTime ? 1 : -1;
	return a.sn < b.sn ? -1 : 1;
}

/** Says something at the start and then a line now and then. */
function progress(title: string): (words: string) => void {
	let last = 0;
	return (words) => {
		if (Date.now() - last < 15_000) return;
		last = Date.now();
		console.log(`${title}: ${words}`);
	};
}
