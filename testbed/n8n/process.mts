import getPort from 'get-port';
import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pWaitFor from 'p-wait-for';

import { keptEnvironment, signalTree } from '../processes.mts';
import type { N8nHost } from './host.mts';
import type { Environment } from './services.mts';

/** One n8n command that runs, with whatever processes it starts itself. */
export interface N8nProcess {
	/** Undefined where it could not be started. */
	readonly pid: number | undefined;
	/** What it has printed so far. */
	readonly printed: string;
	/** Settles with everything it printed when it ends, for whatever reason. */
	readonly ended: Promise<string>;
	/** Asks it to end and insists after some seconds; leaves no process behind. */
	stop(): Promise<void>;
	/** Ends it at once, as a system does that is out of memory. */
	kill(): Promise<void>;
}

/** Where workflows may read and write files. n8n makes no such folder. */
export function filesFolder(userFolder: string): string {
	return join(userFolder, '.n8n-files');
}

/**
 * Starts a command of n8n, like `start` or `worker`, with its data in `folder` and nothing of a person's own settings.
 * @param file takes what it prints, instead of a pipe. A pipe whose reader is slow loses the end when n8n exits.
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
		// A group of its own: Ctrl-C then reaches n8n through `stop` alone, and `stop` reaches n8n's own children.
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
		// Its last words may still be on their way when it has ended; what it started may keep a stream open for longer.
		await Promise.race([isRead, pause(5000, undefined, { ref: false })]);
		return printed.join('');
	});
	const signal = (name: 'SIGTERM' | 'SIGKILL') => {
		if (n8n.pid !== undefined) signalTree(n8n.pid, name);
	};
	return {
		pid: n8n.pid,
		get printed() {
			return printed.join('');
		},
		ended,
		async stop() {
			signal('SIGTERM');
			await Promise.race([ended, pause(6000, undefined, { ref: false })]);
			// Also where n8n itself has ended: what it started may not have.
			signal('SIGKILL');
			await ended;
		},
		async kill() {
			signal('SIGKILL');
			await ended;
		},
	};
}

/** The preferred port of the loopback address, or another one when that is taken; undefined: any free one. */
export async function freePort(preferred?: number): Promise<number> {
	return await getPort({ host: '127.0.0.1', ...(preferred === undefined ? {} : { port: preferred }) });
}

/**
 * Waits for an answer that `isReady` accepts.
 * @throws Error with the last lines it printed when n8n ends before, or takes minutes
 */
export async function untilReady(n8n: N8nProcess, url: string, isReady: (answer: Response) => boolean): Promise<void> {
	let isOver = false;
	void n8n.ended.then(() => (isOver = true));
	const answersSo = async () => {
		if (isOver) throw new Error('It ended');
		const answer = await fetch(url).catch(() => undefined);
		await answer?.body?.cancel();
		return answer !== undefined && isReady(answer);
	};
	try {
		await pWaitFor(answersSo, { interval: 300, timeout: 180_000 });
	} catch (error) {
		await n8n.stop();
		throw new Error(`n8n did not start:\n${n8n.printed.split('\n').slice(-20).join('\n')}`, { cause: error });
	}
}

/** Only what n8n needs: a person's own N8N_… and DB_… settings must not find their way in. */
function ownEnvironment(host: N8nHost, folder: string): Record<string, string> {
	return {
		...keptEnvironment(process.env),
		PATH: [dirname(host.node), process.env['PATH'] ?? ''].join(delimiter),
		N8N_USER_FOLDER: folder,
		N8N_LISTEN_ADDRESS: '127.0.0.1',
		N8N_RUNNERS_BROKER_LISTEN_ADDRESS: '127.0.0.1',
		N8N_ENFORCE_SETTINGS_FILE_PERMISSIONS: 'true',
		// As by default, but below this folder instead of a person's own.
		N8N_RESTRICT_FILE_ACCESS_TO: filesFolder(folder),
		N8N_GRACEFUL_SHUTDOWN_TIMEOUT: '3',
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
