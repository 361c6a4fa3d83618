import { execa } from 'execa';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod/v4';

import { checkout, readManifest } from '../checkout.mts';
import { packInto } from '../pack.mts';
import type { N8nHost } from './host.mts';
import { Main, newOwner } from './main.mts';
import { filesFolder, freePort, N8nProcess } from './process.mts';
import type { Environment, Service } from './services.mts';
import { removing } from '../removing.mts';

/** A credential for `n8n import:credentials`, not encrypted. */
export interface Credential {
	id: string;
	name: string;
	type: string;
	data: Record<string, string | number | boolean>;
}

/** An n8n with its own data folder, in which the packed package is installed as a user would install it. */
export class N8nInstance implements Service {
	readonly owner = newOwner();
	private readonly running = new Set<N8nProcess>();

	/**
	 * @param folder n8n's user folder. It must not be inside the checkout: modules the package imports would be found
	 * among this repository's development dependencies instead of n8n's own.
	 * @param settings the environment of its services; empty: SQLite in its folder, and executions in its own process
	 */
	constructor(
		readonly host: N8nHost,
		readonly folder: string,
		private readonly settings: Environment = {},
	) {}

	/** Packs and installs the package, and replaces the previous one. */
	async installPackage(): Promise<void> {
		const { name, version } = await readManifest(checkout);
		const nodes = join(this.folder, '.n8n', 'nodes');
		await mkdir(nodes, { recursive: true, mode: 0o700 });
		await packInto(join(nodes, 'node_modules', name));
		const manifest = { name: 'installed-nodes', private: true, dependencies: { [name]: version } };
		await writeFile(join(nodes, 'package.json'), JSON.stringify(manifest, undefined, 2));
	}

	/** Adds credentials, or replaces those with the same id. */
	async importCredentials(credentials: Credential[]): Promise<void> {
		await this.import('credentials', credentials);
	}

	/** The same for workflows. */
	async importWorkflows(workflows: unknown[]): Promise<void> {
		await this.import('workflow', workflows);
	}

	/** Returns rows of n8n's SQLite database, also while n8n runs. */
	async query<Row>(schema: z.ZodType<Row>, sql: string): Promise<Row[]> {
		// This repository's Node.js may have no SQLite; n8n's has it.
		const open = `new (require('node:sqlite').DatabaseSync)(process.argv[1], { readOnly: true })`;
		const script = `console.log(JSON.stringify(${open}.prepare(process.argv[2]).all()))`;
		const file = join(this.folder, '.n8n', 'database.sqlite');
		const { stdout } = await execa(this.host.node, ['-e', script, file, sql]);
		return z.array(schema).parse(JSON.parse(stdout));
	}

	/** Starts the main process, and signs in as `owner`. */
	async startSignedIn(port?: number, settings?: Environment): Promise<Main> {
		const main = await this.startMain(port, settings);
		await main.signIn(this.owner);
		return main;
	}

	/** Starts the main process, editor included, on `port` of the loopback address; default: a free one. */
	async startMain(port?: number, settings: Environment = {}): Promise<Main> {
		await mkdir(filesFolder(this.folder), { recursive: true });
		const url = `http://127.0.0.1:${port ?? (await freePort())}`;
		const n8n = this.run(['start'], {
			N8N_PORT: new URL(url).port,
			N8N_RUNNERS_BROKER_PORT: String(await freePort()),
			N8N_EDITOR_BASE_URL: url,
			// Older versions know the first one only.
			WEBHOOK_URL: url,
			N8N_WEBHOOK_URL: url,
			N8N_LOG_LEVEL: 'warn',
			// Browsers refuse a secure cookie over plain HTTP, some of them even on the loopback address.
			N8N_SECURE_COOKIE: 'false',
			...settings,
		});
		// n8n passes health checks before it has its routes, so this waits for the editor's first request.
		await n8n.untilReady(async () => {
			const answer = await fetch(`${url}/rest/settings`).catch(() => undefined);
			await answer?.body?.cancel();
			return answer?.ok === true && answer.headers.get('content-type')?.includes('json') === true;
		});
		return new Main(url, n8n);
	}

	/** Starts a worker, which runs the jobs in the queue. */
	async startWorker(): Promise<N8nProcess> {
		const n8n = this.run(['worker'], {
			N8N_RUNNERS_BROKER_PORT: String(await freePort()),
			QUEUE_HEALTH_CHECK_PORT: String(await freePort()),
			// It then says that it is ready, and names each execution that it starts.
			N8N_LOG_LEVEL: 'info',
		});
		await n8n.untilReady(() => n8n.printed.includes('worker is now ready'));
		return n8n;
	}

	/** Stops all processes of this instance. */
	async stop(): Promise<void> {
		await Promise.all([...this.running].map(async (n8n) => await n8n.stop()));
	}

	/** n8n's import commands always exit with 0, so their output decides whether they succeeded. */
	private async import(kind: 'credentials' | 'workflow', entries: unknown[]): Promise<void> {
		const file = join(this.folder, `${kind}.json`);
		try {
			await writeFile(file, JSON.stringify(entries), { mode: 0o600 });
			const n8n = this.run([`import:${kind}`, `--input=${file}`], { N8N_LOG_LEVEL: 'info' });
			await n8n.ended;
			if (!n8n.printed.includes(`Successfully imported ${entries.length} `)) {
				throw new Error(`n8n did not import the ${kind}:\n${n8n.printed}`);
			}
		} finally {
			await rm(file, removing);
		}
	}

	private run(args: [command: string, ...flags: string[]], settings: Environment): N8nProcess {
		const n8n = new N8nProcess(this.host, this.folder, args, { ...this.settings, ...settings });
		this.running.add(n8n);
		void n8n.ended.then(() => this.running.delete(n8n));
		return n8n;
	}
}
