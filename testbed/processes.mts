/**
 * What differs between systems when processes are started and ended: process trees, dead parents, environments. Each function
 * takes the system as a parameter, so that one system's tests cover the others. It starts no n8n.
 */
import { spawn } from 'node:child_process';

/** The parts of `process` that this file uses. */
export type System = Pick<NodeJS.Process, 'platform' | 'ppid' | 'kill'>;

type Run = (command: string, args: string[]) => void;

/**
 * Sends a signal to a process and all processes that it started. Windows has no such signals: there, all of them end at once,
 * without cleanup.
 * @param pid of a process that leads its own process group (`detached`), except on Windows
 */
export function signalTree(
	pid: number,
	signal: 'SIGTERM' | 'SIGKILL',
	system: System = process,
	run: Run = inBackground,
): void {
	if (system.platform === 'win32') {
		run('taskkill', ['/PID', String(pid), '/T', '/F']);
		return;
	}
	try {
		system.kill(-pid, signal);
	} catch {
		// The process has already ended.
	}
}

/**
 * Whether the process that started this one has ended. An orphan gets another parent, except on Windows.
 * @param parent `process.ppid` at the start
 */
export function hasLostParent(parent: number, system: System = process): boolean {
	if (system.platform !== 'win32') return system.ppid !== parent;
	try {
		system.kill(parent, 0);
		return false;
	} catch (error) {
		return error instanceof Error && 'code' in error && error.code === 'ESRCH';
	}
}

const KEPT = [
	...['HOME', 'TMPDIR', 'LANG', 'LC_ALL', 'TZ'],
	// Without these, Windows starts no shell, finds no program and no folder for data.
	...['USERPROFILE', 'SystemRoot', 'SystemDrive', 'TEMP', 'TMP', 'ComSpec', 'PATHEXT', 'APPDATA', 'LOCALAPPDATA'],
	...['NODE_EXTRA_CA_CERTS', 'NODE_USE_SYSTEM_CA', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
];
const PROXIES = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'];

/**
 * Returns the part of an environment that every child gets: folders, language, certificates, proxies. It leaves out
 * personal settings for n8n and databases. If a proxy is set, this machine's own addresses bypass it.
 */
export function keptEnvironment(environment: NodeJS.ProcessEnv): Record<string, string> {
	const kept: Record<string, string> = {};
	const bothCases = [...PROXIES, 'NO_PROXY'].flatMap((name) => [name, name.toLowerCase()]);
	for (const name of [...KEPT, ...bothCases]) {
		const value = environment[name];
		if (value !== undefined) kept[name] = value;
	}
	const usesProxy = PROXIES.some((name) => name in kept || name.toLowerCase() in kept);
	if (!usesProxy) return kept;
	const direct = [kept['NO_PROXY'] ?? kept['no_proxy'], '127.0.0.1', 'localhost'].filter(Boolean).join(',');
	return { ...kept, NO_PROXY: direct, no_proxy: direct };
}

/** Runs a command and ignores its outcome: the process that it ends may have ended before. */
function inBackground(command: string, args: string[]): void {
	spawn(command, args, { stdio: 'ignore', windowsHide: true }).on('error', () => {});
}
