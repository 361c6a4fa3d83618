/** The checksum of a tarball, for people and for the next jobs of the release. */
import { hash } from 'node:crypto';
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

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
