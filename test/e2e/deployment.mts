/** What `examples/queue-mode` promises beside an n8n that runs. On GitHub, another job builds the image and starts it. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { execa } from 'execa';
import { glob } from 'tinyglobby';

import { baseImage } from '../../testbed/n8n/deployment.mts';
import type { N8nHost } from '../../testbed/n8n/host.mts';
import type { QueueMode } from '../../testbed/n8n/queueMode.mts';
import type { Checks } from './checks.mts';

export async function deployment(n8n: QueueMode, host: N8nHost, checks: Checks): Promise<void> {
	const { main, worker, postgres } = n8n.compose.services;
	await checks.check('n8n has the tested version, reads each variable, and each process has all of them', async () => {
		assert.equal(await baseImage(), `docker.n8n.io/n8nio/n8n:${host.version}`);
		const known = await namesThatN8nReads(host);
		const unknown = Object.keys(main.environment).filter((name) => !known.includes(`'${name}'`));
		assert.deepEqual(unknown, []);
		assert.deepEqual(worker.environment, main.environment);
	});
	await checks.check('n8n passes its health check, and PostgreSQL gets the names that n8n uses', async () => {
		const command = main.healthcheck.test.replaceAll('5678', new URL(n8n.main.url).port);
		await execa('sh', ['-c', command], { env: { PATH: `${dirname(host.node)}:${process.env['PATH']}` } });
		for (const [name, same] of Object.entries({ DB: 'DATABASE', USER: 'USER', PASSWORD: 'PASSWORD' })) {
			assert.equal(postgres.environment[`POSTGRES_${name}`], main.environment[`DB_POSTGRESDB_${same}`]);
		}
	});
}

/** The text of n8n's settings, with each variable's name in single quotes. */
async function namesThatN8nReads(host: N8nHost): Promise<string> {
	const cwd = dirname(dirname(dirname(host.n8n)));
	const folders = ['@n8n/config/dist/**/*.js', 'n8n-core/dist/instance-settings/**/*.js'];
	const files = await glob(folders, { cwd, absolute: true });
	return (await Promise.all(files.map(async (file) => await readFile(file, 'utf8')))).join('\n');
}
