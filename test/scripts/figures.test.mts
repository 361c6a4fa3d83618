import { readPage } from '../../testbed/pages.mts';
import { fleetFigures, performanceFigures } from '../../scripts/figures.mts';

// A measurement takes up to twenty minutes: it must not fail when it writes.
test.each(['docs/maintainers/benchmark.md', 'docs/large-fleets.md'])(
	'%s has one place for measured figures',
	(page) => {
		expect(readPage(page).split('<!-- figures -->')).toHaveLength(2);
		expect(readPage(page).split('<!-- end of figures -->')).toHaveLength(2);
	},
);

test('the figures that the charts are drawn from can be read', async () => {
	const { lists, polls } = await performanceFigures.read();
	const { runs } = await fleetFigures.read();
	expect([lists.length, polls.length, runs.length].filter((count) => count === 0)).toEqual([]);
});
