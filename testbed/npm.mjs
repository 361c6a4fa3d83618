/**
 * Runs npm for the commands that install something. It shows the progress, and fails early without a network. Plain JavaScript
 * with only Node's own modules, like `setup.mjs`.
 */
import { spawn } from 'node:child_process';

/**
 * Installs exactly what package-lock.json in `folder` says (`npm ci` with further `flags`).
 * @param count how many packages that will be, for the progress
 * @param onProgress called with a few words, often on a terminal, otherwise once per 10 %
 * @returns undefined, or the lines that say what went wrong and what to do
 */
export async function installLocked(folder, flags, count, onProgress) {
	return await install(folder, ['ci', ...flags], count, onProgress);
}

/**
 * Writes a package-lock.json for the package.json in `folder` and installs nothing.
 * @param before the date (`YYYY-MM-DD`) at which versions are chosen; undefined: now
 * @returns undefined, or the lines that say what went wrong and what to do
 */
export async function resolveLock(folder, flags, before, onProgress) {
	const date = before === undefined ? [] : [`--before=${before}`];
	return await install(folder, ['install', '--package-lock-only', ...date, ...flags], Infinity, onProgress);
}

/** npm keeps fetched packages in its cache, and takes them from there. */
const RUN_AGAIN = 'Run it again: it goes on where it stopped.';

async function install(folder, [command, ...flags], count, onProgress) {
	const [lookedUp, fetched] = [new Set(), new Set()];
	const errors = [];
	const step = process.stdout.isTTY ? 1 : Math.ceil(count / 10);
	let said;
	const say = (words) => {
		if (words !== said) onProgress((said = words));
	};
	let unreachable;
	let isAnswering = false;
	let lastAnswer = Date.now();

	say('waiting for the npm registry');
	const exitCode = await runNpm(
		[command, '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=http', ...flags],
		{ cwd: folder },
		(line, end) => {
			const refusal = /^npm http fetch GET (\S+) attempt (\d+) failed with (\w+)/.exec(line);
			const answer = /^npm http (?:fetch|cache) (?:GET \d+ )?(\S+)/.exec(line);
			if (refusal) {
				const [, address, attempt, reason] = refusal;
				say(`${originOf(address)} does not answer (${reason}), trying again`);
				const silence = Date.now() - lastAnswer;
				if (isAnswering ? silence > 60_000 : attempt !== '1' || silence > 20_000) {
					unreachable ??= `${originOf(address)} can't be reached (${reason})`;
					end();
				}
			} else if (answer) {
				isAnswering = true;
				lastAnswer = Date.now();
				const isPackage = /\.tgz\b/.test(answer[1]);
				const { size } = (isPackage ? fetched : lookedUp).add(answer[1]);
				if (count === Infinity) say('choosing versions');
				// Several entries of the lockfile may be one package.
				else if (size % step === 0) {
					say(`${isPackage ? 'fetching and unpacking' : 'looking up'} packages, ${size} of at most ${count}`);
				}
			} else if (line.startsWith('npm error')) {
				errors.push(line.replace(/^npm error ?/, ''));
			}
		},
	);
	if (exitCode === 0) return undefined;

	const code = /^code (\S+)$/m.exec(errors.join('\n'))?.[1] ?? '';
	if (/^E(?:NOTFOUND|AI_AGAIN|CONN|TIMEDOUT|HOSTUNREACH|NETUNREACH)|SOCKET_TIMEOUT|CERT/.test(code)) {
		unreachable ??= `the npm registry can't be reached (${code})`;
	}
	if (unreachable) {
		return [
			`The packages could not be fetched: ${unreachable}.`,
			'Check the network connection. A proxy, or a registry of your own, is set by',
			'  npm config set proxy <address>      npm config set registry <address>',
			RUN_AGAIN,
		];
	}
	return ['npm could not install the packages. It says:', ...errors.slice(0, 20).map((line) => `  ${line}`), RUN_AGAIN];
}

/** Runs the npm that started this script, on Windows too. */
export function runNpm(args, options, onLine) {
	const { command, before, shell } = npmCommand(process.env.npm_execpath, process.platform);
	return run(command, [...before, ...args], { shell, ...options }, onLine);
}

/**
 * How npm is started. `yarn start` and `pnpm start` set `npm_execpath` to their own program, which can't do what npm does here.
 * @param execPath npm_execpath of the environment
 */
export function npmCommand(execPath, platform) {
	if (execPath !== undefined && /(?:^|[\\/])npm-cli\.js$/.test(execPath)) {
		return { command: process.execPath, before: [execPath], shell: false };
	}
	return { command: 'npm', before: [], shell: platform === 'win32' };
}

/**
 * Whether npm installs a package of a lockfile on a system.
 * @param entry its `os`, `cpu` and `libc`: names, of which `!name` excludes; each a text or a list
 */
export function fitsSystem({ os, cpu, libc }, system = thisSystem()) {
	const fits = (wanted, own) => {
		if (wanted === undefined) return true;
		const names = [wanted].flat();
		if (names.includes(`!${own}`)) return false;
		return names.includes(own) || names.every((name) => name.startsWith('!'));
	};
	return fits(os, system.platform) && fits(cpu, system.arch) && fits(libc, system.libc);
}

/** @param platform of the system, and `report` the process's own: both as tests put them */
export function thisSystem(platform = process.platform, report = process.report) {
	// Only Linux has two C libraries, and only there is the report quick and quiet.
	if (platform !== 'linux') return { platform, arch: process.arch, libc: undefined };
	report.excludeNetwork = true;
	const isGlibc = report.getReport().header.glibcVersionRuntime !== undefined;
	return { platform, arch: process.arch, libc: isGlibc ? 'glibc' : 'musl' };
}

/**
 * Runs a command. Passes on each line of its output, with a function that ends the command at once.
 * Ctrl-C ends it, too.
 * @returns the exit code; 1 when there is none
 */
export function run(command, args, options, onLine) {
	return new Promise((resolve) => {
		const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
		const end = () => child.kill('SIGKILL');
		const interrupt = () => {
			end();
			process.exit(130);
		};
		process.once('SIGINT', interrupt);
		for (const stream of [child.stdout, child.stderr]) {
			let rest = '';
			stream.setEncoding('utf8').on('data', (text) => {
				const lines = (rest + text).split('\n');
				rest = lines.pop();
				for (const line of lines) onLine(line.trimEnd(), end);
			});
			stream.on('end', () => rest && onLine(rest, end));
		}
		const finish = (exitCode) => {
			process.off('SIGINT', interrupt);
			resolve(exitCode);
		};
		child.on('error', (error) => {
			onLine(`npm error ${command} can't be started: ${error.message}`, end);
			finish(1);
		});
		child.on('close', (exitCode) => finish(exitCode ?? 1));
	});
}

function originOf(address) {
	try {
		return new URL(address).origin;
	} catch {
		return 'the npm registry';
	}
}
