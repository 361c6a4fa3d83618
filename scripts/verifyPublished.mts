/**
 * Runs n8n's scanner on a published version and reads what it prints, because it exits with 0 on a failed scan, too:
 * `npm run verify-published -- 0.1.0`. It needs the npm registry and GitHub.
 */
import { Command } from 'commander';
import { execa } from 'execa';

import { checkout, readManifest } from '../testbed/checkout.mts';
import { hasPassed, SCANNER } from './release/scannerOutput.mts';

const [version = ''] = new Command('npm run verify-published --')
	.description("Runs n8n's scanner on a published version.")
	.argument('<version>', 'like 1.2.3')
	.parse().args;
const { name } = await readManifest(checkout);
// The scanner's dependencies have their current versions. It runs separately from this repository's packages.
const scan = ['--yes', SCANNER, `${name}@${version}`];
const { all, failed } = await execa('npx', scan, { all: true, reject: false });
console.log(all);
if (failed || !hasPassed(all, name, version)) {
	console.error(`The scanner did not say that ${name}@${version} has passed.`);
	process.exitCode = 1;
}
