/**
 * Runs before every npm command of a clone. It installs the development dependencies if package-lock.json is newer than the last
 * install. With `--build`, it compiles the package if a source is newer than the last build; with `--build --always`, each time:
 * `dist` may have been changed by hand. Otherwise it prints nothing and is fast.
 *
 * Plain JavaScript with nothing but Node's own modules, because it runs before anything is installed.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** What a build depends on. */
const SOURCES = ['package.json', 'package-lock.json', 'tsconfig.json', 'credentials', 'icons', 'nodes'];

process.chdir(dirname(dirname(fileURLToPath(import.meta.url))));
refuseOldNode();
if (mustInstall()) await install();
if (mustBuild()) await build();

function refuseOldNode() {
	const [major, minor] = process.versions.node.split('.').map(Number);
	if (major > 20 || (major === 20 && minor >= 19)) return;
	stop(
		`This repository needs Node.js 20.19 or later; this is ${process.versions.node}.`,
		'Install a current release from https://nodejs.org and run the command again.',
	);
}

/** npm writes its own lockfile at the end of an install, and removes it at the beginning. */
function mustInstall() {
	return changedAt('package-lock.json') > changedAt('node_modules/.package-lock.json');
}

function mustBuild() {
	if (!process.argv.includes('--build')) return false;
	if (process.argv.includes('--always')) return true;
	const { n8n } = JSON.parse(readFileSync('package.json', 'utf8'));
	const isComplete = [...n8n.nodes, ...n8n.credentials].every((path) => existsSync(path));
	return !isComplete || Math.max(...SOURCES.map(newest)) > changedAt('node_modules/.built');
}

async function install() {
	process.stderr.write('Installing the development packages (once, about a minute) …\n');
	// Standard output is for the command's result. Warnings are about other versions of Node.js, which don't matter here.
	const flags = ['--include=dev', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];
	// On Windows, npm is a script that needs a shell.
	const npm = spawn('npm', ['ci', ...flags], { stdio: ['ignore', 2, 2], shell: process.platform === 'win32' });
	const [exitCode] = await once(npm, 'close').catch(() => [1]);
	if (exitCode !== 0) stop('npm could not install the packages. Run it again: it keeps what it has fetched.');
}

async function build() {
	process.stderr.write('Building the package …\n');
	const began = new Date();
	rmSync('node_modules/.built', { force: true });
	const program = ['node_modules/@n8n/node-cli/bin/n8n-node.mjs', 'build'];
	await promisify(execFile)(process.execPath, program).catch(({ stdout, stderr }) => {
		stop('The package does not build:', stdout, stderr);
	});
	writeFileSync('node_modules/.built', '');
	// A source that changed during the build is newer.
	utimesSync('node_modules/.built', began, began);
}

/** The latest change of a file, or of anything in a folder. A folder changes when a file is added or removed. */
function newest(path) {
	if (!statSync(path).isDirectory()) return changedAt(path);
	return Math.max(changedAt(path), ...readdirSync(path).map((name) => newest(join(path, name))));
}

function changedAt(path) {
	return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function stop(...lines) {
	process.stderr.write(`\n${lines.join('\n')}\n`);
	process.exit(1);
}
