import { checkout, readManifest } from '../../testbed/checkout.mts';
import { NEWEST, OLDEST, pinnedVersion } from '../../testbed/n8n/versions.mts';
import { readPage } from '../../testbed/pages.mts';

it('README and package.json claim the oldest version that is run, and the table of versions has those that are', async () => {
	const page = readPage('docs/upgrade.md');
	expect(await readManifest(checkout)).toMatchObject({ engines: { n8n: `>=${OLDEST}` } });
	for (const text of [readPage('README.md'), page]) expect(text).toMatch(`${OLDEST} or later`);
	const rows = [...page.matchAll(/^\| (\d+\.\d+\.\d+) +\| (\d{4}-\d{2}-\d{2}) +\|/gm)];
	expect(rows.map(([, version]) => version)).toEqual([OLDEST, await pinnedVersion(), NEWEST]);
});
