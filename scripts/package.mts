/** `npm run package`: packs the built package into the checkout, with a name that says which commit it was built from. */
import { basename } from 'node:path';

import { checkout } from '../testbed/checkout.mts';
import { packVersion } from '../testbed/pack.mts';
import { buildVersion } from './release/buildVersion.mts';
import { checksumOf } from './release/tarball.mts';

try {
	const version = await buildVersion(checkout);
	const tarball = await packVersion(checkout, version);
	// As sha256sum prints it.
	console.log(`\n${await checksumOf(tarball)}  ${basename(tarball)}\n`);
	if (version.endsWith('.dirty')) console.log('The clone has changes that are not committed.');
	console.log('Next: copy this file to the machine that runs n8n, and install it there (docs/upgrade.md).');
} catch (error) {
	console.error(error instanceof Error ? error.message : error);
	process.exitCode = 1;
}
