import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod/v4';
import { checkout } from './checkout.mts';
import { removing } from './removing.mts';

const execute = promisify(execFile);
const packedSchema = z.tuple([z.object({ filename: z.string() })]);
const manifestSchema = z.record(z.string(), z.unknown());

/** Runs npm in a folder, and returns what it prints. */
async function npm(folder: string, ...args: string[]): Promise<string> {
	// On Windows, npm is a script that needs a shell.
	return (await execute('npm', args, { cwd: folder, shell: process.platform === 'win32' })).stdout;
}

/**
 * Packs the built package in `source` as publishing would, into `folder`, and returns the tarball's path. It doesn't build:
 * `scripts/setup.mjs --build` does.
 */
export async function packTo(folder: string, source: string): Promise<string> {
	await mkdir(folder, { recursive: true });
	const printed = await npm(source, 'pack', '--json', '--ignore-scripts', '--pack-destination', folder);
	const [{ filename }] = packedSchema.parse(JSON.parse(printed));
	return join(folder, basename(filename));
}

/**
 * Packs the built package in `source` into `folder`, with `version` in the tarball's package.json, and returns the tarball's path. The
 * package.json in `source` keeps its version. Files get the same mode everywhere, because a tarball contains it.
 */
export async function packVersion(folder: string, version: string, source = checkout): Promise<string> {
	return await inTemporaryFolder(async (temporary) => {
		const staged = join(temporary, 'package');
		await packInto(staged, source);
		const file = join(staged, 'package.json');
		const manifest = manifestSchema.parse(JSON.parse(await readFile(file, 'utf8')));
		await writeFile(file, `${JSON.stringify({ ...manifest, version }, undefined, 2)}\n`);
		for (const entry of await readdir(staged, { recursive: true, withFileTypes: true })) {
			if (entry.isFile()) await chmod(join(entry.parentPath, entry.name), 0o644);
		}
		return await packTo(folder, staged);
	});
}

/** Packs the built package in `source`, empties `folder` and unpacks the package there. */
export async function packInto(folder: string, source = checkout): Promise<void> {
	await inTemporaryFolder(async (temporary) => await unpack(await packTo(temporary, source), folder));
}

/** Empties `folder` and unpacks a tarball there. */
export async function unpack(tarball: string, folder: string): Promise<void> {
	await rm(folder, removing);
	await mkdir(folder, { recursive: true });
	const flags = ['-xzf', basename(tarball), '--strip-components=1', '-C', folder];
	await execute('tar', flags, { cwd: dirname(tarball) });
}

/** Runs `work` with a temporary folder, which is removed afterwards. */
export async function inTemporaryFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
	const temporary = await mkdtemp(join(tmpdir(), 'packed-'));
	return await work(temporary).finally(async () => await rm(temporary, removing));
}
