/** What a release checks first, and the checksum of its tarball, for people and for the next jobs. */
import { hash } from 'node:crypto';
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod/v4';

/** Returns what does not match of tag, version and changelog, as texts; an empty list if everything does. */
export function disagreements(version: string, tag: string, changelog: string): string[] {
	const found: string[] = [];
	if (tag !== `v${version}`)
		found.push(`The tag is ${tag}, and package.json has version ${version}: expected v${version}`);
	const [heading = 'none'] = /^## .*$/m.exec(changelog) ?? [];
	const [name, date] = heading.slice('## '.length).split(' — ');
	if (name !== version || !z.iso.date().safeParse(date).success)
		found.push(`The first section of CHANGELOG.md is “${heading}”: expected ${version} with a date`);
	return found;
}

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
