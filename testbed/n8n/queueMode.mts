import { join } from 'node:path';
import { z } from 'zod/v4';

import { checkout } from '../checkout.mts';
import { packTo } from '../pack.mts';
import { installAsImage, readCompose } from './deployment.mts';
import { type Gate, gateTo } from './gate.mts';
import type { N8nHost } from './host.mts';
import { type Credential, N8nInstance } from './instance.mts';
import type { Main } from './main.mts';
import { type Database, postgres } from './postgres.mts';
import { freePort, type N8nProcess } from './process.mts';
import { redis } from './redis.mts';
import { type Environment, Services } from './services.mts';

interface QueueModeOptions {
	credentials: Credential[];
	/** All of them are published. */
	workflows: readonly object[];
	/** For every process, beside those of compose.yaml. */
	settings: Environment;
}

/** Docker's patience in compose.yaml. */
const GRACE_MS = 40_000;

const executionSchema = z.object({
	id: z.coerce.string(),
	/** As in n8n's list of executions: `success`, `error`, `crashed`, `running`, … */
	status: z.string(),
	/** Since it started, without the time in the queue; null before its end. */
	milliseconds: z.coerce.number().nullable(),
	/** Its size in n8n's database. */
	bytes: z.number().nullable(),
});

export type Execution = z.infer<typeof executionSchema>;

/** What n8n needs in queue mode. `services.stop()` also ends all services that were added later. */
export interface Foundation {
	services: Services;
	database: Database;
	/** n8n's ways to PostgreSQL and Redis. */
	gates: { readonly postgres: Gate; readonly redis: Gate };
}

/**
 * Creates a database and a key prefix.
 * @throws Unreachable at once without PostgreSQL or Redis
 */
export async function layFoundation(): Promise<Foundation> {
	const services = new Services();
	try {
		const database = services.add(await postgres());
		const toDatabase = services.add(await gateTo(database, 'DB_POSTGRESDB'));
		const toQueue = services.add(await gateTo(services.add(await redis()), 'QUEUE_BULL_REDIS'));
		return { services, database, gates: { postgres: toDatabase, redis: toQueue } };
	} catch (error) {
		await services.stop();
		throw error;
	}
}

/**
 * An n8n in queue mode, as `examples/queue-mode` sets it up: a main process and workers that share a database and a queue. Each has
 * the package in its user folder, installed as in the image.
 */
export class QueueMode {
	private constructor(
		readonly database: Database,
		readonly mainInstance: N8nInstance,
		/** The current main process. */
		public main: Main,
		readonly workers: readonly Worker[],
		readonly folder: string,
	) {}

	/** Sets everything up in folders below `folder` and starts it, which takes about a minute. */
	static async start(
		host: N8nHost,
		folder: string,
		{ services, database, gates }: Foundation,
		{ credentials, workflows, settings }: QueueModeOptions,
	): Promise<QueueMode> {
		const port = await freePort();
		const compose = await readCompose(`http://127.0.0.1:${port}/`);
		const tarball = await packTo(folder, checkout);
		const own = { ...gates.postgres.environment, ...gates.redis.environment, ...settings };
		const install = async (service: 'main' | 'worker', name: string) => {
			const { environment } = compose.services[service];
			const instance = services.add(new N8nInstance(host, join(folder, name), { ...environment, ...own }));
			await installAsImage(instance.folder, tarball);
			return instance;
		};
		const mainInstance = await install('main', 'main');
		await mainInstance.importCredentials(credentials);
		const startWorker = async (_: unknown, index: number) => {
			const instance = await install('worker', `worker-${index + 1}`);
			return new Worker(instance, await instance.startWorker());
		};
		const starting = Array.from({ length: compose.services.worker.deploy.replicas }, startWorker);
		const [main, ...workers] = await Promise.all([mainInstance.startSignedIn(port), ...starting]);
		for (const workflow of workflows) await main.publish(await main.create(workflow));
		return new QueueMode(database, mainInstance, main, workers, folder);
	}

	/** The executions of a workflow, in the order in which they were put into the queue. */
	async executions(workflowId: string) {
		const sql = `
			SELECT id, status, EXTRACT(EPOCH FROM "stoppedAt" - "startedAt") * 1000 AS "milliseconds", octet_length(data) AS "bytes"
			FROM execution_entity LEFT JOIN execution_data ON "executionId" = id WHERE "workflowId" = $1 ORDER BY id`;
		return await this.database.query(executionSchema, sql, workflowId);
	}

	/** How many executions of a workflow each worker began since its start. */
	async begunPerWorker(workflowId: string): Promise<number[]> {
		const executions = await this.executions(workflowId);
		return this.workers.map(({ executions: begun }) => executions.filter(({ id }) => begun.includes(id)).length);
	}

	/** The worker that runs an execution. */
	workerOf(executionId: string): Worker {
		const worker = this.workers.find(({ executions }) => executions.includes(executionId));
		if (worker === undefined) throw new Error(`No worker says that it runs the execution ${executionId}`);
		return worker;
	}

	/** Starts a main process after the last one has ended. `settings` replace those of compose.yaml, until the next start. */
	async startMain(settings: Environment = {}): Promise<void> {
		this.main = await this.mainInstance.startSignedIn(Number(new URL(this.main.url).port), settings);
	}

	/**
	 * Replaces each process by one of another build, as new containers: the workers first and main last, as the docs say.
	 * @param between runs while there is no main process
	 */
	async update(tarball: string, between = () => {}): Promise<void> {
		const replace = async (worker: Worker) => {
			await worker.process.stop(GRACE_MS);
			await installAsImage(worker.instance.folder, tarball);
			await worker.restart();
		};
		await Promise.all(this.workers.map(replace));
		await this.main.process.stop(GRACE_MS);
		between();
		await installAsImage(this.mainInstance.folder, tarball);
		await this.startMain();
	}

	/** Starts each process again that has ended, as Docker does. Returns how many these were. */
	async restartEnded(): Promise<number> {
		const mainHasEnded = this.main.process.hasEnded;
		const workers = this.workers.filter(({ process }) => process.hasEnded);
		if (mainHasEnded) await this.startMain();
		await Promise.all(workers.map(async (worker) => await worker.restart()));
		return workers.length + Number(mainHasEnded);
	}
}

/** A worker, which Docker starts again after it has ended. */
class Worker {
	constructor(
		readonly instance: N8nInstance,
		/** Its current process. */
		public process: N8nProcess,
	) {}

	/** Ids of the executions that it began since its start. */
	get executions(): string[] {
		return [...this.process.printed.matchAll(/Worker started execution (\d+) /g)].flatMap(([, id]) => id ?? []);
	}

	/** Whether it reaches the database and the queue. */
	async isHealthy(): Promise<boolean> {
		const [, port] = /worker server listening on port (\d+)/.exec(this.process.printed) ?? [];
		const answer = await fetch(`http://127.0.0.1:${port}/healthz/readiness`).catch(() => undefined);
		await answer?.body?.cancel();
		return answer?.ok === true;
	}

	/** Starts it again after it has ended. */
	async restart(): Promise<void> {
		this.process = await this.instance.startWorker();
	}
}
