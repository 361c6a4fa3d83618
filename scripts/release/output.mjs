/**
 * Passes the tarball's name and checksum to later jobs of a workflow: writes `file=…` and `checksum=…` to $GITHUB_OUTPUT, or to the
 * terminal if it is not set.
 *
 *     node scripts/release/output.mjs <SHA256SUMS>
 */
import { appendFileSync, readFileSync } from 'node:fs';

const [, checksum, file] =
	/^([0-9a-f]{64}) {2}([\w.-]+\.tgz)\n$/.exec(readFileSync(process.argv[2] ?? '', 'utf8')) ?? [];
if (file === undefined) {
	console.error(`${process.argv[2]} does not hold one checksum and one tarball's name.`);
	process.exit(1);
}
const lines = `file=${file}\nchecksum=${checksum}\n`;
if (process.env.GITHUB_OUTPUT) appendFileSync(process.env.GITHUB_OUTPUT, lines);
process.stdout.write(lines);
