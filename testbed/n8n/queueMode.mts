import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod/v4';

import type { N8nHost } from './host.mts';
import { type Credential, N8nInstance } from './instance.mts';
import type { Main, Owner } from './main.mts';
import { type Database, postgres } from './postgres.mts';
import type { N8nProcess } from './process.mts';
import { redis } from './redis.mts';
import { type Environment, Services } from './services.mts';

export interface QueueModeOptions {
	credentials: Credential[];
	/** All of them are published. */
	workflows: readonly object[];
	/** How many there are. */
	workers: number;
	/** How many executions a worker runs at once. */
	concurrency: number;
	/** Further settings for every process. */
	settings: Environment;
}

export interface Execution {
	id: string;
	/** As in n8n's list of executions: `success`, `error`, `crashed`, `running`, … */
	status: string;
}

const executionSchema = z.object({ id: z.coerce.string(), status: z.string() });
const costSchema = z.object({
	status: z.string(),
	/** Since it started; without the time in the queue. */
	milliseconds: z.coerce.number(),
	/** Its size in n8n's database. */
	bytes: z.number(),
});

export type Cost = z.infer<typeof costSchema>;

const dataSchema = z.object({ data: z.string() });

const owner: Owner = {
	email: 'owner@example.com',
	firstName: 'Device',
	lastName: 'Owner',
	password: `${randomBytes(12).toString('hex')}A1`,
};

/** The services that n8n needs in queue mode. `services.stop()` also ends all services that were added later. */
export interface Foundation {
	services: Services;
	database: Database;
}

/**
 * Creates a database, a key prefix and an encryption key.
 * @throws Unreachable at once without PostgreSQL or Redis
 */
export async function layFoundation(): Promise<Foundation> {
	const services = new Services();
	try {
		const database = await services.add(postgres);
		await services.add(redis);
		const key = randomBytes(24).toString('base64');
		await services.add(() => ({ environment: { N8N_ENCRYPTION_KEY: key }, stop: async () => {} }));
		return { services, database };
	} catch (error) {
		await services.stop();
		throw error;
	}
}

/** An n8n in queue mode: one main process and workers that share a database and a queue. Each has the package in its user folder. */
export class QueueMode {
	private constructor(
		private readonly database: Database,
		private readonly mainInstance: N8nInstance,
		/** The current main process. */
		public main: Main,
		readonly workers: readonly Worker[],
	) {}

	/** Sets everything up in folders below `folder` and starts it, which takes about a minute. */
	static async start(
		host: N8nHost,
		folder: string,
		{ services, database }: Foundation,
		{ credentials, workflows, workers, concurrency, settings }: QueueModeOptions,
	): Promise<QueueMode> {
		const install = async (name: string) => {
			const instance = await services.add(
				(environment) => new N8nInstance(host, join(folder, name), { ...environment, ...settings }),
			);
			await instance.installPackage();
			return instance;
		};
		const mainInstance = await install('main');
		await mainInstance.importCredentials(credentials);
		const names = Array.from({ length: workers }, (_, index) => `worker-${index + 1}`);
		const [main, ...started] = await Promise.all([
			startMain(mainInstance),
			...names.map(async (name) => {
				const instance = await install(name);
				return new Worker(instance, concurrency, await instance.startWorker(concurrency));
			}),
		]);
		for (const workflow of workflows) await main.publish(await main.create(workflow));
		return new QueueMode(database, mainInstance, main, started);
	}

	/** The executions of a workflow, in the order in which they were put into the queue. */
	async executions(workflowId: string): Promise<Execution[]> {
		const sql = 'SELECT id, status FROM execution_entity WHERE "workflowId" = $1 ORDER BY id';
		return await this.database.query(executionSchema, sql, workflowId);
	}

	/**
	 * Returns what a finished execution took.
	 * @returns undefined while it runs or waits
	 */
	async cost(executionId: string): Promise<Cost | undefined> {
		const sql = `
			SELECT status, EXTRACT(EPOCH FROM "stoppedAt" - "startedAt") * 1000 AS "milliseconds", octet_length(data) AS "bytes"
			FROM execution_entity JOIN execution_data ON "executionId" = id
			WHERE id = $1 AND "stoppedAt" IS NOT NULL`;
		const [cost] = await this.database.query(costSchema, sql, executionId);
		return cost;
	}

	/** Returns an execution as text, as n8n's database has it. */
	async savedData(executionId: string): Promise<string> {
		const sql = 'SELECT data FROM execution_data WHERE "executionId" = $1';
		const [row] = await this.database.query(dataSchema, sql, executionId);
		return row?.data ?? '';
	}

	/** Returns why an execution failed; undefined if it succeeded. */
	async errorOf(executionId: string): Promise<string | undefined> {
		// n8n saves a list of all values. A value refers to its parts by their positions in the list.
		const values = z.array(z.unknown()).parse(JSON.parse(await this.savedData(executionId)));
		const follow = (value: unknown, key: string): unknown => {
			const place = z.record(z.string(), z.unknown()).safeParse(value).data?.[key];
			return typeof place === 'string' ? values[Number(place)] : undefined;
		};
		const error = follow(follow(values[0], 'resultData'), 'error');
		return z.string().optional().parse(follow(error, 'message'));
	}

	/**
	 * Stops the main process and starts another one.
	 * @param between runs while there is none
	 */
	async restartMain(between: () => Promise<void>): Promise<void> {
		await this.main.stop();
		await between();
		this.main = await startMain(this.mainInstance);
	}
}

export class Worker {
	constructor(
		private readonly instance: N8nInstance,
		private readonly concurrency: number,
		private process: N8nProcess,
	) {}

	get pid(): number | undefined {
		return this.process.pid;
	}

	/** Ids of the executions that it began since its start. */
	get executions(): string[] {
		return [...this.process.printed.matchAll(/Worker started execution (\d+) /g)].flatMap(([, id]) => id ?? []);
	}

	/** Kills it at once. */
	async kill(): Promise<void> {
		await this.process.kill();
	}

	/** Starts it again after it has ended. */
	async restart(): Promise<void> {
		this.process = await this.instance.startWorker(this.concurrency);
	}
}

async function startMain(instance: N8nInstance): Promise<Main> {
	const main = await instance.startMain();
	await main.setUpOwner(owner);
	await main.signIn(owner);
	return main;
}
