import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { checkout, readManifest } from './checkout.mts';
import { removing } from './removing.mts';

/**
 * Packs the built package exactly as publishing would, empties `folder` and unpacks the package there. It doesn't build:
 * `scripts/setup.mjs --build` does.
 */
export async function packInto(folder: string): Promise<void> {
	const { name, version } = await readManifest(checkout);
	const temporary = await mkdtemp(join(tmpdir(), 'packed-'));
	try {
		await execa('npm', ['pack', '--silent', '--pack-destination', temporary], { cwd: checkout });
		await rm(folder, removing);
		await mkdir(folder, { recursive: true });
		await execa('tar', ['-xzf', `${name}-${version}.tgz`, '--strip-components=1', '-C', folder], {
			cwd: temporary,
		});
	} finally {
		await rm(temporary, removing);
	}
}

/** Runs `work` with the unpacked package in a temporary folder, which is removed afterwards. */
export async function withPackedPackage<T>(work: (folder: string) => Promise<T>): Promise<T> {
	const temporary = await mkdtemp(join(tmpdir(), 'unpacked-'));
	try {
		const folder = join(temporary, 'package');
		await packInto(folder);
		return await work(folder);
	} finally {
		await rm(temporary, removing);
	}
}
