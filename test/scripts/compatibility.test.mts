import { checkout, readManifest } from '../../testbed/checkout.mts';
import { NEWEST, OLDEST, pinnedVersion } from '../../testbed/n8n/versions.mts';
import { readPage } from '../../testbed/pages.mts';

it('README and package.json claim the oldest version that is run, and the table has the versions that are', async () => {
	const readme = readPage('README.md');
	expect(await readManifest(checkout)).toMatchObject({ engines: { n8n: `>=${OLDEST}` } });
	expect(readme).toContain(`n8n ${OLDEST} and later`);
	const rows = [...readme.matchAll(/^\| (\d+\.\d+\.\d+) +\| (\d{4}-\d{2}-\d{2}) +\|/gm)];
	expect(rows.map(([, version]) => version)).toEqual([OLDEST, await pinnedVersion(), NEWEST]);
});
