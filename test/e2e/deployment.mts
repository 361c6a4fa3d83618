/** What `examples/queue-mode` promises beside an n8n that runs. On GitHub, another job builds the image and starts it. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { glob } from 'tinyglobby';

import { baseImage } from '../../testbed/n8n/deployment.mts';
import type { N8nHost } from '../../testbed/n8n/host.mts';
import type { QueueMode } from '../../testbed/n8n/queueMode.mts';
import type { Checks } from './checks.mts';

export async function deployment({ compose }: QueueMode, host: N8nHost, checks: Checks): Promise<void> {
	const { main, worker } = compose.services;
	await checks.check('n8n has the tested version, reads each variable, and each process has all of them', async () => {
		assert.equal(await baseImage(), `docker.n8n.io/n8nio/n8n:${host.version}`);
		const known = await namesThatN8nReads(host);
		const unknown = Object.keys(main.environment).filter((name) => !known.includes(`'${name}'`));
		assert.deepEqual(unknown, []);
		assert.deepEqual(worker.environment, main.environment);
	});
}

/** The text of n8n's settings, with each variable's name in single quotes. */
async function namesThatN8nReads(host: N8nHost): Promise<string> {
	const cwd = dirname(dirname(dirname(host.n8n)));
	const folders = ['@n8n/config/dist/**/*.js', 'n8n-core/dist/instance-settings/**/*.js'];
	const files = await glob(folders, { cwd, absolute: true });
	return (await Promise.all(files.map(async (file) => await readFile(file, 'utf8')))).join('\n');
}
