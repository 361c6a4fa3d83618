import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod/v4';

import { checkout } from '../../testbed/checkout.mts';
import { hasLostParent, keptEnvironment, signalTree, type System } from '../../testbed/processes.mts';
import { removing } from '../../testbed/removing.mts';

/** A system with only the given properties. */
function systemOf(platform: NodeJS.Platform, ppid: number, kill: System['kill']): System {
	return { platform, ppid, kill };
}

const ended = Object.assign(new Error('kill ESRCH'), { code: 'ESRCH' });
const forbidden = Object.assign(new Error('kill EPERM'), { code: 'EPERM' });
const fails = (error: Error) => () => {
	throw error;
};

describe('ends a process tree', () => {
	it('on Windows with taskkill and all children', () => {
		const ran: unknown[] = [];
		const system = systemOf('win32', 1, fails(new Error('no signal is sent')));
		signalTree(4711, 'SIGTERM', system, (...command) => ran.push(command));
		expect(ran).toEqual([['taskkill', ['/PID', '4711', '/T', '/F']]]);
	});

	it.each(['linux', 'darwin'] as const)('on %s by its process group, with the signal as given', (platform) => {
		const sent: unknown[] = [];
		const system = systemOf(platform, 1, (...signal) => {
			sent.push(signal);
			return true;
		});
		signalTree(4711, 'SIGTERM', system, fails(new Error('no command is run')));
		expect(sent).toEqual([[-4711, 'SIGTERM']]);
	});

	it('also where it has ended already', () => {
		expect(() => signalTree(4711, 'SIGKILL', systemOf('linux', 1, fails(ended)))).not.toThrow();
	});
});

describe('notices that its parent has ended', () => {
	it.each<[string, System, boolean]>([
		['Linux, another parent', systemOf('linux', 1, () => true), true],
		['Linux, the same parent', systemOf('linux', 4711, () => true), false],
		['Windows, the number is free', systemOf('win32', 4711, fails(ended)), true],
		['Windows, the parent runs', systemOf('win32', 4711, () => true), false],
		['Windows, the parent is another user’s', systemOf('win32', 4711, fails(forbidden)), false],
	])('%s', (_, system, isLost) => {
		expect(hasLostParent(4711, system)).toBe(isLost);
	});
});

describe('the environment of children', () => {
	it('has what Windows needs to start a shell, and no settings of n8n or databases', () => {
		const windows = {
			...{ ComSpec: 'C:\\Windows\\System32\\cmd.exe', PATHEXT: '.EXE;.CMD', SystemDrive: 'C:' },
			...{ APPDATA: 'C:\\roaming', LOCALAPPDATA: 'C:\\local', NODE_EXTRA_CA_CERTS: 'C:\\ca.pem' },
		};
		expect(keptEnvironment({ ...windows, N8N_PORT: '1', DB_TYPE: 'x', NODE_OPTIONS: '--inspect' })).toEqual(windows);
	});

	it.each([
		[{ HTTPS_PROXY: 'http://proxy:8080' }, '127.0.0.1,localhost'],
		[{ http_proxy: 'http://proxy:8080', NO_PROXY: '.example.com' }, '.example.com,127.0.0.1,localhost'],
	])('keeps proxies, and bypasses them for this machine: %j', (environment, direct) => {
		expect(keptEnvironment(environment)).toEqual({ ...environment, NO_PROXY: direct, no_proxy: direct });
	});
});

it('takes a Node.js binary only after it has printed its version, as one for another C library does not', () => {
	const folder = mkdtempSync(join(tmpdir(), 'node-'));
	try {
		const broken = join(folder, 'node');
		writeFileSync(broken, 'no program of this system', { mode: 0o755 });
		const host = pathToFileURL(join(checkout, 'testbed', 'n8n', 'host.mts')).href;
		const script = `import { versionOf } from ${JSON.stringify(host)};
			const found = [await versionOf(${JSON.stringify(broken)}), await versionOf(process.execPath)];
			console.log(JSON.stringify(found.map((version) => version ?? null)));`;
		const flags = ['--import', 'tsx', '--input-type=module', '-e', script];
		const output = execFileSync(process.execPath, flags, { cwd: checkout, encoding: 'utf8' });
		expect(JSON.parse(output)).toEqual([null, process.versions.node]);
	} finally {
		rmSync(folder, removing);
	}
});

/** jest loads no .mjs files, so these functions run in a process that prints what they return. */
function inNode(code: string): unknown {
	const file = pathToFileURL(join(checkout, 'testbed', 'npm.mjs')).href;
	const script = `import { fitsSystem, npmCommand, thisSystem } from ${JSON.stringify(file)}; console.log(JSON.stringify(${code}))`;
	return JSON.parse(execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }));
}

it('starts the npm that started it, and the one of the path under yarn and pnpm', () => {
	const paths = ['/usr/lib/npm/bin/npm-cli.js', 'C:\\npm\\bin\\npm-cli.js', '/opt/yarn/bin/yarn.js', '/x/pnpm.cjs'];
	const commands = inNode(`${JSON.stringify(paths)}.map((path) => npmCommand(path, 'win32'))`);
	const parsed = z.array(z.object({ before: z.array(z.string()), shell: z.boolean() })).parse(commands);
	expect(parsed.map(({ before, shell }) => [...before, shell])).toEqual([
		[paths[0], false],
		[paths[1], false],
		[true],
		[true],
	]);
});

it('asks for the C library on Linux only', () => {
	const asked = `(() => { let count = 0; const report = { getReport: () => (count++, { header: {} }) };
		return ['win32', 'darwin', 'linux'].map((platform) => [thisSystem(platform, report).libc ?? null, count]); })()`;
	expect(inNode(asked)).toEqual([
		[null, 0],
		[null, 0],
		['musl', 1],
	]);
});

it('knows which packages npm installs on a system', () => {
	const alpine = "{ platform: 'linux', arch: 'x64', libc: 'musl' }";
	const entries = [
		...[{}, { os: ['linux'], cpu: ['x64'] }, { libc: ['musl'] }, { os: ['!win32'] }],
		...[{ libc: ['glibc'] }, { os: ['!linux'] }, { os: 'darwin' }, { cpu: ['arm64'] }],
	];
	const fitting = inNode(`${JSON.stringify(entries)}.map((entry) => fitsSystem(entry, ${alpine}))`);
	expect(fitting).toEqual([true, true, true, true, false, false, false, false]);
});
