/**
 * Runs before every command a person types in a clone: installs the development dependencies when they are
 * missing or do not match package-lock.json, and with `--build` compiles the package when its sources changed.
 * Says nothing, and costs next to nothing, when there is nothing to do.
 *
 * Plain JavaScript with nothing but Node's own modules, because it runs before anything is installed.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const OLDEST_NODE = [20, 19];
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const installStamp = join(root, 'node_modules', '.setup', 'install');
const buildStamp = join(root, 'node_modules', '.setup', 'build');

refuseOldNode();
await installWhenNeeded();
if (process.argv.includes('--build')) await buildWhenNeeded();

function refuseOldNode() {
	const [major, minor] = process.versions.node.split('.').map(Number);
	const [oldestMajor, oldestMinor] = OLDEST_NODE;
	if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return;
	stop(
		`This repository needs Node.js ${OLDEST_NODE.join('.')} or later; this is ${process.versions.node}.`,
		'Install a current release from https://nodejs.org and run the command again.',
	);
}

async function installWhenNeeded() {
	const lockfile = readFileSync(join(root, 'package-lock.json'));
	// The platform belongs to it: a checkout shared between systems holds the other one's native binaries.
	const wanted = hash([lockfile, process.platform, process.arch]);
	if (readStamp(installStamp) === wanted) return;

	const packages = packagesForThisPlatform(JSON.parse(lockfile));
	if (readStamp(installStamp) === undefined && isInstalled(packages)) {
		writeStamp(installStamp, wanted);
		return;
	}
	await install(packages.size);
	writeStamp(installStamp, wanted);
}

/** Path in node_modules → version, of what npm installs on this platform. */
function packagesForThisPlatform(lockfile) {
	const glibc = process.report?.getReport().header.glibcVersionRuntime;
	const libc = process.platform === 'linux' ? (glibc ? 'glibc' : 'musl') : undefined;
	const fits = (allowed, own) => allowed === undefined || allowed.includes(own);
	const isNeeded = ({ optional, os, cpu, libc: libcs }) => {
		if (!optional) return true;
		// Optional without a platform: comes along with an optional package of some other platform.
		return (os || cpu) && fits(os, process.platform) && fits(cpu, process.arch) && fits(libcs, libc);
	};
	return new Map(
		Object.entries(lockfile.packages)
			.filter(([path, entry]) => path !== '' && isNeeded(entry))
			.map(([path, entry]) => [path, entry.version]),
	);
}

/** Whether an install this script did not make (`npm ci` by hand) already holds exactly these packages. */
function isInstalled(packages) {
	let installed;
	try {
		installed = JSON.parse(readFileSync(join(root, 'node_modules', '.package-lock.json'), 'utf8'));
	} catch {
		return false;
	}
	for (const [path, version] of packages) {
		if (installed.packages?.[path]?.version !== version || !existsSync(join(root, path))) return false;
	}
	return true;
}

async function install(count) {
	const progress = startProgress(`Installing ${count} development packages (once, about a minute)`);
	const fetched = new Set();
	const errors = [];
	let unreachable;
	let isAnswering = false;
	let lastAnswer = Date.now();

	const npm = runNpm(
		['ci', '--include=dev', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=http'],
		(line, end) => {
			const request = /^npm http (?:fetch|cache) (?:GET \d+ )?(\S+)/.exec(line);
			const refusal = /^npm http fetch GET (\S+) attempt (\d+) failed with (\w+)/.exec(line);
			if (refusal) {
				const [, address, attempt, reason] = refusal;
				progress.say(`${originOf(address)} does not answer (${reason}), trying again`);
				// npm alone goes on for minutes, for every package, before it says that there is no network.
				const silence = Date.now() - lastAnswer;
				if (isAnswering ? silence > 60_000 : attempt !== '1' || silence > 20_000) {
					unreachable = { origin: originOf(address), reason };
					end();
				}
			} else if (request) {
				isAnswering = true;
				lastAnswer = Date.now();
				if (!/\.tgz\b/.test(request[1])) return;
				fetched.add(request[1]);
				progress.say(
					fetched.size < count ? `${fetched.size} of ${count} fetched` : 'unpacking',
				);
			} else if (line.startsWith('npm error')) {
				errors.push(line.replace(/^npm error ?/, ''));
			}
		},
	);
	const exitCode = await npm;
	progress.end(exitCode === 0 ? 'Installed' : undefined);
	if (exitCode === 0) return;

	const networkCode = errors.join('\n').match(/^code (E(?:NOTFOUND|AI_AGAIN|CONN\w+|TIMEDOUT|HOSTUNREACH|NETUNREACH)|ERR_SOCKET_TIMEOUT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w+)$/m);
	if (networkCode) unreachable ??= { origin: 'the npm registry', reason: networkCode[1] };
	if (unreachable) {
		stop(
			`The packages could not be fetched: ${unreachable.origin} can't be reached (${unreachable.reason}).`,
			'Check the network connection. Behind a proxy or with a registry of your own, set it for npm:',
			'  npm config set proxy …    npm config set registry …    (in use: npm config get registry)',
			'Then run the command again.',
		);
	}
	stop('npm could not install the packages. It says:', ...errors.slice(0, 20).map((line) => `  ${line}`));
}

async function buildWhenNeeded() {
	const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
	const wanted = hashOfSources();
	const outputs = [...manifest.n8n.nodes, ...manifest.n8n.credentials];
	if (readStamp(buildStamp) === wanted && outputs.every((path) => existsSync(join(root, path)))) return;

	rmSync(buildStamp, { force: true });
	const progress = startProgress('Building the package');
	const output = [];
	const exitCode = await run(
		process.execPath,
		[join(root, 'node_modules', '@n8n', 'node-cli', 'bin', 'n8n-node.mjs'), 'build'],
		(line) => {
			// Without the frame and the spinner that n8n-node draws around the compiler's output.
			const text = line.replace(/^[^\w\s]+\s*,?/u, '');
			if (!line.includes('\x1b') && text && !text.startsWith('npm warn')) output.push(text);
		},
	);
	progress.end(exitCode === 0 ? 'Built' : undefined);
	if (exitCode !== 0) stop('The package does not build:', ...output.map((line) => `  ${line}`));
	writeStamp(buildStamp, wanted);
}

/** Everything that decides what `dist` holds. */
function hashOfSources() {
	const parts = [];
	const add = (path) => parts.push(path, readFileSync(join(root, path)));
	for (const path of ['package.json', 'package-lock.json', 'tsconfig.json']) add(path);
	for (const folder of ['credentials', 'icons', 'nodes']) {
		if (existsSync(join(root, folder))) filesUnder(folder).forEach(add);
	}
	return hash(parts);
}

function filesUnder(folder) {
	return readdirSync(join(root, folder), { withFileTypes: true })
		.sort((a, b) => (a.name < b.name ? -1 : 1))
		.flatMap((entry) => {
			const path = `${folder}/${entry.name}`;
			return entry.isDirectory() ? filesUnder(path) : [path];
		});
}

/** Runs npm by the path npm itself gives to its scripts, so that it is the same npm, on Windows too. */
function runNpm(args, onLine) {
	const own = process.env.npm_execpath;
	if (own?.endsWith('.js')) return run(process.execPath, [own, ...args], onLine);
	return run('npm', args, onLine, { shell: process.platform === 'win32' });
}

/** Runs a command in the checkout, hands each line of its output on, and resolves with its exit code. */
function run(command, args, onLine, options = {}) {
	return new Promise((resolve) => {
		const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], ...options });
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

/** One line that is rewritten on a terminal; where there is none, a line now and then. */
function startProgress(title) {
	const { stderr } = process;
	const began = Date.now();
	const seconds = () => `${Math.round((Date.now() - began) / 1000)} s`;
	let detail = '';
	const show = () => {
		const text = `${title}${detail && `: ${detail}`} … ${seconds()}`;
		stderr.write(stderr.isTTY ? `\r\x1b[K${text.slice(0, stderr.columns - 1)}` : `${text}\n`);
	};
	if (stderr.isTTY) show();
	else stderr.write(`${title} …\n`);
	const timer = setInterval(show, stderr.isTTY ? 250 : 15_000);
	return {
		say: (text) => {
			detail = text;
		},
		end: (result) => {
			clearInterval(timer);
			if (stderr.isTTY) stderr.write('\r\x1b[K');
			if (result) stderr.write(`${result} in ${seconds()}.\n`);
		},
	};
}

function originOf(address) {
	try {
		return new URL(address).origin;
	} catch {
		return 'the npm registry';
	}
}

function hash(parts) {
	const sum = createHash('sha256');
	for (const part of parts) sum.update(part).update('\0');
	return sum.digest('hex');
}

function readStamp(path) {
	try {
		return readFileSync(path, 'utf8');
	} catch {
		return undefined;
	}
}

function writeStamp(path, text) {
	mkdirSync(dirname(path), { recursive: true });
	writeFileSync(path, text);
}

function stop(...lines) {
	process.stderr.write(`\n${lines.join('\n')}\n`);
	process.exit(1);
}
