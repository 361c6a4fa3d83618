import type { IDataObject } from 'n8n-workflow';

import { useBareBench, useStillClock } from '../../../testbed/jest.mts';
import { Fleet } from '../../../testbed/platform/fleet.mts';
import { Watch } from '../../../testbed/watch.mts';

const bench = useBareBench();
const clock = useStillClock();

const BOTH = ['deviceCreated', 'deviceUpdated'];
const LATER = '2031-01-01 00:00:00';
const HOUR = 3_600_000;

const fleet = () => bench.platform.fleet;
const add = (changes: Parameters<Fleet['make']>[0] = {}, position = 0) =>
	fleet().add(fleet().make(changes), position).sn;

async function watch(parameters: IDataObject = {}): Promise<Watch> {
	const watching = new Watch(bench, parameters);
	expect(await watching.activate()).toBeNull();
	bench.platform.asked.length = 0;
	return watching;
}

/** The serial numbers that a poll reports. */
const told = async (watching: Watch) =>
	((await watching.poll()) ?? []).map(({ device }) => (device as IDataObject)['sn']);
/** What a poll that finds nothing asks. */
async function askedBy(watching: Watch): Promise<string[]> {
	bench.platform.asked.length = 0;
	expect(await watching.poll()).toBeNull();
	return [...bench.platform.asked];
}
const warnings = () => bench.engine.logs.filter(({ level }) => level === 'warn').map(({ message }) => message);
const slow = (field: string) =>
	`The trigger "Watch" reads the whole fleet at each poll, because the platform does not reliably sort by ${field}`;

describe('a quiet poll', () => {
	it('costs one small request for created and one for updated', async () => {
		const watching = await watch({ events: BOTH });
		expect(await askedBy(watching)).toEqual(['size=106&sort=createTime desc', 'size=23&sort=updateTime desc']);
		expect(watching.database.history).toHaveLength(1);
		expect(watching.state?.length).toBeLessThan(5000);
	});

	it('costs one more with a filter: the newest time of the whole fleet comes first', async () => {
		const watching = await watch({ filters: { tags: 'pilot' } });
		expect(await askedBy(watching)).toEqual(['size=1&sort=createTime desc', 'tags=pilot&size=35&sort=createTime desc']);
	});

	it('only requests the newest time if the trigger reads with a filter anyway', async () => {
		const watching = await watch({ events: ['deviceCreated', 'statusChanged'], filters: { tags: 'pilot' } });
		expect(await askedBy(watching)).toEqual(['size=1&sort=createTime desc', 'tags=pilot&size=1000']);
	});
});

describe('a device is new', () => {
	it('on as many pages as there are, and at a total that counts the page alone', async () => {
		const watching = await watch({ options: { pageSize: 50 } });
		for (const count of [120, 70]) {
			const added = Array.from({ length: count }, () => add());
			expect(await told(watching)).toEqual(added.reverse());
			expect(await told(watching)).toEqual([]);
		}
	});

	it('in the second of the newest one, and up to two hours before it', async () => {
		const watching = await watch();
		const newest = fleet().at(0).createTime;
		const same = add({ createTime: newest }, 1);
		expect(await told(watching)).toEqual([same]);
		const late = add({ createTime: '2024-01-08 09:42:03' }, 100);
		expect(await told(watching)).toEqual([late]);
		add({ createTime: '2024-01-08 09:42:01' }, 100);
		expect(await told(watching)).toEqual([]);
	});

	it('two hours before the newest one, however long no poll came', async () => {
		const watching = await watch({ options: { pageSize: 50 } });
		await watching.poll();
		clock.now += 1000 * HOUR;
		const late = add({ createTime: '2024-01-08 09:42:03' }, 100);
		expect(await told(watching)).toEqual([late]);
	});

	it('if the fleet was empty before', async () => {
		bench.platform.fleet = new Fleet([]);
		const watching = await watch();
		bench.platform.fleet = Fleet.seeded({ size: 3 });
		expect(await told(watching)).toHaveLength(3);
	});

	it('if a new tag brings it into the filter within two hours, and not later', async () => {
		const watching = await watch({ filters: { tags: 'mine' } });
		const [young, old] = [add(), fleet().at(200).sn];
		expect(await told(watching)).toEqual([]);
		for (const sn of [young, old]) fleet().update(sn, { tags: ['mine'] });
		expect(await told(watching)).toEqual([young]);
	});
});

it('an update needs another time: a changed status or an edit with the same time is no update', async () => {
	const watching = await watch({ events: ['deviceUpdated'] });
	const { sn } = fleet().at(30);
	for (const changes of [{ onlineStatus: 99 }, { description: 'another' }]) fleet().update(sn, changes);
	expect(await told(watching)).toEqual([]);
	for (const updateTime of [LATER, '2031-01-01 00:00:01', LATER]) {
		fleet().update(sn, { updateTime });
		expect(await told(watching)).toEqual([sn]);
	}
});

describe('more rows within two hours than fit on a page', () => {
	const IMPORTED = 400;

	async function afterImport(): Promise<Watch> {
		const watching = await watch({ options: { pageSize: 100 } });
		for (let count = 0; count < IMPORTED; count++) add({ createTime: LATER });
		expect(await told(watching)).toHaveLength(IMPORTED);
		return watching;
	}

	it('are read again once an hour', async () => {
		const watching = await afterImport();
		for (let minute = 0; minute < 59; minute++) {
			clock.now += 60_000;
			expect(await askedBy(watching)).toEqual(['size=20&sort=createTime desc']);
		}
		clock.now += 60_000;
		expect(await askedBy(watching)).toHaveLength(5);
		expect(await askedBy(watching)).toEqual(['size=20&sort=createTime desc']);
	});

	it('let a newer device through at once, and a late one within the hour', async () => {
		const watching = await afterImport();
		const late = add({ createTime: '2030-12-31 23:00:00' }, IMPORTED);
		const newer = Array.from({ length: 150 }, () => add({ createTime: '2031-01-01 00:00:01' }));
		expect(await told(watching)).toEqual(newer.reverse());
		expect(await told(watching)).toEqual([]);
		clock.now += HOUR;
		expect(await told(watching)).toEqual([late]);
		expect(await told(watching)).toEqual([]);
	});

	it('are read again by the next poll, if one that read them fails', async () => {
		const watching = await afterImport();
		const late = add({ createTime: '2030-12-31 23:00:00' }, IMPORTED);
		clock.now += HOUR;
		const failing = jest.spyOn(Date.prototype, 'toISOString').mockImplementation(() => {
			throw new Error('No time');
		});
		await expect(watching.poll()).rejects.toThrow('No time');
		failing.mockRestore();
		expect(await told(watching)).toEqual([late]);
	});

	it('cost one request, too, where the pages of the platform are smaller than requested', async () => {
		bench.platform.settings.largestSize = 100;
		const watching = await watch();
		for (let count = 0; count < 900; count++) add({ createTime: LATER });
		expect(await told(watching)).toHaveLength(900);
		expect(await askedBy(watching)).toEqual(['size=920&sort=createTime desc']);
		clock.now += HOUR;
		expect(await askedBy(watching)).toHaveLength(10);
		// A fleet that shrinks to one page is read to its end and needs no order.
		for (const { sn } of fleet().devices.slice(5)) fleet().remove(sn);
		expect(await askedBy(watching)).toEqual(['size=920&sort=createTime desc']);
	});

	it('are read again by a new process', async () => {
		const watching = await afterImport();
		const late = add({ createTime: '2030-12-31 23:00:00' }, IMPORTED);
		const items = await watching.restart();
		expect(items?.map(({ device }) => (device as IDataObject)['sn'])).toEqual([late]);
	});
});

describe('the order', () => {
	it.each<[string, Partial<typeof bench.platform.settings>, string[]]>([
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
		expect(await askedBy(watching)).toEqual(['size=100', 'size=100&page=2', 'size=100&page=3']);
		const { sn } = fleet().update(fleet().at(120).sn, { updateTime: LATER });
		const created = add({}, 200);
		expect(await told(watching)).toEqual(events === BOTH ? [created, sn] : [sn]);
		const aboutOrders = warnings().filter((line) => line.includes('whole fleet'));
		expect(aboutOrders).toEqual([...(events === BOTH ? [slow('createTime')] : []), slow('updateTime')]);
		clock.now += HOUR;
		expect((await askedBy(watching))[0]).toContain('sort=');
		expect((await askedBy(watching))[0]).toBe('size=100');
	});

	it('is requested again at the next poll after one refusal', async () => {
		const watching = await watch();
		for (let round = 0; round < 2; round++) {
			bench.platform.intervene = async ({ qs = {} }) => ('sort' in qs ? { statusCode: 500, body: '' } : undefined);
			expect((await askedBy(watching)).at(-1)).toBe('size=1000');
			bench.platform.intervene = undefined;
			expect(await askedBy(watching)).toEqual(['size=106&sort=createTime desc']);
		}
		expect(warnings()).toEqual([]);
	});

	it('is relied upon where devices without the time come last in both directions', async () => {
		bench.platform.settings.missingValues = 'last';
		fleet().devices.forEach(({ sn }, index) =>
			fleet().update(sn, { updateTime: index < 5 ? `2024-01-0${index + 1} 00:00:00` : null }),
		);
		const watching = await watch({ events: ['deviceUpdated'] });
		expect(await askedBy(watching)).toEqual(['size=21&sort=updateTime desc']);
		expect(warnings()).toEqual([]);
	});

	it('is relied upon after one reversed request a day', async () => {
		const watching = new Watch(bench, {});
		await watching.activate();
		const reversed = 'size=1&sort=createTime asc';
		expect(bench.platform.asked).toContain(reversed);
		clock.now += 23 * HOUR;
		expect(await askedBy(watching)).toEqual(['size=106&sort=createTime desc']);
		clock.now += HOUR;
		expect(await askedBy(watching)).toEqual(['size=106&sort=createTime desc', reversed]);
		expect(await askedBy(watching)).toEqual(['size=106&sort=createTime desc']);
	});

	it('is checked again after a new baseline, which may be of another platform', async () => {
		const watching = await watch({ filters: { tags: 'pilot' }, options: { pageSize: 50 } });
		bench.platform.settings.sorting = 'ignored';
		watching.parameters = { options: { pageSize: 50 } };
		expect(await watching.activate('update')).toBeNull();
		const sn = add({ createTime: LATER }, 250);
		expect(await told(watching)).toEqual([sn]);
	});

	it('is not proven by a list in which all devices have one time', async () => {
		for (const { sn } of fleet().devices) fleet().update(sn, { createTime: '2024-01-01 00:00:00' });
		bench.platform.settings.sorting = 'ignored';
		const watching = await watch();
		const sn = add({ createTime: LATER }, 240);
		expect(await told(watching)).toEqual([sn]);
	});

	it('is not proven by a first device that was removed in between', async () => {
		bench.platform.settings.sorting = 'ignored';
		// Newer than the next device: otherwise the equal times show that the order proves nothing.
		const gone = add({ createTime: '2024-01-08 11:42:04' });
		bench.platform.intervene = async ({ qs }) => {
			if (JSON.stringify(qs).includes('asc') && fleet().get(gone) !== undefined) fleet().remove(gone);
			return undefined;
		};
		const watching = await watch();
		const sn = add({}, 200);
		expect(await told(watching)).toEqual([sn]);
	});

	it('is no longer relied upon when times rise', async () => {
		const watching = await watch();
		bench.platform.settings.sorting = 'ignored';
		fleet().reorder((devices) => [...devices].reverse());
		const sn = add({}, 100);
		expect(await told(watching)).toEqual([sn]);
		bench.platform.settings.sorting = 'obeyed';
		clock.now += HOUR;
		expect(await askedBy(watching)).toContain('size=1&sort=createTime asc');
	});

	it('is kept during an outage, until the whole fleet was read instead', async () => {
		const watching = await watch({ options: { maxRetries: 0 } });
		bench.platform.intervene = async () => ({ statusCode: 500, body: '' });
		await expect(watching.poll()).rejects.toThrow('HTTP 500');
		bench.platform.intervene = undefined;
		expect(await askedBy(watching)).toEqual(['size=106&sort=createTime desc']);
	});

	it('is not used with a filter if the platform does not sort reliably', async () => {
		bench.platform.settings.sorting = 'refused';
		const watching = await watch({ filters: { tags: 'pilot' } });
		await watching.poll();
		expect(await askedBy(watching)).toEqual(['size=1000', 'tags=pilot&size=1000']);
		add({ tags: [] });
		const sn = add({ tags: ['pilot'] });
		expect(await told(watching)).toEqual([sn]);
	});

	it('is not needed for a list that is read whole', async () => {
		bench.platform.fleet = Fleet.seeded({ size: 1 });
		const watching = await watch();
		expect(await askedBy(watching)).toEqual(['size=21&sort=createTime desc']);
	});

	it.each(['first', 'last', 'smallest', 'largest'] as const)(
		'finds every update, also the first ever: devices without the time %s',
		async (missingValues) => {
			Object.assign(bench.platform.settings, { missingValues });
			for (const bare of [40, 250]) {
				fleet()
					.devices.slice(0, bare)
					.forEach(({ sn }) => fleet().update(sn, { updateTime: null }));
				const watching = await watch({ events: ['deviceUpdated'] });
				for (const [position, updateTime] of [
					[100, LATER],
					[0, '2031-01-01 00:00:01'],
					[101, '2031-01-02 00:00:00'],
				] as const) {
					const { sn } = fleet().update(fleet().at(position).sn, { updateTime });
					expect(await told(watching)).toEqual([sn]);
					expect(await told(watching)).toEqual([]);
				}
			}
		},
	);
});

it('reads a stretch again in which a removed device may have hidden another one', async () => {
	const watching = await watch({ options: { pageSize: 20 } });
	const added = Array.from({ length: 30 }, (_, index) =>
		add({ createTime: `2031-01-${String(index + 1).padStart(2, '0')} 00:00:00` }),
	);
	bench.platform.intervene = async ({ qs }) => {
		if (JSON.stringify(qs).includes('"page":"2"')) {
			bench.platform.intervene = undefined;
			fleet().remove(fleet().at(0).sn);
		}
		return undefined;
	};
	const first = await told(watching);
	expect(first).toHaveLength(29);
	expect([...first, ...(await told(watching))].sort()).toEqual([...added].sort());
});

const MODES: Array<[string, IDataObject]> = [
	['alone', {}],
	['with a filter', { filters: { tags: 'pilot' } }],
	['with a filter and all devices', { filters: { tags: 'pilot' }, events: ['deviceCreated', 'statusChanged'] }],
	['with all devices', { events: ['deviceCreated', 'statusChanged'] }],
];

it.each(MODES)('names a device once that is dated over two days ahead and hides others: %s', async (_, parameters) => {
	const watching = await watch(parameters);
	const sn = add({ createTime: '2026-11-03 00:00:00' });
	for (let count = 0; count < 2; count++) await watching.poll();
	expect(warnings()).toEqual([]);
	fleet().update(sn, { createTime: '2026-11-03 00:00:01' });
	for (let count = 0; count < 2; count++) await watching.poll();
	// A corrected date still hides others.
	fleet().update(sn, { createTime: LATER.replace('2031', '2026') });
	for (let count = 0; count < 2; count++) await watching.poll();
	const words = `The trigger "Watch" can't find other devices by createTime before 2026-11-03 00:00:01, because`;
	expect(warnings()).toEqual([`${words} the device ${sn} has that date`, `${words} a device had that date`]);
});

describe('a date in another format', () => {
	const odd = (sn: string, field = 'createTime') =>
		`The trigger "Watch" can't read ${field} of ${sn} (not YYYY-MM-DD HH:MM:SS), and may read the whole fleet`;

	it.each(
		MODES.flatMap(([mode, parameters]) =>
			// Where a platform lists them that sorts dates as text, newest first.
			Object.entries({ first: 'N/A', 'after the newest one': '2024-01-08 11:42', last: '1704713322000' }).map(
				([place, createTime]) => ({ mode, parameters, place, createTime }),
			),
		),
	)('hides no other device, and is named once: $place, $mode', async ({ mode, parameters, place, createTime }) => {
		const { sn } = fleet().devices.find(({ tags }) => tags.includes('pilot')) ?? fleet().at(0);
		fleet().update(sn, { createTime });
		const watching = await watch(parameters);
		for (let count = 0; count < 2; count++) {
			const added = [add({ tags: ['pilot'] }), add({ tags: ['pilot'] }, 200)];
			expect((await told(watching)).sort()).toEqual(added.sort());
		}
		// A short list is not read down to the last device.
		expect(warnings()).toEqual(place === 'last' && mode === 'with a filter' ? [] : [odd(sn)]);
	});

	it('hides no device on the next page of a long list', async () => {
		const watching = await watch({ options: { pageSize: 20 } });
		const added = Array.from({ length: 30 }, (_, index) =>
			add({ createTime: `2031-01-${String(index + 1).padStart(2, '0')} 00:00:00` }),
		);
		// The last one on the first page.
		fleet().update(added.splice(10, 1).join(), { createTime: '2031-01-11' });
		expect((await told(watching)).sort()).toEqual(added.sort());
		expect(await told(watching)).toEqual([]);
	});

	it('counts once it is corrected: the device is new if that is within two hours of the newest one', async () => {
		const [late, old] = [fleet().at(0).sn, fleet().at(30).sn];
		for (const sn of [late, old]) fleet().update(sn, { createTime: 'N/A' });
		const watching = await watch();
		expect(await told(watching)).toEqual([]);
		fleet().update(late, { createTime: '2024-01-08 09:42:03' });
		expect(await told(watching)).toEqual([late]);
		fleet().update(old, { createTime: '2024-01-08 09:42:01' });
		// The order is used again at once.
		expect((await askedBy(watching)).at(-1)).toBe('size=1&sort=createTime asc');
		// Of two devices, the log names the first by serial number.
		expect(warnings()).toEqual([odd(old)]);
	});

	it.each(MODES)('fails the poll if no device has a readable one: %s', async (_, parameters) => {
		for (const { sn } of fleet().devices) fleet().update(sn, { createTime: '1704713322000' });
		await expect(new Watch(bench, parameters).activate()).rejects.toMatchObject({
			message: "The platform sends an unknown date format in 'createTime'",
			description:
				"The API document has the format YYYY-MM-DD HH:MM:SS. Remove the event that needs it from 'Events', or ask your platform administrator.",
		});
		// Also if the others have none.
		for (const { sn } of fleet().devices.slice(1)) fleet().update(sn, { createTime: '' });
		await expect(new Watch(bench, parameters).activate()).rejects.toThrow("an unknown date format in 'createTime'");
	});
});
