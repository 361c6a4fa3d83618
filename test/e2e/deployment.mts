/** What `examples/queue-mode` promises beside an n8n that runs: names that n8n knows, fixed versions, health checks. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { execa } from 'execa';
import fastify from 'fastify';
import { glob } from 'tinyglobby';

import { baseImage } from '../../testbed/n8n/deployment.mts';
import type { N8nHost } from '../../testbed/n8n/host.mts';
import type { QueueMode } from '../../testbed/n8n/queueMode.mts';
import type { Checks } from './checks.mts';

export async function deployment(n8n: QueueMode, host: N8nHost, checks: Checks): Promise<void> {
	const { main, worker, postgres } = n8n.compose.services;
	const { environment } = main;
	await checks.check('n8n reads each variable, and each process has all of them', async () => {
		const known = await namesThatN8nReads(host);
		const unknown = Object.keys(environment).filter((name) => !known.includes(`'${name}'`));
		assert.deepEqual(unknown, []);
		assert.deepEqual(worker.environment, environment);
	});
	await checks.check('n8n has the tested version', async () => {
		assert.equal(await baseImage(), `docker.n8n.io/n8nio/n8n:${host.version}`);
	});
	await checks.check(
		'n8n finds PostgreSQL and Redis by their names, signs in as the user of PostgreSQL, and has the address of .env',
		() => {
			assert.equal(environment['DB_POSTGRESDB_HOST'], 'postgres');
			assert.equal(environment['QUEUE_BULL_REDIS_HOST'], 'redis');
			assert.equal(environment['N8N_WEBHOOK_URL'], 'http://localhost:5678/');
			assert.deepEqual(postgres.environment, {
				POSTGRES_DB: environment['DB_POSTGRESDB_DATABASE'],
				POSTGRES_USER: environment['DB_POSTGRESDB_USER'],
				POSTGRES_PASSWORD: environment['DB_POSTGRESDB_PASSWORD'],
			});
		},
	);
	await checks.check(
		'main and each worker pass their health check, and an n8n that is not ready does not',
		async () => {
			const passes = async (command: string, port: string | number) => {
				const env = { PATH: `${dirname(host.node)}:${process.env['PATH']}` };
				const onPort = command.replaceAll('5678', String(port));
				assert.notEqual(onPort, command);
				return !(await execa('sh', ['-c', onPort], { env, reject: false })).failed;
			};
			assert(await passes(main.healthcheck.test, new URL(n8n.main.url).port), 'main');
			for (const { healthPort } of n8n.workers) assert(await passes(worker.healthcheck.test, healthPort), 'a worker');
			const refusing = fastify({ forceCloseConnections: true });
			refusing.all('*', async (_request, reply) => await reply.code(503).send());
			const { port } = new URL(await refusing.listen({ host: '127.0.0.1', port: 0 }));
			const hasPassed = await passes(main.healthcheck.test, port);
			await refusing.close();
			assert(!hasPassed, 'HTTP 503');
		},
	);
}

/** The text of n8n's settings, with each variable's name in single quotes. */
async function namesThatN8nReads(host: N8nHost): Promise<string> {
	const cwd = dirname(dirname(dirname(host.n8n)));
	const folders = ['@n8n/config/dist/**/*.js', 'n8n-core/dist/instance-settings/**/*.js'];
	const files = await glob(folders, { cwd, absolute: true });
	return (await Promise.all(files.map(async (file) => await readFile(file, 'utf8')))).join('\n');
}
