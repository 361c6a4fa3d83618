/**
 * Compares two packs of a checkout. Two packs of one commit have the same bytes with the same Node.js, and the same
 * content with another one: only the compression differs. It builds nothing.
 */
import { hash } from 'node:crypto';
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';

import { npm } from '../../testbed/pack.mts';

/** Returns a file's SHA-256 in hex. */
export async function checksumOf(file: string): Promise<string> {
	return hash('sha256', await readFile(file));
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
	const printed = await npm('.', 'diff', `--diff=${one}`, `--diff=${other}`, '--diff-name-only');
	return printed.split(/\r?\n/).filter(Boolean);
}
