import getPort, { portNumbers } from 'get-port';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { appendFileSync, closeSync, openSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pWaitFor from 'p-wait-for';

import { keptEnvironment, signalTree } from '../processes.mts';
import type { N8nHost } from './host.mts';
import type { Environment } from './services.mts';

/** A running command of n8n, like `start` or `worker`, with all processes that it starts. */
export class N8nProcess {
	/** Settles when it ends, for any reason. */
	readonly ended: Promise<void>;
	private readonly log: string;
	private readonly n8n: ChildProcess;

	/** Starts it with its data in `folder` and without personal settings. */
	constructor(host: N8nHost, folder: string, args: [command: string, ...flags: string[]], environment: Environment) {
		this.log = join(folder, `${args[0].replace(':', '-')}.log`);
		// Not a pipe: with a slow reader, a pipe loses the end when n8n exits.
		const output = openSync(this.log, 'w', 0o600);
		// A separate process group: only `stop` ends n8n on Ctrl-C, and `stop` also ends n8n's children.
		const ends = { windowsHide: true, detached: process.platform !== 'win32' };
		const env = { ...ownEnvironment(host, folder), ...environment };
		this.n8n = spawn(host.node, [host.n8n, ...args], { cwd: folder, env, stdio: ['ignore', output, output], ...ends });
		closeSync(output);
		this.ended = once(this.n8n, 'exit').then(
			() => {},
			(error: unknown) => appendFileSync(this.log, String(error)),
		);
	}

	/** Undefined if it could not start. */
	get pid(): number | undefined {
		return this.n8n.pid;
	}

	/** Its output so far. */
	get printed(): string {
		return readFileSync(this.log, 'utf8');
	}

	get hasEnded(): boolean {
		return this.pid === undefined || this.n8n.exitCode !== null || this.n8n.signalCode !== null;
	}

	/** Asks it to end, and kills it after some time, with all its processes. */
	async stop(patienceMs = 6000): Promise<void> {
		this.signal('SIGTERM');
		await Promise.race([this.ended, pause(patienceMs, undefined, { ref: false })]);
		// Also after n8n has ended: its children may still run.
		await this.kill();
	}

	/** Kills it at once, like a system without memory. */
	async kill(): Promise<void> {
		this.signal('SIGKILL');
		await this.ended;
	}

	/**
	 * Waits until `isReady`.
	 * @throws Error with the last lines of output if n8n ends before, or takes minutes
	 */
	async untilReady(isReady: () => boolean | Promise<boolean>): Promise<void> {
		const readyOrOver = async () => {
			if (this.hasEnded) throw new Error('It ended');
			return await isReady();
		};
		try {
			await pWaitFor(readyOrOver, { interval: 100, timeout: 180_000 });
		} catch (error) {
			await this.stop();
			throw new Error(`n8n did not start:\n${this.printed.split('\n').slice(-20).join('\n')}`, { cause: error });
		}
	}

	private signal(name: 'SIGTERM' | 'SIGKILL'): void {
		if (this.pid !== undefined) signalTree(this.pid, name);
	}
}

/** The folder that workflows can read and write. n8n doesn't create it. */
export function filesFolder(userFolder: string): string {
	return join(userFolder, '.n8n-files');
}

/**
 * Returns the preferred port of the loopback address if it is free, or else another one. n8n opens it seconds later. It is below the
 * range from which systems choose ports, so that no other program gets it by chance until then.
 */
export async function freePort(preferred?: number): Promise<number> {
	const others = portNumbers(10_000 + randomInt(15_000), 30_000);
	return await getPort({ host: '127.0.0.1', port: preferred === undefined ? others : [preferred, ...others] });
}

/** What sends requests to the internet: telemetry, updates, templates, licenses and other packages. */
const ONLINE = [
	...['DIAGNOSTICS', 'VERSION_NOTIFICATIONS', 'VERSION_NOTIFICATIONS_WHATS_NEW', 'DYNAMIC_BANNERS', 'TEMPLATES'],
	...['PERSONALIZATION', 'HIRING_BANNER', 'VERIFIED_PACKAGES', 'LICENSE_AUTO_RENEW'],
];

/** The variables that n8n needs, without personal N8N_… and DB_… settings. */
function ownEnvironment(host: N8nHost, folder: string): Record<string, string> {
	return {
		...keptEnvironment(process.env),
		PATH: [dirname(host.node), process.env['PATH'] ?? ''].join(delimiter),
		N8N_USER_FOLDER: folder,
		N8N_LISTEN_ADDRESS: '127.0.0.1',
		N8N_RUNNERS_BROKER_LISTEN_ADDRESS: '127.0.0.1',
		N8N_ENFORCE_SETTINGS_FILE_PERMISSIONS: 'true',
		// The default, but in this folder instead of the user's.
		N8N_RESTRICT_FILE_ACCESS_TO: filesFolder(folder),
		N8N_GRACEFUL_SHUTDOWN_TIMEOUT: '3',
		...Object.fromEntries(ONLINE.map((feature) => [`N8N_${feature}_ENABLED`, 'false'])),
		N8N_ONBOARDING_FLOW_DISABLED: 'true',
		EXTERNAL_FRONTEND_HOOKS_URLS: '',
	};
}
