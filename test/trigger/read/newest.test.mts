import type { IDataObject } from 'n8n-workflow';

import { currentClock, replaceClock } from '../../../nodes/DeviceManagement/transport/waiting/clock.ts';
import { Fleet, timeText } from '../../../testbed/platform/fleet.mts';
import type { Settings } from '../../../testbed/platform/settings.mts';
import { Watch } from '../../../testbed/watch.mts';
import { HOUR, LATER, snsOf, useTrigger } from '../watching.mts';

const { bench, clock, fleet, watch, add, change, answer, asked, warnings } = useTrigger();

const BOTH = ['deviceCreated', 'deviceUpdated'];
const PILOT = { filters: { tags: 'pilot' } };

const addMany = (count: number, createTime: string) =>
	Array.from({ length: count }, () => add({ createTime })).reverse();

/** The serial numbers that a poll reports. */
const told = async (watching: Watch) => snsOf(await watching.poll());
const expectNext = async (watching: Watch, ...sns: string[]) => expect(await told(watching)).toEqual(sns);
/** What a poll that finds nothing asks. */
async function askedBy(watching: Watch): Promise<string[]> {
	bench.platform.forget();
	expect(await watching.poll()).toBeNull();
	return asked();
}
/** What a quiet poll asks, and at which order. */
const NEWEST = 'size=106&sort=createTime desc';
const FIRST = 'size=1&sort=createTime desc';
const NEWEST_PILOT = 'tags=pilot&size=35&sort=createTime desc';
const REVERSED = 'size=1&sort=createTime asc';
const slow = (field: string) =>
	`The trigger "Watch" reads the whole fleet at each poll, because the platform does not reliably sort by ${field}`;

it.each<[string, IDataObject, string[]]>([
	['one small request for each time', { events: BOTH }, [NEWEST, 'size=23&sort=updateTime desc']],
	['one more with a filter: the newest time of the whole fleet comes first', PILOT, [FIRST, NEWEST_PILOT]],
	[
		'only the newest time, if it reads with a filter anyway',
		{ events: ['deviceCreated', 'statusChanged'], ...PILOT },
		[FIRST, 'tags=pilot&size=1000&sort=id asc'],
	],
])('a quiet poll asks for %s', async (_, parameters, asked) => {
	const watching = await watch(parameters);
	expect(await askedBy(watching)).toEqual(asked);
	expect(watching.database.history).toHaveLength(1);
});

describe('more rows within two hours than fit on a page', () => {
	const IMPORTED = 400;
	const SMALL = 'size=20&sort=createTime desc';

	async function afterImport(events = ['deviceCreated']): Promise<{ watching: Watch; late: string }> {
		const watching = await watch({ events, options: { pageSize: 100, maxRetries: 0 } });
		addMany(IMPORTED, LATER);
		expect(await told(watching)).toHaveLength(IMPORTED);
		expect(await askedBy(watching)).toContain(SMALL);
		return { watching, late: add({ createTime: '2026-09-30 23:00:00' }, IMPORTED) };
	}

	it('are read again once an hour: a newer device comes at once, and a late one within the hour', async () => {
		const { watching, late } = await afterImport();
		const newer = addMany(150, '2026-10-01 00:00:01');
		expect(await told(watching)).toEqual(newer);
		clock.now += HOUR - 1;
		expect(await askedBy(watching)).toEqual([SMALL]);
		clock.now += 1;
		bench.platform.forget();
		await expectNext(watching, late);
		expect(asked()).toHaveLength(6);
		expect(await askedBy(watching)).toEqual([SMALL]);
	});

	it('cost one request, too, where the pages of the platform are smaller than requested', async () => {
		bench.platform.settings.largestSize = 100;
		const watching = await watch();
		addMany(900, LATER);
		expect(await told(watching)).toHaveLength(900);
		expect(await askedBy(watching)).toEqual(['size=920&sort=createTime desc']);
		clock.now += HOUR;
		expect(await askedBy(watching)).toHaveLength(10);
		// A fleet that shrinks to one page is read to its end and needs no order.
		for (const { sn } of fleet().devices.slice(5)) fleet().remove(sn);
		expect(await askedBy(watching)).toEqual(['size=920&sort=createTime desc']);
	});
});

describe('the order', () => {
	it.each<[string, Partial<Settings>, string[]]>([
		['is refused', { sorting: 'refused' }, BOTH],
		['is ignored', { sorting: 'ignored' }, BOTH],
		['begins with devices without the time', { missingValues: 'largest' }, ['deviceUpdated']],
		['begins with them in both directions', { missingValues: 'first' }, ['deviceUpdated']],
	])('%s: the whole fleet is read for an hour, and the log says so once', async (_, settings, events) => {
		Object.assign(bench.platform.settings, settings);
		fleet().reorder((devices) => [...devices].sort((one, other) => (one.sn < other.sn ? -1 : 1)));
		const watching = await watch({ events, options: { pageSize: 100 } });
		// A refusal may be temporary. The second one counts.
		await watching.poll();
		const byId = settings.sorting === 'refused' ? '' : '&sort=id asc';
		const whole = ['size=100', 'size=100&page=2', 'size=100&page=3'].map((page) => page + byId);
		expect(await askedBy(watching)).toEqual(whole);
		const sn = change(120, { updateTime: LATER });
		const created = add({}, 200);
		expect(await told(watching)).toEqual(events === BOTH ? [created, sn] : [sn]);
		const aboutOrders = warnings().filter((line) => line.includes('whole fleet'));
		expect(aboutOrders).toEqual([...(events === BOTH ? [slow('createTime')] : []), slow('updateTime')]);
		clock.now += HOUR;
		expect((await askedBy(watching))[0]).toContain('sort=');
		expect((await askedBy(watching))[0]).toBe(whole[0]);
	});

	it('is requested again at the next poll after one refusal', async () => {
		const watching = await watch();
		for (let round = 0; round < 2; round++) {
			answer(500, '', ({ query }) => 'sort' in query);
			expect((await askedBy(watching)).at(-1)).toBe('size=1000');
			answer();
			expect(await askedBy(watching)).toEqual([NEWEST]);
		}
		expect(warnings()).toEqual([]);
	});

	it('is relied upon after one reversed request a day', async () => {
		const watching = await watch();
		expect(asked()).toContain(REVERSED);
		clock.now += 23 * HOUR;
		expect(await askedBy(watching)).toEqual([NEWEST]);
		clock.now += HOUR;
		expect(await askedBy(watching)).toEqual([NEWEST, REVERSED]);
		expect(await askedBy(watching)).toEqual([NEWEST]);
	});

	it('is checked again after a new baseline, which may be of another platform', async () => {
		const watching = await watch({ ...PILOT, options: { pageSize: 50 } });
		bench.platform.settings.sorting = 'ignored';
		watching.parameters = { options: { pageSize: 50 } };
		expect(await watching.activate('update')).toBeNull();
		await expectNext(watching, add({ createTime: LATER }, 250));
	});

	it.each<[string, () => unknown]>([
		[
			'a list in which all devices have one time',
			() => fleet().devices.forEach(({ sn }) => fleet().update(sn, { createTime: '2024-01-01 00:00:00' })),
		],
		[
			'a first device that is removed in between',
			() => {
				// Newer than the next device: otherwise the equal times show that the order proves nothing.
				const gone = add({ createTime: '2024-01-08 11:42:04' });
				bench.platform.settings.beforeAnswer = ({ url }) => {
					if (url.includes('asc') && fleet().get(gone) !== undefined) fleet().remove(gone);
				};
			},
		],
	])('is not proven by %s', async (_, prepare) => {
		bench.platform.settings.sorting = 'ignored';
		prepare();
		const watching = await watch({ options: { pageSize: 50 } });
		await expectNext(watching, add({ createTime: LATER }, 200));
	});

	it('is no longer relied upon when times rise', async () => {
		const watching = await watch();
		bench.platform.settings.sorting = 'ignored';
		fleet().reorder((devices) => [...devices].reverse());
		await expectNext(watching, add({}, 100));
		bench.platform.settings.sorting = 'obeyed';
		clock.now += HOUR;
		expect(await askedBy(watching)).toContain(REVERSED);
	});

	it('is not used with a filter if the platform does not sort reliably', async () => {
		bench.platform.settings.sorting = 'refused';
		const watching = await watch(PILOT);
		await watching.poll();
		expect(await askedBy(watching)).toEqual(['size=1000', 'tags=pilot&size=1000']);
		add({ tags: [] });
		await expectNext(watching, add({ tags: ['pilot'] }));
	});

	it.each(['first', 'smallest'] as const)(
		'finds the first update ever: devices without the time %s',
		async (missingValues) => {
			bench.platform.settings.missingValues = missingValues;
			for (const { sn } of fleet().devices) fleet().update(sn, { updateTime: null });
			const watching = await watch({ events: ['deviceUpdated'] });
			for (const expected of [[change(100, { updateTime: LATER })], []]) expect(await told(watching)).toEqual(expected);
		},
	);
});

describe('devices with equal times, which have another order on each page', () => {
	const BY_ID = 'sort=id asc';
	const IMPORT = '2024-06-01 00:00:00';
	const LOST =
		'The trigger "Watch" may miss events, because pages of the list repeat devices, and others may be missing';

	async function unsteady(settings: Partial<Settings>): Promise<Watch> {
		Object.assign(bench.platform.settings, { equalValues: 'unsteady', ownSort: 'createTime desc', ...settings });
		return await watch({ options: { pageSize: 50 } });
	}

	it('are found in the whole fleet, once an hour, and each is reported once', async () => {
		const watching = await unsteady({});
		const all = addMany(300, IMPORT);
		clock.now += HOUR;
		expect((await told(watching)).sort()).toEqual(all.sort());
		expect(asked().at(-1)).toContain(BY_ID);
		expect(await askedBy(watching)).toEqual(['size=20&sort=createTime desc']);
		expect(warnings()).toEqual([]);
		const late = add({ createTime: IMPORT });
		clock.now += HOUR;
		await expectNext(watching, late);
	});

	it('may be missing if the platform refuses the ID: the log says so, and the ID is asked for again after a day', async () => {
		const watching = await unsteady({ idSort: 'refused' });
		addMany(400, IMPORT);
		expect((await told(watching)).length).toBeLessThan(400);
		expect(warnings()).toEqual([LOST]);
		const asksForId = async () => {
			clock.now += HOUR;
			bench.platform.forget();
			await watching.poll();
			return asked().some((query) => /[=,]id /.test(query));
		};
		for (let hour = 1; hour < 24; hour++) expect(await asksForId()).toBe(false);
		expect(await asksForId()).toBe(true);
	});
});

it('reads a stretch again in which a removed device may have hidden another one', async () => {
	bench.platform.fleet = Fleet.seeded({ size: 3 });
	const watching = await watch({ options: { pageSize: 20 } });
	// Of as many days, the newest first.
	const added = Array.from({ length: 30 }, (_, day) => add({ createTime: timeText(Date.UTC(2026, 8, 1 + day)) }));
	bench.platform.settings.beforeAnswer = ({ query }) => {
		if (query['page'] !== '2') return;
		bench.platform.settings.beforeAnswer = undefined;
		fleet().remove(fleet().at(0).sn);
	};
	const first = await told(watching);
	expect(first).toHaveLength(29);
	expect([...first, ...(await told(watching))].sort()).toEqual(added.sort());
});

const MODES: Array<[string, IDataObject]> = [
	['alone', {}],
	['with a filter', PILOT],
	['with a filter and all devices', { ...PILOT, events: ['deviceCreated', 'statusChanged'] }],
	['with all devices', { events: ['deviceCreated', 'statusChanged'] }],
];

it('a clock that is set back by weeks fails polls, and they repeat and miss nothing afterwards', async () => {
	for (let day = 1; day < 30; day++) add({ createTime: timeText(Date.UTC(2026, 8, day)) });
	const watching = await watch();
	await expectNext(watching, add({ createTime: LATER }));
	const putBack = replaceClock({ ...currentClock(), date: () => Date.UTC(2026, 8, 10) });
	const message = "The trigger knows a date in 'createTime' that is more than two days ahead of the clock of n8n";
	await expect(watching.poll()).rejects.toMatchObject({ message });
	putBack();
	await expectNext(watching);
	await expectNext(watching, add({ createTime: LATER }));
});

describe('a date in another format, or more than two days ahead,', () => {
	const odd = (sn: string) =>
		`The trigger "Watch" can't read createTime of ${sn} (not YYYY-MM-DD HH:MM:SS, or over two days ahead), and may read the whole fleet`;

	it.each([
		...['N/A', '2026-11-03 00:00:01'].flatMap((createTime) =>
			MODES.map(([mode, parameters]) => ({ mode, parameters, createTime })),
		),
		// A platform that sorts dates as text lists them after the newest one, or last.
		...['2024-01-08 11:42', '1704713322000'].map((createTime) => ({ mode: 'alone', parameters: {}, createTime })),
	])('hides no other device, and is named once: $createTime, $mode', async ({ parameters, createTime }) => {
		const { sn } = fleet().devices.find(({ tags }) => tags.includes('pilot')) ?? fleet().at(0);
		fleet().update(sn, { createTime });
		const watching = await watch(parameters);
		for (let count = 0; count < 2; count++) {
			const added = [add({ tags: ['pilot'] }), add({ tags: ['pilot'] }, 200)];
			expect((await told(watching)).sort()).toEqual(added.sort());
		}
		expect(warnings()).toEqual([odd(sn)]);
	});

	it('counts once it is corrected: the device is new if that is within two hours of the newest one', async () => {
		const [late, old] = [fleet().at(0).sn, fleet().at(30).sn];
		for (const sn of [late, old]) fleet().update(sn, { createTime: 'N/A' });
		const watching = await watch();
		await expectNext(watching);
		// Of the others, the newest one is dated 11:42:02.
		fleet().update(late, { createTime: '2024-01-08 09:42:02' });
		await expectNext(watching, late);
		fleet().update(old, { createTime: '2024-01-08 09:42:01' });
		// The order is used again at once.
		expect((await askedBy(watching)).at(-1)).toBe(REVERSED);
		// Of two devices, the log names the first by serial number.
		expect(warnings()).toEqual([odd(old)]);
	});

	it.each(MODES)(
		'fails the poll if no device has a readable one, also if others have none: %s',
		async (_, parameters) => {
			for (const { sn } of fleet().devices) fleet().update(sn, { createTime: '1704713322000' });
			for (let round = 0; round < 2; round++) {
				const failure = { message: "The poll can't read any date in 'createTime'" };
				await expect(new Watch(bench, parameters).activate()).rejects.toMatchObject(failure);
				for (const { sn } of fleet().devices.slice(1)) fleet().update(sn, { createTime: '' });
			}
		},
	);
});
