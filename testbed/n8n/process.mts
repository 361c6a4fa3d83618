import getPort, { portNumbers } from 'get-port';
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pWaitFor from 'p-wait-for';

import { keptEnvironment, signalTree } from '../processes.mts';
import type { N8nHost } from './host.mts';
import type { Environment } from './services.mts';

/** A running n8n command, with all processes that it starts. */
export interface N8nProcess {
	/** Undefined if it could not start. */
	readonly pid: number | undefined;
	/** Its output so far. */
	readonly printed: string;
	readonly hasEnded: boolean;
	/** Settles with all its output when it ends, for any reason. */
	readonly ended: Promise<string>;
	/** Asks it to end, and kills it after some seconds, with all its processes. */
	stop(): Promise<void>;
	/** Kills it at once, like a system without memory. */
	kill(): Promise<void>;
}

/** The folder that workflows can read and write. n8n doesn't create it. */
export function filesFolder(userFolder: string): string {
	return join(userFolder, '.n8n-files');
}

/**
 * Starts a command of n8n, like `start` or `worker`, with its data in `folder` and without personal settings.
 * @param file receives its output, instead of a pipe. With a slow reader, a pipe loses the end when n8n exits.
 */
export function startProcess(
	host: N8nHost,
	folder: string,
	args: string[],
	environment: Environment,
	file?: string,
): N8nProcess {
	const output = file === undefined ? 'pipe' : openSync(file, 'a', 0o600);
	const n8n = spawn(host.node, [host.n8n, ...args], {
		cwd: folder,
		env: { ...ownEnvironment(host, folder), ...environment },
		stdio: ['ignore', output, output],
		windowsHide: true,
		// A separate process group: only `stop` ends n8n on Ctrl-C, and `stop` also ends n8n's children.
		detached: process.platform !== 'win32',
	});
	if (typeof output === 'number') closeSync(output);
	const printed: string[] = [];
	for (const stream of [n8n.stdout, n8n.stderr]) {
		stream?.setEncoding('utf8').on('data', (text: string) => printed.push(text));
	}
	const isRead = new Promise<void>((resolve) => n8n.once('close', () => resolve()));
	const hasEnded = new Promise<void>((resolve) => {
		n8n.once('exit', () => resolve());
		n8n.once('error', (error) => {
			printed.push(error.message);
			resolve();
		});
	});
	const ended = hasEnded.then(async () => {
		if (file !== undefined) return await readFile(file, 'utf8');
		// The last output may arrive after the end. A child process may keep a stream open for longer.
		await Promise.race([isRead, pause(5000, undefined, { ref: false })]);
		return printed.join('');
	});
	const signal = (name: 'SIGTERM' | 'SIGKILL') => {
		if (n8n.pid !== undefined) signalTree(n8n.pid, name);
	};
	return {
		pid: n8n.pid,
		get hasEnded() {
			return n8n.exitCode !== null || n8n.signalCode !== null;
		},
		get printed() {
			return printed.join('');
		},
		ended,
		async stop() {
			signal('SIGTERM');
			await Promise.race([ended, pause(6000, undefined, { ref: false })]);
			// Also after n8n has ended: its children may still run.
			signal('SIGKILL');
			await ended;
		},
		async kill() {
			signal('SIGKILL');
			await ended;
		},
	};
}

/**
 * Returns the preferred port of the loopback address if it is free, or else another one. n8n opens it seconds later. It is below the
 * range from which systems choose ports, so that no other program gets it by chance until then.
 */
export async function freePort(preferred?: number): Promise<number> {
	const others = portNumbers(10_000 + randomInt(15_000), 30_000);
	return await getPort({ host: '127.0.0.1', port: preferred === undefined ? others : [preferred, ...others] });
}

/**
 * Waits until `isReady`.
 * @throws Error with the last lines of output if n8n ends before, or takes minutes
 */
export async function untilReady(n8n: N8nProcess, isReady: () => boolean | Promise<boolean>): Promise<void> {
	let isOver = false;
	void n8n.ended.then(() => (isOver = true));
	const readyOrOver = async () => {
		if (isOver) throw new Error('It ended');
		return await isReady();
	};
	try {
		await pWaitFor(readyOrOver, { interval: 100, timeout: 180_000 });
	} catch (error) {
		await n8n.stop();
		throw new Error(`n8n did not start:\n${n8n.printed.split('\n').slice(-20).join('\n')}`, { cause: error });
	}
}

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
		// No requests to the internet: no telemetry, updates, templates, licenses or other packages.
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
