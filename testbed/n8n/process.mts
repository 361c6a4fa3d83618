import { execa } from 'execa';
import getPort from 'get-port';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pWaitFor from 'p-wait-for';

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

/** Starts a command of n8n, like `start` or `worker`, with its data in `folder` and nothing of a person's own settings. */
export function startProcess(host: N8nHost, folder: string, args: string[], environment: Environment): N8nProcess {
	const n8n = execa(host.node, [host.n8n, ...args], {
		cwd: folder,
		extendEnv: false,
		env: { ...ownEnvironment(host, folder), ...environment },
		stdin: 'ignore',
		all: true,
		buffer: false,
		reject: false,
		// A group of its own: Ctrl-C then reaches n8n through `stop` alone, and `stop` reaches n8n's own children.
		detached: process.platform !== 'win32',
	});
	const printed: string[] = [];
	n8n.all.setEncoding('utf8').on('data', (text: string) => printed.push(text));
	const ended = n8n.then(() => printed.join(''));
	const signal = (name: 'SIGTERM' | 'SIGKILL') => signalGroup(n8n.pid, name);
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
	const kept = ['HOME', 'USERPROFILE', 'SystemRoot', 'TEMP', 'TMP', 'TMPDIR', 'LANG', 'LC_ALL', 'TZ'];
	return {
		...Object.fromEntries(kept.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]))),
		PATH: [dirname(host.node), process.env['PATH'] ?? ''].join(process.platform === 'win32' ? ';' : ':'),
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

function signalGroup(pid: number | undefined, signal: 'SIGTERM' | 'SIGKILL'): void {
	if (pid === undefined) return;
	try {
		process.kill(process.platform === 'win32' ? pid : -pid, signal);
	} catch {
		// It is gone, which is what was wanted.
	}
}
