/** What `examples/queue-mode` promises beside an n8n that runs: names that n8n knows, fixed versions, health checks. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile, readdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { execa } from 'execa';

import { baseImage } from '../../testbed/n8n/deployment.mts';
import type { N8nHost } from '../../testbed/n8n/host.mts';
import type { QueueMode } from '../../testbed/n8n/queueMode.mts';
import type { Checks } from './checks.mts';

export async function deployment(n8n: QueueMode, host: N8nHost, checks: Checks): Promise<void> {
	const { main, worker, postgres } = n8n.compose.services;
	const known = await namesThatN8nReads(host);
	checks.check('n8n reads each variable, and each process has all of them', () => {
		const unknown = Object.keys(main.environment).filter((name) => !known.includes(`'${name}'`));
		assert.deepEqual(unknown, []);
		assert.deepEqual(worker.environment, main.environment);
	});
	const base = await baseImage();
	checks.check('n8n has the tested version', () => assert.equal(base, `docker.n8n.io/n8nio/n8n:${host.version}`));
	checks.check(
		'n8n finds PostgreSQL and Redis by their names, signs in as the user of PostgreSQL, and has the address of .env',
		() => {
			const { environment } = main;
			assert.deepEqual(
				['DB_POSTGRESDB_HOST', 'QUEUE_BULL_REDIS_HOST', 'N8N_WEBHOOK_URL'].map((name) => environment[name]),
				['postgres', 'redis', 'http://localhost:5678/'],
			);
			assert.deepEqual(postgres.environment, {
				POSTGRES_DB: environment['DB_POSTGRESDB_DATABASE'],
				POSTGRES_USER: environment['DB_POSTGRESDB_USER'],
				POSTGRES_PASSWORD: environment['DB_POSTGRESDB_PASSWORD'],
			});
		},
	);
	await checks.step('main and each worker pass their health check, and an n8n that is not ready does not', async () => {
		const passes = async (command: string, port: string | number) => {
			const env = { PATH: `${dirname(host.node)}:${process.env['PATH']}` };
			const onPort = command.replaceAll('5678', String(port));
			assert.notEqual(onPort, command);
			return !(await execa('sh', ['-c', onPort], { env, reject: false })).failed;
		};
		assert(await passes(main.healthcheck.test, new URL(n8n.main.url).port), 'main');
		for (const { healthPort } of n8n.workers) assert(await passes(worker.healthcheck.test, healthPort), 'a worker');
		const refusing = createServer((_request, response) => void response.writeHead(503).end()).listen(0, '127.0.0.1');
		await once(refusing, 'listening');
		const address = refusing.address();
		assert(address !== null && typeof address === 'object');
		const hasPassed = await passes(main.healthcheck.test, address.port);
		refusing.close();
		assert(!hasPassed, 'HTTP 503');
	});
}

/** The text of n8n's settings, with each variable's name in single quotes. */
async function namesThatN8nReads(host: N8nHost): Promise<string> {
	const modules = dirname(dirname(dirname(host.n8n)));
	const folders = ['@n8n/config/dist', 'n8n-core/dist/instance-settings'].map((name) => join(modules, name));
	const texts = folders.map(async (folder) => {
		const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.js'));
		return (await Promise.all(files.map(async (file) => await readFile(join(folder, file), 'utf8')))).join('\n');
	});
	return (await Promise.all(texts)).join('\n');
}
