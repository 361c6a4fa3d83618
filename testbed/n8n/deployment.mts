/** The files of `examples/queue-mode`, so that tests run n8n as these files do, without Docker. It starts nothing itself. */
import { execa } from 'execa';
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod/v4';

import { checkout } from '../checkout.mts';
import { keptEnvironment } from '../processes.mts';
import { removing } from '../removing.mts';

/** n8n's own data is in PostgreSQL, so its processes have no volumes. */
const processSchema = z.object({
	restart: z.literal('unless-stopped'),
	stop_grace_period: z.templateLiteral([z.int().min(31), 's']),
	environment: z.record(z.string(), z.string()),
	volumes: z.never().optional(),
});
/** Its data survives the container. */
const storeSchema = z.object({ restart: z.literal('unless-stopped'), volumes: z.tuple([z.string()]) });
/** What the job that builds and starts the image on GitHub would not notice. */
const composeSchema = z.object({
	services: z.object({
		main: processSchema,
		worker: processSchema.extend({ deploy: z.object({ replicas: z.int().min(2) }) }),
		postgres: storeSchema,
		redis: storeSchema.extend({ command: z.string().includes('--appendonly yes') }),
	}),
});

const folder = join(checkout, 'examples', 'queue-mode');

const read = async (file: string) => await readFile(join(folder, file), 'utf8');

/**
 * Reads compose.yaml as Docker does: in place of `${NAME:?}`, it has the address of n8n, the values of .env.example, or a secret for
 * each that is to be filled in.
 * @throws Error for a value that is missing
 */
export async function readCompose(url: string): Promise<z.infer<typeof composeSchema>> {
	const given = [...(await read('.env.example')).matchAll(/^(\w+)=(.*)$/gm)];
	const values = new Map(given.map(([, name, value]) => [name, value || randomBytes(24).toString('hex')]));
	values.set('N8N_URL', url);
	const missing = (name: string) => {
		throw new Error(`compose.yaml needs ${name}`);
	};
	const text = await read('compose.yaml');
	const filled = text.replace(/\$\{(\w+):\?\}/g, (_, name: string) => values.get(name) ?? missing(name));
	return composeSchema.parse(parse(filled, { merge: true }));
}

/** Returns the names of the variables that compose.yaml has in comments, for who needs them. */
export async function commentedVariables(): Promise<string[]> {
	return [...(await read('compose.yaml')).matchAll(/^ +# ([A-Z_]+): /gm)].flatMap(([, name]) => name ?? []);
}

/** Returns the image that the Dockerfile starts from. */
export async function baseImage(): Promise<string> {
	return /^FROM (\S+)$/m.exec(await read('Dockerfile'))?.[1] ?? '';
}

/** Runs what the Dockerfile runs, in an empty home folder instead of the image's. */
export async function installAsImage(home: string, tarball: string): Promise<void> {
	const text = await read('Dockerfile');
	const copied = /^COPY --chown=node n8n-nodes-device-management-\$\{PACKAGE\}\.tgz (\S+)$/m.exec(text)?.[1];
	const commands = [...text.matchAll(/^RUN (.+)$/gm)].flatMap(([, command]) => command ?? []);
	if (copied === undefined || commands.length === 0) throw new Error('The Dockerfile installs no package');
	await rm(join(home, '.n8n'), removing);
	await mkdir(home, { recursive: true });
	const env = { ...keptEnvironment(process.env), PATH: process.env['PATH'], HOME: home };
	for (const command of commands) {
		await execa('sh', ['-c', command.replaceAll(copied, tarball)], { env, extendEnv: false, stdin: 'ignore' });
	}
}
