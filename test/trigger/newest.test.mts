import type { IDataObject } from 'n8n-workflow';

import { useBench, useStillClock } from '../../testbed/jest.mts';
import { Fleet, timeText } from '../../testbed/platform/fleet.mts';
import { Watch } from '../../testbed/watch.mts';

const bench = useBench();
const clock = useStillClock();

const BOTH = ['deviceCreated', 'deviceUpdated'];
const AFTER_ALL = '2031-01-01 00:00:00';

async function watch(parameters: IDataObject): Promise<Watch> {
	const watching = new Watch(bench, parameters);
	expect(await watching.activate()).toBeNull();
	bench.platform.forget();
	return watching;
}

const told = (items: IDataObject[] | null) => items?.map(({ event, device }) => [event, (device as IDataObject)['sn']]) ?? null;
const asked = () => bench.platform.requests.map(({ url }) => decodeURIComponent(url.replace('/api/device/list?', '')));
const warnings = () => bench.engine.logs.filter(({ level }) => level === 'warn').map(({ message }) => message);
beforeEach(() => {
	bench.engine.logs.length = 0;
});

it('a quiet fleet costs one small request for created and one for updated', async () => {
	const watching = await watch({ events: BOTH });
	for (let count = 0; count < 3; count++) expect(await watching.poll()).toBeNull();
	expect(asked()).toEqual(Array(3).fill(['size=106&sort=createTime desc', 'size=23&sort=updateTime desc']).flat());
	expect(watching.database.history).toHaveLength(1);
});

it('with a filter, too: what is new is told from the whole fleet, and asked for in the filter only then', async () => {
	const watching = await watch({ events: ['deviceCreated'], filters: { tags: 'pilot' } });
	expect(await watching.poll()).toBeNull();
	expect(asked()).toEqual(['size=106&sort=createTime desc']);
	bench.platform.forget();
	bench.fleet.add(bench.fleet.make({ tags: [] }));
	const { sn } = bench.fleet.add(bench.fleet.make({ tags: ['pilot'] }));
	expect(told(await watching.poll())).toEqual([['deviceCreated', sn]]);
	expect(asked()).toEqual(['size=106&sort=createTime desc', 'tags=pilot&size=1000&sort=createTime desc']);
});

it('reads as many pages as there are new devices', async () => {
	const watching = await watch({ events: ['deviceCreated'], options: { pageSize: 50 } });
	const added = Array.from({ length: 120 }, () => bench.fleet.add().sn);
	expect(told(await watching.poll())).toEqual(added.reverse().map((sn) => ['deviceCreated', sn]));
	expect(await watching.poll()).toBeNull();
});

it('does not take a total that counts the page alone for the end of the list', async () => {
	const watching = await watch({ events: ['deviceCreated'] });
	bench.platform.settings.changePage = (page) => ({ ...page, totalElements: page.content.length });
	const added = Array.from({ length: 150 }, () => bench.fleet.add().sn);
	expect(told(await watching.poll())).toEqual(added.reverse().map((sn) => ['deviceCreated', sn]));
	expect(await watching.poll()).toBeNull();
});

it.each(['createTime', 'updateTime'])('one whose %s lies far ahead hides all others until that time', async (time) => {
	const watching = await watch({ events: [time === 'createTime' ? 'deviceCreated' : 'deviceUpdated'] });
	const add = async (at: string) => {
		bench.fleet.add(bench.fleet.make({ [time]: at }));
		return (await watching.poll())?.length ?? 0;
	};
	expect(await add('2099-01-01 00:00:00')).toBe(1);
	expect(await add('2098-12-31 21:59:59')).toBe(0);
	expect(await add('2098-12-31 22:00:00')).toBe(1);
});

it('neither misses nor repeats what has the second of the newest one, or comes up to two hours late', async () => {
	const watching = await watch({ events: BOTH });
	const [newest] = bench.fleet.devices;
	const sameSecond = bench.fleet.add(bench.fleet.make({ createTime: newest?.createTime ?? '' }));
	expect(told(await watching.poll())).toEqual([['deviceCreated', sameSecond.sn]]);
	const late = bench.fleet.add(bench.fleet.make({ createTime: '2024-01-08 09:42:03' }), 100);
	expect(told(await watching.poll())).toEqual([['deviceCreated', late.sn]]);
	const update = (description: string) => bench.fleet.update(late.sn, { updateTime: AFTER_ALL, description });
	for (const description of ['one', 'another', 'one']) {
		update(description);
		expect(told(await watching.poll())).toEqual([['deviceUpdated', late.sn]]);
		expect(await watching.poll()).toBeNull();
	}
});

it('does not take a changed status for an update: statuses have events of their own', async () => {
	const watching = await watch({ events: BOTH });
	for (const { sn } of bench.fleet.devices) bench.fleet.update(sn, { onlineStatus: 99, status: 99 });
	expect(await watching.poll()).toBeNull();
});

it('closes a window of more devices than a page holds once nothing can come late any more', async () => {
	const watching = await watch({ events: ['deviceCreated'], options: { pageSize: 50 } });
	await watching.poll();
	expect(asked()).toHaveLength(3);
	clock.now += 5 * 3_600_000;
	bench.platform.forget();
	expect(await watching.poll()).toBeNull();
	expect(asked()).toEqual(['size=22&sort=createTime desc']);
	const { sn } = bench.fleet.add();
	expect(told(await watching.poll())).toEqual([['deviceCreated', sn]]);
});

describe('where devices can not be listed in the order of their times', () => {
	it.each([
		['the platform refuses the order', { sorting: 'refused' }],
		['the platform does not keep to it', { sorting: 'ignored' }],
		['devices without the time come first', { missingValues: 'largest' }],
		['they come first in both directions', { missingValues: 'first' }],
	] as const)('reads the whole fleet, and says so once: %s', async (_, settings) => {
		Object.assign(bench.platform.settings, settings);
		// In the default order, too, the times go up and down.
		bench.fleet.reorder((devices) => [...devices].sort((one, other) => (one.sn < other.sn ? -1 : 1)));
		const event = 'missingValues' in settings ? ['deviceUpdated'] : BOTH;
		const watching = await watch({ events: event, options: { pageSize: 100 } });
		await watching.poll();
		bench.platform.forget();
		expect(await watching.poll()).toBeNull();
		// Where devices without the time come first, there may be none with it by the next poll.
		const looks = 'missingValues' in settings ? [expect.stringMatching(/^size=\d+&sort=updateTime desc$/)] : [];
		expect(asked()).toEqual([...looks, 'size=100', 'size=100&page=2', 'size=100&page=3']);
		const [first] = bench.fleet.devices;
		bench.fleet.update(first?.sn ?? '', { updateTime: AFTER_ALL });
		const { sn } = bench.fleet.add(bench.fleet.make(), 200);
		expect(told(await watching.poll())).toEqual([
			...(event === BOTH ? [['deviceCreated', sn]] : []),
			['deviceUpdated', first?.sn],
		]);
		expect(await watching.poll()).toBeNull();
		const said = (field: string) =>
			`The trigger "Watch" reads the whole fleet at each poll, because it can not rely on the platform to list devices by '${field}', newest first`;
		expect(warnings()).toEqual([...(event === BOTH ? [said('createTime')] : []), said('updateTime')]);
	});

	it('reads the whole fleet no longer than the last device that had the time is gone, and not for a day', async () => {
		const { sn } = bench.fleet.at(7);
		for (const device of bench.fleet.devices) bench.fleet.update(device.sn, { updateTime: device.sn === sn ? AFTER_ALL : null });
		const watching = await watch({ events: ['deviceUpdated'], options: { pageSize: 100 } });
		await watching.poll();
		bench.fleet.remove(sn);
		await watching.poll();
		await watching.poll();
		const other = bench.fleet.at(3).sn;
		bench.fleet.update(other, { updateTime: AFTER_ALL });
		expect(told(await watching.poll())).toEqual([['deviceUpdated', other]]);
		bench.platform.forget();
		expect(await watching.poll()).toBeNull();
		expect(asked()).toEqual([expect.stringMatching(/^size=\d+&sort=updateTime desc$/)]);
	});

	it('costs one small request again as soon as the list was proven to begin below the newest device that is gone', async () => {
		const newest = bench.fleet.add({ ...bench.fleet.make(), createTime: AFTER_ALL });
		const watching = await watch({ events: ['deviceCreated'] });
		await watching.poll();
		bench.fleet.remove(newest.sn);
		bench.platform.forget();
		await watching.poll();
		expect(asked()).toHaveLength(3);
		bench.platform.forget();
		await watching.poll();
		expect(asked()).toHaveLength(1);
	});

	it('says nothing of a fleet that changed at the wrong moment once', async () => {
		const [one, another] = ['2099-01-01 00:00:01', '2099-01-01 00:00:02'].map((createTime) =>
			bench.fleet.add({ ...bench.fleet.make(), createTime }),
		);
		const watching = await watch({ events: ['deviceCreated'], options: { pageSize: 100 } });
		await watching.poll();
		bench.fleet.remove(another?.sn ?? '');
		bench.platform.forget();
		bench.platform.settings.beforeAnswer = () => {
			if (bench.platform.requests.length === 2) bench.fleet.remove(one?.sn ?? '');
		};
		await watching.poll();
		expect(asked().length).toBeGreaterThan(3);
		await watching.poll();
		expect(warnings()).toEqual([]);
	});

	it('asks for the order again after a day', async () => {
		bench.platform.settings.sorting = 'refused';
		const watching = await watch({ events: ['deviceCreated'] });
		bench.platform.settings.sorting = 'obeyed';
		clock.now += 23 * 3_600_000;
		await watching.poll();
		expect(asked()).toEqual(['size=1000']);
		clock.now += 2 * 3_600_000;
		bench.platform.forget();
		await watching.poll();
		await watching.poll();
		const order = 'size=106&sort=createTime desc';
		const whether = ['size=1&sort=createTime asc', 'size=1&sort=createTime desc'];
		expect(asked()).toEqual([order, ...whether, order]);
		clock.now += 23 * 3_600_000;
		await watching.poll();
		clock.now += 3_600_000;
		bench.platform.forget();
		await watching.poll();
		expect(asked()).toEqual([order, ...whether]);
	});

	it('finds with a filter, too, what is new', async () => {
		bench.platform.settings.sorting = 'refused';
		const watching = await watch({ events: ['deviceCreated'], filters: { tags: 'pilot' } });
		bench.fleet.add(bench.fleet.make({ tags: [] }));
		const { sn } = bench.fleet.add(bench.fleet.make({ tags: ['pilot'] }));
		expect(told(await watching.poll())).toEqual([['deviceCreated', sn]]);
		expect(await watching.poll()).toBeNull();
	});

	it('does not remember a refusal that came from an outage', async () => {
		const watching = await watch({ events: ['deviceCreated'], options: { maxRetries: 0 } });
		bench.platform.settings.faults = [{ fault: { status: 500 }, times: Infinity }];
		await expect(watching.poll()).rejects.toThrow('HTTP 500');
		bench.platform.settings.faults = [];
		bench.platform.forget();
		await watching.poll();
		expect(asked()).toEqual(['size=106&sort=createTime desc']);
	});

	it('asks for the order again where another platform is watched', async () => {
		bench.platform.settings.sorting = 'refused';
		const watching = await watch({ events: ['deviceCreated'] });
		bench.platform.settings.sorting = 'obeyed';
		const { apiKey, baseUrl } = bench.platform;
		const data = { authentication: 'apiKey', apiKey, baseUrl: baseUrl.replace('127.0.0.1', 'localhost') };
		watching.options.credential = await bench.engine.saveCredential({ name: 'other', type: 'deviceManagementApi', data });
		await watching.activate('update');
		const whether = ['size=1&sort=createTime asc', 'size=1&sort=createTime desc'];
		expect(asked().slice(0, 3)).toEqual(['size=20&sort=createTime desc', ...whether]);
	});

	it.each([
		['a sort that is ignored', { sorting: 'ignored' }],
		['a missing time first in both directions', { missingValues: 'first' }],
		['a missing time last in both directions', { missingValues: 'last' }],
		['a missing time as the smallest', { missingValues: 'smallest' }],
		['a missing time as the largest', { missingValues: 'largest' }],
	] as const)('finds every update, whatever the first device of the list is: %s', async (_, settings) => {
		Object.assign(bench.platform.settings, settings);
		const fleet = new Fleet(bench.fleet.devices.map((device, position) => (position < 40 ? { ...device, updateTime: null } : device)));
		const bare = fleet.devices.map((device) => ({ ...device, updateTime: null }));
		for (const devices of [fleet.devices, fleet.devices.slice(1), bare]) {
			bench.platform.fleet = new Fleet(devices);
			const watching = await watch({ events: ['deviceUpdated'] });
			for (const [position, updateTime] of [[100, '2031-01-01 00:00:00'], [0, '2031-01-01 00:00:01'], [101, '2031-01-02 00:00:00']] as const) {
				const { sn } = bench.fleet.update(bench.fleet.at(position).sn, { updateTime });
				expect(told(await watching.poll())).toEqual([['deviceUpdated', sn]]);
				expect(await watching.poll()).toBeNull();
			}
		}
	});

	it('finds a new device behind one import of a single second, also after a restart', async () => {
		bench.platform.settings.sorting = 'ignored';
		for (const { sn } of bench.fleet.devices.slice(0, 40)) bench.fleet.update(sn, { createTime: '2020-01-01 00:00:00' });
		const watching = await watch({ events: ['deviceCreated'] });
		for (let count = 0; count < 3; count++) {
			const { sn } = bench.fleet.add(bench.fleet.make({ createTime: `2031-01-0${count + 1} 00:00:00` }), 200);
			expect(told(await watching.poll())).toEqual([['deviceCreated', sn]]);
			expect(await watching.restart()).toBeNull();
		}
	});

	it('finds a new device where the platform ignores the order and its own one looks like it', async () => {
		bench.platform.settings.sorting = 'ignored';
		const watching = await watch({ events: ['deviceCreated'] });
		const { sn } = bench.fleet.add(bench.fleet.make(), 200);
		expect(told(await watching.poll())).toEqual([['deviceCreated', sn]]);
		expect(warnings()).toHaveLength(1);
	});

	it('is not misled by a newest device that changes while the platform is asked the other way round', async () => {
		bench.platform.settings.sorting = 'ignored';
		const [first, ...others] = bench.fleet.devices;
		for (const { sn } of others.slice(0, 120)) bench.fleet.update(sn, { createTime: '2020-01-01 00:00:00' });
		bench.platform.settings.beforeAnswer = ({ query }) => {
			if (query['size'] !== '1') return;
			if (bench.fleet.get(first?.sn ?? '') !== undefined) bench.fleet.remove(first?.sn ?? '');
			else if (bench.fleet.size < 250) bench.fleet.add();
		};
		const watching = await watch({ events: ['deviceCreated'] });
		const { sn } = bench.fleet.add(bench.fleet.make(), 200);
		expect((told(await watching.poll()) ?? []).map(([, one]) => one)).toContain(sn);
	});

	it('looks through the whole filter for a new device where the platform ignores the order', async () => {
		bench.platform.settings.sorting = 'ignored';
		for (const { sn } of bench.fleet.devices) bench.fleet.update(sn, { tags: ['pilot'] });
		const watching = await watch({ events: ['deviceCreated'], filters: { tags: 'pilot' }, options: { pageSize: 100 } });
		const { sn } = bench.fleet.add(bench.fleet.make({ tags: ['pilot'] }), 200);
		expect(told(await watching.poll())).toEqual([['deviceCreated', sn]]);
	});

	it('relies on the order in a fleet where the newest device is another one each time', async () => {
		bench.platform.settings.beforeAnswer = () => {
			bench.fleet.add();
		};
		const watching = await watch({ events: ['deviceCreated'] });
		await watching.poll();
		expect(warnings()).toEqual([]);
	});

	it('notices that a platform stops to look at the order', async () => {
		const watching = await watch({ events: ['deviceCreated'] });
		bench.platform.settings.sorting = 'ignored';
		for (const { sn } of bench.fleet.devices.slice(0, 120)) bench.fleet.update(sn, { createTime: '2020-01-01 00:00:00' });
		const { sn } = bench.fleet.add(bench.fleet.make(), 200);
		expect(told(await watching.poll())).toEqual([['deviceCreated', sn]]);
	});

	it('reads the whole fleet as long as no device was ever updated, and no longer', async () => {
		bench.platform.fleet = new Fleet(bench.fleet.devices.map((device) => ({ ...device, updateTime: null })));
		const watching = await watch({ events: ['deviceUpdated'] });
		expect(await watching.poll()).toBeNull();
		expect(asked()).toEqual(['size=20&sort=updateTime desc', 'size=1000']);
		expect(warnings()).toHaveLength(1);
		const updated = [3, 9].map((position) => bench.fleet.update(bench.fleet.at(position).sn, { updateTime: `2020-01-0${position} 00:00:00` }).sn);
		expect(told(await watching.poll())).toEqual(updated.reverse().map((sn) => ['deviceUpdated', sn]));
		bench.platform.forget();
		expect(await watching.poll()).toBeNull();
		expect(asked()).toEqual(['size=21&sort=updateTime desc']);
		expect(warnings()).toHaveLength(1);
	});

	it('finds an update within a filter where the fleet fits one page and devices without the time come first', async () => {
		bench.platform.fleet = new Fleet(bench.fleet.devices.slice(0, 15).map((device) => ({ ...device, tags: ['a'], updateTime: null })));
		bench.platform.settings.missingValues = 'largest';
		const watching = await watch({ events: ['deviceUpdated'], filters: { tags: 'a' } });
		const { sn } = bench.fleet.update(bench.fleet.at(9).sn, { updateTime: AFTER_ALL });
		expect(told(await watching.poll())).toEqual([['deviceUpdated', sn]]);
	});

	it.each([{ status: 500 }, { code: -1 }, { code: 9999 }, { code: 10005 }])('takes one failure for no refusal of the order: %j', async (fault) => {
		const watching = await watch({ events: ['deviceCreated'] });
		bench.platform.settings.faults = [{ fault, times: 1 }];
		const { sn } = bench.fleet.add();
		expect(told(await watching.poll())).toEqual([['deviceCreated', sn]]);
		bench.platform.forget();
		expect(await watching.poll()).toBeNull();
		expect(asked()).toEqual(['size=107&sort=createTime desc']);
		expect(warnings()).toEqual([]);
		// Nor one amid the question whether the order is kept.
		bench.platform.settings.faults = [{ fault, orderOfKind: 3 }];
		expect(await watching.restart()).toBeNull();
		const whether = ['asc', 'asc', 'desc'].map((direction) => `size=1&sort=createTime ${direction}`);
		expect(asked().slice(1)).toEqual(['size=107&sort=createTime desc', ...whether]);
		expect(warnings()).toEqual([]);
	});

	it('asks a platform that refuses large pages for smaller ones in the same order', async () => {
		Object.assign(bench.platform.settings, { largestSize: 50, largerSize: 'refuse' });
		const watching = await watch({ events: ['deviceCreated'] });
		const { sn } = bench.fleet.add(bench.fleet.make(), 200);
		expect(told(await watching.poll())).toEqual([['deviceCreated', sn]]);
		bench.platform.forget();
		expect(await watching.poll()).toBeNull();
		const pages = ['size=107', 'size=50', 'size=50', 'size=50&page=2'];
		expect(asked()).toEqual(pages.map((page) => `${page}&sort=createTime desc`));
		expect(warnings()).toEqual([]);
	});
});

it('reports the first devices of a fleet that had none', async () => {
	bench.platform.fleet = Fleet.seeded({ size: 0 });
	const watching = await watch({ events: BOTH });
	expect(await watching.poll()).toBeNull();
	const { sn } = bench.fleet.add(bench.fleet.make({ createTime: '1999-01-01 00:00:00', updateTime: null }));
	expect(told(await watching.poll())).toEqual([['deviceCreated', sn]]);
});

it('looks again for what a fleet that moves may have hidden', async () => {
	const watching = await watch({ events: ['deviceCreated'], options: { pageSize: 25 } });
	const created = (minute: number) => timeText(Date.UTC(2030, 0, 1, 0, 10 * minute));
	const added = Array.from({ length: 60 }, (_, minute) => bench.fleet.add(bench.fleet.make({ createTime: created(minute) })).sn);
	// A device comes before each first page and goes before each second one, so that always the same one slides over the edge
	// between the two and is met by no walk.
	const hidden = bench.fleet.at(24).sn;
	let passing: string | undefined;
	bench.platform.settings.beforeAnswer = ({ page }) => {
		if (page === 0) passing ??= bench.fleet.add(bench.fleet.make({ createTime: created(60) })).sn;
		if (page !== 1 || passing === undefined) return;
		bench.fleet.remove(passing);
		passing = undefined;
	};
	const seen = (told(await watching.poll()) ?? []).map(([, sn]) => sn);
	expect(added.filter((sn) => !seen.includes(sn))).toEqual([hidden]);
	bench.platform.settings.beforeAnswer = undefined;
	expect(told(await watching.poll())).toEqual([['deviceCreated', hidden]]);
	expect(await watching.poll()).toBeNull();
});

it('reports no device of before whose place the fleet hid while the first poll took stock', async () => {
	const created = (minute: number) => timeText(Date.UTC(2030, 0, 1, 0, minute));
	for (let minute = 0; minute < 60; minute++) bench.fleet.add(bench.fleet.make({ createTime: created(minute) }));
	let passing: string | undefined;
	const move: typeof bench.platform.settings.beforeAnswer = ({ page }) => {
		if (page === 0) passing ??= bench.fleet.add(bench.fleet.make({ createTime: created(70) })).sn;
		if (page !== 1 || passing === undefined) return;
		bench.fleet.remove(passing);
		passing = undefined;
	};
	bench.platform.settings.beforeAnswer = move;
	const watching = await watch({ events: ['deviceCreated'], options: { pageSize: 25 } });
	const stillCounting =
		`The trigger "Watch" has not taken stock by 'createTime' yet, because the fleet changes while it is read: a device that is dated before the newest one is not reported until a list holds still`;
	expect(warnings()).toEqual([stillCounting]);
	// A fleet that never holds still has its events all the same.
	const added = bench.fleet.add(bench.fleet.make({ createTime: created(80) })).sn;
	expect(told(await watching.poll())).toEqual([['deviceCreated', added]]);
	bench.platform.settings.beforeAnswer = undefined;
	const last = bench.fleet.add(bench.fleet.make({ createTime: created(81) })).sn;
	expect(told(await watching.poll())).toEqual([['deviceCreated', last]]);
	expect(warnings()).toEqual([stillCounting]);
	const late = bench.fleet.add(bench.fleet.make({ createTime: created(30) })).sn;
	expect(told(await watching.poll())).toEqual([['deviceCreated', late]]);
	expect(await watching.poll()).toBeNull();
});

it('reports no device of before where the newest one was removed while the first poll read the whole fleet', async () => {
	bench.platform.settings.sorting = 'refused';
	const { sn } = bench.fleet.add(bench.fleet.make({ createTime: AFTER_ALL }));
	bench.platform.settings.beforeAnswer = ({ page }) => {
		if (page === 1 && bench.fleet.get(sn) !== undefined) bench.fleet.remove(sn);
	};
	const watching = await watch({ events: ['deviceCreated'], options: { pageSize: 100 } });
	expect(await watching.poll()).toBeNull();
	const next = bench.fleet.add(bench.fleet.make({ createTime: AFTER_ALL }));
	expect(told(await watching.poll())).toEqual([['deviceCreated', next.sn]]);
});

it('says which time has a form that nobody knows', async () => {
	bench.platform.settings.changePage = (page) => ({
		...page,
		content: page.content.map((device) => ({ ...device, createTime: 1710144900 })),
	});
	await expect(new Watch(bench, {}).activate()).rejects.toThrow("The platform gives the time 'createTime' in a form that is not known");
});
