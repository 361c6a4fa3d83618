import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod/v4';

import { checkout } from '../../testbed/checkout.mts';
import { NEWEST, OLDEST, pinnedVersion } from '../../testbed/n8n/versions.mts';

it('README and package.json claim the oldest version that is run, and the table has the versions that are', async () => {
	const readme = readFileSync(join(checkout, 'README.md'), 'utf8');
	const { engines } = z
		.object({ engines: z.object({ n8n: z.string() }) })
		.parse(JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8')));
	expect(engines.n8n).toBe(`>=${OLDEST}`);
	expect(readme).toContain(`n8n ${OLDEST} and later`);
	const rows = [...readme.matchAll(/^\| (\d+\.\d+\.\d+) +\| (\d{4}-\d{2}-\d{2}) +\|/gm)];
	expect(rows.map(([, version]) => version)).toEqual([OLDEST, await pinnedVersion(), NEWEST]);
});
