/** What differs between systems when processes are started and ended: process trees and environments. It starts no n8n. */
import { spawn } from 'node:child_process';

/**
 * Sends a signal to a process and all processes that it started. Windows has no such signals: there, all of them end at once,
 * without cleanup.
 * @param pid of a process that leads its own process group (`detached`), except on Windows
 */
export function signalTree(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
	if (process.platform === 'win32') {
		const command = spawn('taskkill', ['/PID', String(pid), '/T', '/F'], { stdio: 'ignore', windowsHide: true });
		// The process may have ended before.
		command.on('error', () => {});
		return;
	}
	try {
		process.kill(-pid, signal);
	} catch {
		// The process has already ended.
	}
}

const KEPT = [
	...['HOME', 'TMPDIR', 'LANG', 'LC_ALL', 'TZ'],
	// Without these, Windows starts no shell, finds no program and no folder for data.
	...['USERPROFILE', 'SystemRoot', 'SystemDrive', 'TEMP', 'TMP', 'ComSpec', 'PATHEXT', 'APPDATA', 'LOCALAPPDATA'],
	...['NODE_EXTRA_CA_CERTS', 'NODE_USE_SYSTEM_CA', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
];
const PROXIES = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'].flatMap((name) => [name, name.toLowerCase()]);

/**
 * Returns the part of an environment that every child gets: folders, language, certificates, proxies. It leaves out
 * personal settings for n8n and databases. If a proxy is set, this machine's own addresses bypass it.
 */
export function keptEnvironment(environment: NodeJS.ProcessEnv): Record<string, string> {
	const kept: Record<string, string> = {};
	for (const name of [...KEPT, ...PROXIES, 'NO_PROXY', 'no_proxy']) {
		const value = environment[name];
		if (value !== undefined) kept[name] = value;
	}
	if (!PROXIES.some((name) => name in kept)) return kept;
	const direct = [kept['NO_PROXY'] ?? kept['no_proxy'], '127.0.0.1', 'localhost'].filter(Boolean).join(',');
	return { ...kept, NO_PROXY: direct, no_proxy: direct };
}
