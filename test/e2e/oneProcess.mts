/** The packed package in a real n8n as most people run it: one process, SQLite. */
import assert from 'node:assert/strict';
import { execa } from 'execa';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';

import { checkout } from '../../testbed/checkout.mts';
import {
	exampleCredentials,
	exampleFleet,
	exampleWorkflows,
	signInCredentials,
	startTenants,
	type TenantPlatforms,
} from '../../testbed/n8n/examples.mts';
import type { N8nInstance } from '../../testbed/n8n/instance.mts';
import type { NodeResults } from '../../testbed/n8n/results.mts';
import { type EmbeddedPlatform, startPlatform } from '../../testbed/platform/server.mts';
import type { Checks } from './checks.mts';
import { examples } from './examples.mts';
import { newUser } from './newUser.mts';
import { shownWorkflows } from './pages.mts';
import { watchDevices } from './trigger.mts';
import { signInWorkflow, wrongKeyWorkflow } from './workflows.mts';

/** @param n8n a new one, without the package */
export async function oneProcess(n8n: N8nInstance, checks: Checks): Promise<void> {
	// The largest page is small, so that every list takes several.
	const platform = await startPlatform({ fleet: exampleFleet, largestSize: 300 });
	const tenants = await startTenants();
	try {
		await runOn(platform, tenants, n8n, checks);
	} finally {
		await Promise.all([platform, ...tenants.values()].map(async (each) => await each.stop()));
	}
}

async function runOn(
	platform: EmbeddedPlatform,
	tenants: TenantPlatforms,
	n8n: N8nInstance,
	checks: Checks,
): Promise<void> {
	const devices = [...platform.fleet.devices];
	const wanted = devices.filter(({ status }) => status === 2).sort((a, b) => (a.sn < b.sn ? -1 : 1));
	const chosen = devices[417];
	assert(chosen);
	const credentials = signInCredentials(platform);
	const wrongKey = `${platform.apiKey}-wrong`;
	const toolsToken = randomUUID();

	await checks.prepare('Setting up: the packed package, credentials and workflows in a new n8n', async () => {
		await n8n.installPackage();
		await n8n.importCredentials([
			...credentials
				.filter(({ id }) => id === 'deviceManagementKey')
				.map((credential) => ({ ...credential, id: 'wrongKey', data: { ...credential.data, apiKey: wrongKey } })),
			...exampleCredentials(platform, tenants, toolsToken),
		]);
		await n8n.importWorkflows([
			...(await exampleWorkflows()).values(),
			...credentials.map(({ id }, position) => signInWorkflow(`e2eSignIn${position}`, id, platform.baseUrl, chosen.sn)),
			wrongKeyWorkflow('e2eWrongKey', 'wrongKey'),
		]);
	});

	for (const [position, { id, name }] of credentials.entries()) {
		await checks.part(name, async () => {
			platform.forget();
			const results = await n8n.execute(`e2eSignIn${position}`);
			checks.check('lists every device that meets the filter, over several pages, in order and untouched', () => {
				assert.deepEqual(itemsOf(results, 'Get Many'), wanted);
				assert(platform.requestsOf('list').length > 1);
			});
			checks.check('reads one device by its serial number', () => {
				assert.deepEqual(itemsOf(results, 'Get'), [chosen]);
			});
			checks.check('counts devices', () => {
				assert.deepEqual(itemsOf(results, 'Count'), [{ count: wanted.length }]);
			});
			checks.check("n8n's own HTTP Request node reads the same device with the same credential", () => {
				const [answer] = itemsOf(results, 'HTTP Request');
				assert.equal(answer?.['code'], 0);
				assert.deepEqual(answer['data'], chosen);
			});
			checks.check("n8n's own HTTP Request node posts a list request with the same credential", () => {
				const [answer] = itemsOf(results, 'HTTP Request, list');
				assert.equal(answer?.['code'], 0);
			});
			if (id === 'deviceManagementLogin') {
				checks.check('logs in once for all of it', () => assert.equal(platform.logins.attempted, 1));
			}
		});
	}

	await checks.part('A wrong API key', async () => {
		const refused = (await n8n.execute('e2eWrongKey'))['Get Many'];
		checks.check('stops the node with a message that does not tell the key', () => {
			assert(refused?.error);
			assert(!JSON.stringify(refused).includes(wrongKey));
		});
	});

	await checks.part('Many requests', async () => {
		const script = fileURLToPath(new URL('manyRequests.mts', import.meta.url));
		const { stdout } = await execa(n8n.node, ['--expose-gc', '--import', 'tsx', script], { cwd: checkout });
		checks.check("leave nothing behind in n8n's Node.js", () =>
			assert(Number(stdout) < 300, `each left ${stdout} bytes behind`),
		);
	});

	const owner = { email: 'owner@example.com', firstName: 'Device', lastName: 'Owner', password: `${randomUUID()}A1` };
	const main = await checks.prepare('\nStarting n8n', async () => {
		const started = await n8n.startMain();
		await started.setUpOwner(owner);
		await started.signIn(owner);
		return started;
	});
	await examples({ n8n, main, platform, tenants, toolsToken, checks });

	await checks.part('A new user in the editor', async () => await newUser(main, owner, platform, checks));

	await checks.part(
		'Workflows on pages',
		async () => await shownWorkflows(main, platform, 'deviceManagementKey', checks),
	);

	await checks.part('The trigger', async () => await watchDevices(n8n, main, owner, platform, checks));
}

function itemsOf(results: NodeResults, node: string): Record<string, unknown>[] {
	const result = results[node];
	const blamed = Object.entries(results).find(([, { error }]) => error !== undefined);
	assert(
		result?.error === undefined && result !== undefined,
		blamed ? `${blamed[0]}: ${blamed[1].error}` : `${node} did not run`,
	);
	return result.items;
}
