/** An n8n with its own data folder, the packed package installed in it as a user would have it. */
import { execa } from 'execa';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod/v4';
import { checkout, readManifest } from './checkout.mts';
import type { N8nHost } from './n8n-host.mts';
import { packInto } from './pack.mts';

/** A credential as `n8n import:credentials` takes it, not encrypted yet. */
export interface Credential {
	id: string;
	name: string;
	type: string;
	data: Record<string, string | boolean>;
}

const itemSchema = z.looseObject({ json: z.record(z.string(), z.unknown()) });
const runSchema = z.object({
	error: z.looseObject({ message: z.string(), description: z.string().nullish() }).optional(),
	data: z.object({ main: z.array(z.array(itemSchema).nullable()) }).optional(),
});
const executionSchema = z.object({
	data: z.object({ resultData: z.object({ runData: z.record(z.string(), z.array(runSchema)) }) }),
});

const settingsSchema = z.object({
	data: z.object({ userManagement: z.object({ showSetupOnFirstLoad: z.boolean().default(false) }) }),
});

/** What each node gave in its first run: the items of its first output, or its error. */
export type NodeResults = Record<string, { items: Record<string, unknown>[]; error: string | undefined }>;

export interface RunningEditor {
	url: string;
	/** Settles when n8n ends, for whatever reason. */
	ended: Promise<void>;
}

/** The account of the person at the editor. */
export interface Owner {
	email: string;
	firstName: string;
	lastName: string;
	password: string;
}

interface Running {
	signal(name: 'SIGTERM' | 'SIGKILL'): void;
	ended: Promise<void>;
}

export class N8nInstance {
	private readonly running = new Set<Running>();

	/**
	 * @param folder n8n's user folder. It must not be inside the checkout: modules the package imports would be found
	 * among this repository's development dependencies instead of n8n's own.
	 */
	constructor(
		private readonly host: N8nHost,
		readonly folder: string,
	) {}

	/** Packs and installs the package, replacing the one from last time. */
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

	/** Adds workflows, or replaces those with the same id. */
	async importWorkflows(workflows: unknown[]): Promise<void> {
		await this.import('workflow', workflows);
	}

	/**
	 * Runs a workflow from its manual trigger.
	 * @returns what each node that ran gave, also when the workflow ended with an error
	 */
	async execute(id: string): Promise<NodeResults> {
		const output = await this.command(['execute', '--id', id, '--rawOutput']);
		const json = /^\{$[\s\S]*?^\}$/m.exec(output)?.[0];
		if (json === undefined) throw new Error(`n8n gave no result for workflow ${id}:\n${output}`);
		const { runData } = executionSchema.parse(JSON.parse(json)).data.resultData;
		return Object.fromEntries(
			Object.entries(runData).map(([node, [run]]) => [
				node,
				{
					items: (run?.data?.main[0] ?? []).map((item) => item.json),
					error: run?.error && [run.error.message, run.error.description].filter(Boolean).join(' '),
				},
			]),
		);
	}

	/** Starts the editor on `port` of the loopback address, or on a free one when it is taken. */
	async startEditor(port: number): Promise<RunningEditor> {
		const free = await freePort(port);
		const url = `http://127.0.0.1:${free}`;
		const { output, ended } = this.run(['start'], {
			N8N_PORT: String(free),
			N8N_RUNNERS_BROKER_PORT: String(await freePort(5679)),
			N8N_EDITOR_BASE_URL: url,
			WEBHOOK_URL: url,
			N8N_LOG_LEVEL: 'warn',
			// Browsers refuse a cookie marked as secure from plain HTTP, some of them even on the loopback address.
			N8N_SECURE_COOKIE: 'false',
			N8N_GRACEFUL_SHUTDOWN_TIMEOUT: '3',
		});
		try {
			await untilReady(url, ended);
		} catch (error) {
			await this.stop();
			throw new Error(`n8n did not start:\n${(await output).split('\n').slice(-20).join('\n')}`, { cause: error });
		}
		return { url, ended };
	}

	/** Makes the account that a new n8n asks for before anything else; does nothing when there is one. */
	async setUpOwner({ url }: RunningEditor, owner: Owner): Promise<void> {
		const settings = settingsSchema.parse(await (await fetch(`${url}/rest/settings`)).json());
		if (!settings.data.userManagement.showSetupOnFirstLoad) return;
		const answer = await fetch(`${url}/rest/owner/setup`, {
			method: 'POST',
			headers: { 'Content-Type': 'application/json' },
			body: JSON.stringify(owner),
		});
		if (!answer.ok) throw new Error(`n8n did not take the account (HTTP ${answer.status}): ${await answer.text()}`);
	}

	/** Asks everything that runs to end and insists after some seconds; leaves no process behind. */
	async stop(): Promise<void> {
		const all = [...this.running];
		const ended = Promise.all(all.map((n8n) => n8n.ended));
		for (const n8n of all) n8n.signal('SIGTERM');
		await Promise.race([ended, pause(6000, undefined, { ref: false })]);
		// Also where n8n itself has ended: what it started may not have.
		for (const n8n of all) n8n.signal('SIGKILL');
		await ended;
	}

	/** n8n's import commands report failure in words only, so success is recognised by its words, too. */
	private async import(kind: 'credentials' | 'workflow', entries: unknown[]): Promise<void> {
		const temporary = await mkdtemp(join(tmpdir(), 'import-'));
		try {
			const file = join(temporary, `${kind}.json`);
			await writeFile(file, JSON.stringify(entries), { mode: 0o600 });
			const output = await this.command([`import:${kind}`, `--input=${file}`]);
			if (!output.includes(`Successfully imported ${entries.length} `)) {
				throw new Error(`n8n did not import the ${kind}:\n${output}`);
			}
		} finally {
			await rm(temporary, { recursive: true, force: true });
		}
	}

	private async command(args: string[]): Promise<string> {
		return await this.run(args, {
			N8N_LOG_LEVEL: 'info',
			N8N_RUNNERS_BROKER_PORT: String(await freePort(0)),
		}).output;
	}

	private run(args: string[], settings: Record<string, string>): { output: Promise<string>; ended: Promise<void> } {
		const n8n = execa(this.host.node, [this.host.n8n, ...args], {
			cwd: this.folder,
			extendEnv: false,
			env: { ...environment(this.host, this.folder), ...settings },
			stdin: 'ignore',
			all: true,
			reject: false,
			// A group of its own: Ctrl-C then reaches n8n through `stop` alone, and `stop` reaches n8n's own children.
			detached: process.platform !== 'win32',
		});
		const output = n8n.then(({ all }) => all);
		const ended = output.then(() => undefined);
		const running: Running = { signal: (name) => signalGroup(n8n.pid, name), ended };
		this.running.add(running);
		void ended.then(() => this.running.delete(running));
		return { output, ended };
	}
}

/** Only what n8n needs: a person's own N8N_… and DB_… settings must not find their way in. */
function environment(host: N8nHost, folder: string): Record<string, string> {
	const kept = ['HOME', 'USERPROFILE', 'SystemRoot', 'TEMP', 'TMP', 'TMPDIR', 'LANG', 'LC_ALL', 'TZ'];
	return {
		...Object.fromEntries(kept.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]))),
		PATH: [dirname(host.node), process.env['PATH'] ?? ''].join(process.platform === 'win32' ? ';' : ':'),
		N8N_USER_FOLDER: folder,
		N8N_LISTEN_ADDRESS: '127.0.0.1',
		N8N_RUNNERS_BROKER_LISTEN_ADDRESS: '127.0.0.1',
		N8N_ENFORCE_SETTINGS_FILE_PERMISSIONS: 'true',
		// Nothing leaves this machine: no telemetry, no look for updates, templates, licences or other packages.
		N8N_DIAGNOSTICS_ENABLED: 'false',
		N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
		N8N_VERSION_NOTIFICATIONS_WHATS_NEW_ENABLED: 'false',
		N8N_DYNAMIC_BANNERS_ENABLED: 'false',
		N8N_TEMPLATES_ENABLED: 'false',
		N8N_PERSONALIZATION_ENABLED: 'false',
		N8N_HIRING_BANNER_ENABLED: 'false',
		N8N_VERIFIED_PACKAGES_ENABLED: 'false',
		N8N_LICENSE_AUTO_RENEW_ENABLED: 'false',
		N8N_ONBOARDING_FLOW_DISABLED: 'true',
		EXTERNAL_FRONTEND_HOOKS_URLS: '',
	};
}

function signalGroup(pid: number | undefined, signal: 'SIGTERM' | 'SIGKILL'): void {
	if (pid === undefined) return;
	try {
		process.kill(process.platform === 'win32' ? pid : -pid, signal);
	} catch {
		// It is gone, which is what was wanted.
	}
}

/** n8n answers health checks before it has its routes, so this waits for what the editor itself asks for first. */
async function untilReady(url: string, ended: Promise<void>): Promise<void> {
	const deadline = AbortSignal.timeout(180_000);
	const over = new AbortController();
	void ended.then(() => over.abort());
	for (;;) {
		if (over.signal.aborted) throw new Error('n8n ended by itself');
		deadline.throwIfAborted();
		const answer = await fetch(`${url}/rest/settings`).catch(() => undefined);
		if (answer?.ok && answer.headers.get('content-type')?.includes('json')) return;
		await pause(300);
	}
}

/** The preferred port of the loopback address, or another one when that is taken. */
async function freePort(preferred: number): Promise<number> {
	const listen = (port: number) =>
		new Promise<number>((resolve, reject) => {
			const server = createServer().once('error', reject);
			server.listen(port, '127.0.0.1', () => {
				const address = server.address();
				server.close(() => resolve(typeof address === 'object' && address ? address.port : port));
			});
		});
	return await listen(preferred).catch(() => listen(0));
}
