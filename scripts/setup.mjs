/**
 * Runs before every npm command of a clone. It installs the development dependencies if they are missing or do not match
 * package-lock.json. With `--build`, it compiles the package if its sources changed; with `--build --always`, each time: `dist` may have
 * been changed by hand. Otherwise it prints nothing and is fast.
 *
 * Plain JavaScript with nothing but Node's own modules, because it runs before anything is installed.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fitsSystem, installLocked, run, thisSystem } from '../testbed/npm.mjs';

const OLDEST_NODE = [20, 19];
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const installStamp = join(root, 'node_modules', '.setup', 'install');
const buildStamp = join(root, 'node_modules', '.setup', 'build');

refuseOldNode();
await installWhenNeeded();
if (process.argv.includes('--always')) rmSync(buildStamp, { force: true });
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
	// The platform is part of it: a checkout shared between systems may have native binaries of the other one.
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

/** Returns path in node_modules → version, for the packages that npm installs on this platform. */
function packagesForThisPlatform(lockfile) {
	const system = thisSystem();
	const isNeeded = (entry) => {
		if (!entry.optional) return true;
		// Optional without a platform: a dependency of an optional package for another platform.
		return (entry.os || entry.cpu) && fitsSystem(entry, system);
	};
	return new Map(
		Object.entries(lockfile.packages)
			.filter(([path, entry]) => path !== '' && isNeeded(entry))
			.map(([path, entry]) => [path, entry.version]),
	);
}

/** Whether another install (like a manual `npm ci`) already has exactly these packages. */
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
	const problem = await installLocked(root, ['--include=dev'], count, progress.say);
	progress.end(problem ? undefined : 'Installed');
	if (problem) stop(...problem);
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
		{ cwd: root },
		(line) => {
			// Without n8n-node's frame and spinner around the compiler's output.
			const text = line.replace(/^[^\w\s]+\s*,?/u, '');
			if (!line.includes('\x1b') && text && !text.startsWith('npm warn')) output.push(text);
		},
	);
	progress.end(exitCode === 0 ? 'Built' : undefined);
	if (exitCode !== 0) stop('The package does not build:', ...output.map((line) => `  ${line}`));
	writeStamp(buildStamp, wanted);
}

/** All files that the content of `dist` depends on. */
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

/** Shows the progress in one line of the terminal; without a terminal, in a line for each step. */
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
	const timer = stderr.isTTY ? setInterval(show, 250) : undefined;
	return {
		say: (text) => {
			detail = text;
			if (!stderr.isTTY) show();
		},
		end: (result) => {
			clearInterval(timer);
			if (stderr.isTTY) stderr.write('\r\x1b[K');
			if (result) stderr.write(`${result} in ${seconds()}.\n`);
		},
	};
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
