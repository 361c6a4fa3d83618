/**
 * A whole n8n of its own, apart from this repository's dependencies: which one it is stands in this folder, where
 * it is kept is `.cache/n8n`.
 */
import { execa } from 'execa';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { z } from 'zod/v4';
import { checkout } from '../checkout.mts';
import { installLocked } from '../npm.mjs';

/** An installed n8n, ready to run. */
export interface N8nHost {
	/** The Node.js to run it with; n8n needs a newer one than this repository. */
	node: string;
	/** n8n's own start file. */
	n8n: string;
}

const recipe = join(checkout, 'testbed', 'n8n');
const folder = join(checkout, '.cache', 'n8n');
const stamp = join(folder, '.installed');

/** npm has no package of this one for every platform; where it has none, the Node.js in use has to be new enough. */
const oldestNode = 24;
const nodePackages = ['linux-x64', 'linux-arm64', 'win-x64', 'bin-darwin-arm64'].map((name) => `node-${name}`);

const lockfileSchema = z.object({
	packages: z.record(
		z.string(),
		z.object({
			optional: z.boolean().optional(),
			os: z.union([z.string(), z.array(z.string())]).optional(),
			cpu: z.union([z.string(), z.array(z.string())]).optional(),
		}),
	),
});

/**
 * Installs n8n when it is not there yet (three minutes and 3 GB) and gives the way to run it.
 * @param onProgress called with a few words, often
 * @throws Error with a message for the person at the terminal
 */
export async function provideN8n(onProgress: (words: string) => void): Promise<N8nHost> {
	const lockfile = await readFile(join(recipe, 'package-lock.json'), 'utf8');
	const wanted = createHash('sha256').update(lockfile).update(`${process.platform} ${process.arch}`).digest('hex');
	const found = await readFile(stamp, 'utf8').catch(() => '');
	if (found !== wanted) {
		await mkdir(folder, { recursive: true });
		for (const file of ['package.json', 'package-lock.json']) await cp(join(recipe, file), join(folder, file));
		// The flags stand here and not in a .npmrc, because npm hands the outer project's settings down and flags win.
		const problem = await installLocked(
			folder,
			['--ignore-scripts', '--legacy-peer-deps', '--include=optional'],
			countForThisPlatform(lockfile),
			onProgress,
		);
		if (problem) throw new Error(problem.join('\n'));
		onProgress('preparing the database driver');
		await buildDatabaseDriver(findNode());
		await writeFile(stamp, wanted);
	}
	return { node: findNode(), n8n: join(folder, 'node_modules', 'n8n', 'bin', 'n8n') };
}

function countForThisPlatform(lockfile: string): number {
	const fits = (allowed: string | string[] | undefined, own: string) => allowed === undefined || [allowed].flat().includes(own);
	return Object.values(lockfileSchema.parse(JSON.parse(lockfile)).packages).filter(
		({ os, cpu }) => fits(os, process.platform) && fits(cpu, process.arch),
	).length;
}

function findNode(): string {
	const file = process.platform === 'win32' ? 'node.exe' : 'node';
	const own = nodePackages.map((name) => join(folder, 'node_modules', name, 'bin', file)).find(existsSync);
	if (own !== undefined) return own;
	if (Number.parseInt(process.versions.node, 10) >= oldestNode) return process.execPath;
	throw new Error(
		`n8n needs Node.js ${oldestNode} or later, and npm has none for ${process.platform} on ${process.arch}.\n` +
			'Install a current release from https://nodejs.org and run the command again.',
	);
}

/** The only package whose install script n8n can't do without; it fetches a binary, or compiles one. */
async function buildDatabaseDriver(node: string): Promise<void> {
	const home = dirname(dirname(node));
	const hasHeaders = existsSync(join(home, 'include', 'node', 'node_api.h'));
	const { failed, all } = await execa('npm', ['rebuild', 'sqlite3', '--ignore-scripts=false'], {
		cwd: folder,
		env: {
			PATH: `${dirname(node)}${delimiter}${process.env['PATH'] ?? ''}`,
			// Spares node-gyp a download that not every network allows.
			...(hasHeaders ? { npm_config_nodedir: home } : {}),
		},
		all: true,
		reject: false,
	});
	const binary = join(folder, 'node_modules', 'sqlite3', 'build', 'Release', 'node_sqlite3.node');
	if (!failed && existsSync(binary)) return;
	throw new Error(
		"n8n's database driver (sqlite3) could be neither fetched nor compiled. " +
			`Compiling it takes Python 3, make and a C++ compiler. npm says:\n${(all ?? '').split('\n').slice(-15).join('\n')}`,
	);
}
