/**
 * Compares two packs of a checkout. Two packs of one commit have the same bytes with the same Node.js, and the same
 * content with another one: only the compression differs. It builds nothing.
 */
import { createHash } from 'node:crypto';
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';

export { packTo, packVersion } from '../../testbed/pack.mts';

/** Returns a file's SHA-256 in hex. */
export async function checksumOf(file: string): Promise<string> {
	return createHash('sha256')
		.update(await readFile(file))
		.digest('hex');
}

/** Writes and returns the tarball's checksum, as sha256sum does, and on GitHub its name and checksum for later jobs. */
export async function keepChecksum(tarball: string): Promise<string> {
	const [file, checksum] = [basename(tarball), await checksumOf(tarball)];
	const line = `${checksum}  ${file}\n`;
	await writeFile(join(dirname(tarball), 'SHA256SUMS'), line);
	const { GITHUB_OUTPUT: output = '' } = process.env;
	if (output !== '') await appendFile(output, `file=${file}\nchecksum=${checksum}\n`);
	return line;
}

/** Returns `bytes` if both files are the same, `content` if they have the same archive, and otherwise `nothing`. */
export async function sameness(one: string, other: string): Promise<'bytes' | 'content' | 'nothing'> {
	const [first, second] = await Promise.all([readFile(one), readFile(other)]);
	if (first.equals(second)) return 'bytes';
	return gunzipSync(first).equals(gunzipSync(second)) ? 'content' : 'nothing';
}

/** Returns the paths of files that only one of two tarballs has, or that differ. */
export async function differingFiles(one: string, other: string): Promise<string[]> {
	const [first, second] = [entriesOf(gunzipSync(await readFile(one))), entriesOf(gunzipSync(await readFile(other)))];
	return [...new Set([...first.keys(), ...second.keys()])]
		.filter((path) => first.get(path) !== second.get(path))
		.sort();
}

/** Path → header and content, of a tar archive as npm writes it (ustar, no extended headers). */
function entriesOf(archive: Buffer): Map<string, string> {
	const entries = new Map<string, string>();
	const text = (from: number, length: number) =>
		archive.toString('latin1', from, from + length).split('\0', 1)[0] ?? '';
	for (let at = 0; at + 512 <= archive.length && archive[at] !== 0; ) {
		const path = [text(at + 345, 155), text(at, 100)].filter(Boolean).join('/');
		const blocks = Math.ceil(Number.parseInt(text(at + 124, 12), 8) / 512);
		const end = at + 512 + blocks * 512;
		entries.set(path, archive.toString('latin1', at, end));
		at = end;
	}
	return entries;
}
