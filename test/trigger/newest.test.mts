import { Fleet } from '../../testbed/platform/fleet.mts';
import type { Settings } from '../../testbed/platform/settings.mts';
import { HOUR, LATER, snsOf, useTrigger } from '../../testbed/trigger/watching.mts';

const { bench, clock, fleet, watch, add, change, remove, asked, warnings } = useTrigger();

const BOTH = { events: ['deviceCreated', 'deviceUpdated'] };
const WHOLE = 'size=1000&sort=id asc';
const CREATED = 'size=100&sort=createTime desc';
const UPDATED = 'size=100&sort=updateTime desc';
const [OLDEST_CREATED, OLDEST_UPDATED] = ['size=1&sort=createTime asc', 'size=1&sort=updateTime asc'];

async function pollOf(watching: Awaited<ReturnType<typeof watch>>) {
	bench.platform.forget();
	return [snsOf(await watching.poll()).sort(), asked()];
}

it('a quiet poll asks for the newest devices, after a whole list also for the oldest, and once an hour for all of them', async () => {
	const watching = await watch(BOTH);
	for (let hour = 0; hour < 2; hour++) {
		expect(await pollOf(watching)).toEqual([[], [CREATED, OLDEST_CREATED, UPDATED, OLDEST_UPDATED]]);
		expect(await pollOf(watching)).toEqual([[], [CREATED, UPDATED]]);
		clock.now += HOUR;
		expect(await pollOf(watching)).toEqual([[], [WHOLE]]);
	}
});

it('finds a new and an edited device on these pages, and more of them in the whole list', async () => {
	const watching = await watch(BOTH);
	await watching.poll();
	const few = [add({ createTime: LATER }), change(7, { updateTime: LATER })].sort();
	expect(await pollOf(watching)).toEqual([few, [CREATED, UPDATED]]);
	const many = Array.from({ length: 150 }, () => add({ createTime: LATER })).sort();
	expect(await pollOf(watching)).toEqual([many, [CREATED, WHOLE]]);
});

it('reports edits of a storm that have the time of edits before the last poll', async () => {
	bench.platform.fleet = Fleet.seeded({ size: 1400, seed: 7 });
	const watching = await watch({ events: ['deviceUpdated'] });
	const edit = (from: number, to: number, updateTime: string) => {
		for (const { sn } of fleet().devices.slice(from, to)) fleet().update(sn, { updateTime });
	};
	edit(500, 1000, LATER);
	expect(await watching.poll()).toHaveLength(500);
	edit(1000, 1300, LATER);
	edit(0, 500, '2026-10-01 00:00:01');
	expect(await watching.poll()).toHaveLength(800);
});

it('reads the whole list if its total does not agree: an older device began to match the filters', async () => {
	const watching = await watch({ events: ['deviceCreated'], filters: { tags: 'pilot' } });
	const [older] = fleet()
		.devices.filter(({ tags }) => !tags.includes('pilot'))
		.slice(-1);
	fleet().update(older?.sn ?? '', { tags: ['pilot'] });
	expect((await pollOf(watching))[1]).toEqual([expect.any(String), 'tags=pilot&size=1000&sort=id asc']);
});

it.each<Partial<Settings>>([{ sorting: 'refused' }, { sorting: 'ignored' }, { missingValues: 'largest' }])(
	'reads the whole list where the platform does not sort so: %j',
	async (settings) => {
		Object.assign(bench.platform.settings, settings);
		fleet().reorder((devices) => [...devices].sort((one, other) => (one.sn < other.sn ? -1 : 1)));
		const watching = await watch({ events: ['deviceUpdated'] });
		for (let round = 0; round < 2; round++) {
			const sn = change(30 + round, { updateTime: LATER });
			expect((await pollOf(watching))[0]).toEqual([sn]);
		}
	},
);

it('of new devices in a filter, reports those that were created since the first poll', async () => {
	const watching = await watch({ events: ['deviceCreated'], filters: { tags: 'some' } });
	add({ createTime: '2020-01-01 00:00:00', tags: ['some'] });
	const fresh = add({ createTime: '2026-11-01 00:00:01', tags: ['some'] });
	const odd = add({ createTime: 'N/A', tags: ['some'] });
	clock.now += HOUR;
	expect((await pollOf(watching))[0]).toEqual([fresh, odd].sort());
});

it('a device that was deleted and added again is new, also beside one that is dated in the future', async () => {
	const watching = await watch({ events: ['deviceCreated'] });
	add({ createTime: '2099-01-01 00:00:00' });
	await watching.poll();
	const sn = remove(3);
	expect(await watching.poll()).toBeNull();
	add({ sn, createTime: '2026-11-01 00:00:00' });
	expect(snsOf(await watching.poll())).toEqual([sn]);
});

it.each([
	['is no event', [], false],
	['is the same event again, after its removal was reported', ['deviceRemoved'], true],
])('a device that was deleted and added again with its old date %s', async (_, more, isTold) => {
	const watching = await watch({ events: ['deviceCreated', ...more] });
	const created = fleet().make({ createTime: LATER });
	fleet().add(created);
	const [first] = (await watching.poll()) ?? [];
	fleet().remove(created.sn);
	await watching.poll();
	clock.now += HOUR;
	await watching.poll();
	fleet().add(created);
	const again = (await watching.poll()) ?? [];
	expect(again.map(({ eventId }) => eventId)).toEqual(isTold ? [first?.['eventId']] : []);
});

it.each<[string, dates: string[]]>([
	['is empty', []],
	['has no dates', ['1970-01-01 00:00:00']],
])('if the first list %s, a device is new that is dated since yesterday, or without a date', async (_, known) => {
	const [device] = fleet().devices;
	const make = (createTime: string | null, id: number) => Object({ ...device, id: `${id}`, sn: `S${id}`, createTime });
	bench.platform.fleet = new Fleet(known.map((date) => make(date, 9)));
	const watching = await watch({ events: ['deviceCreated'] });
	const dates = ['2026-10-30 23:59:59', '2026-10-31 00:00:00', '2099-01-01 00:00:00', null];
	for (const [index, createTime] of dates.entries()) fleet().add(make(createTime, index));
	expect(snsOf(await watching.poll()).sort()).toEqual(['S1', 'S2', 'S3']);
});

it('says once in the log that a list ends at exactly 10,000 devices, so that the platform may hide others', async () => {
	bench.platform.fleet = new Fleet(
		Array.from({ length: 9_999 }, (_, index) => ({ ...fleet().at(0), id: `${index}`, sn: `S${index}` })),
	);
	const watching = await watch({ events: ['deviceRemoved'] });
	expect(warnings()).toEqual([]);
	fleet().add(fleet().make());
	for (let poll = 0; poll < 2; poll++) await watching.poll();
	expect(warnings()).toEqual([expect.stringContaining('the list ends at exactly 10,000')]);
});

it('of two devices with one serial number, does not take the newer one for an edit of the other', async () => {
	add(Object({ sn: 1001 }));
	add({ sn: '1001', updateTime: LATER });
	const watching = await watch({ events: ['deviceUpdated'] });
	for (let poll = 0; poll < 3; poll++) expect(await pollOf(watching)).toEqual([[], [WHOLE]]);
});

describe('behind more than a hundred newer devices, reports at once', () => {
	const addMany = () => Array.from({ length: 150 }, () => add({ createTime: '2026-11-01 00:00:00', group: mine() }));
	const mine = () => ({ ...fleet().at(0).group, id: 'mine', name: 'Mine' });
	const before = '2026-10-31 00:00:00';

	it.each([
		['a device that the platform lists late', {}],
		["a device that begins to match the node's own filters", { group: 'Mine' }],
	])('%s', async (_, filters) => {
		const watching = await watch({ events: ['deviceCreated'], filters });
		const outside = 'group' in filters ? add({ createTime: before }) : undefined;
		addMany();
		for (const count of [150, 0]) expect(snsOf(await watching.poll())).toHaveLength(count);
		const late = outside ? fleet().update(outside, { group: mine() }).sn : add({ createTime: before }, 99);
		expect(snsOf(await watching.poll())).toEqual([late]);
	});

	it.each(['like the sorted ones', 'the same', 'not sorted, but later than those at the end'])(
		'an edit, where the platform does not sort by update times, and these are %s',
		async (are) => {
			const { settings } = bench.platform;
			fleet().reorder((devices) => [...devices].sort((one, other) => (one.createTime > other.createTime ? -1 : 1)));
			for (const { sn, createTime } of fleet().devices)
				fleet().update(sn, { updateTime: are === 'the same' ? before : createTime });
			settings.sorting = 'ignored';
			if (are.startsWith('not sorted')) {
				change(5, { updateTime: fleet().at(0).updateTime });
				// It sorts by another time.
				settings.changePage = (page, { query }) =>
					query['sort'] === 'updateTime asc' ? { ...page, content: [fleet().at(249)] } : page;
			}
			const watching = await watch({ events: ['deviceUpdated'] });
			expect(await watching.poll()).toBeNull();
			const sn = change(150, { updateTime: '2026-11-01 00:00:00' });
			expect(snsOf(await watching.poll())).toEqual([sn]);
		},
	);
});
