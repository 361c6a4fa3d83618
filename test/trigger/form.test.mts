import type { IDataObject } from 'n8n-workflow';

import { CHANGE_EVENTS, EVENTS } from '../../nodes/DeviceManagement/trigger/compare/watched.ts';
import { useBench, useStillClock } from '../../testbed/jest.mts';
import { inGroupsOf } from '../../testbed/platform/inGroupsOf.mts';
import type { Device } from '../../testbed/platform/fleet.mts';
import { Watch } from '../../testbed/watch.mts';
import { changeOf, parametersFor, SAMPLES } from './samples.mts';

const bench = useBench();
const clock = useStillClock();

const ALL_EVENTS = EVENTS.map(({ name }) => name);
const AFTER_ALL = '2031-01-01 00:00:00';

/** Publishes a trigger, which takes its baseline. */
async function watch(parameters: IDataObject): Promise<Watch> {
	const watching = new Watch(bench, parameters);
	expect(await watching.activate()).toBeNull();
	return watching;
}

/** What a poll reports, as event and serial number. */
const told = (items: IDataObject[] | null) =>
	items?.map(({ event, device }) => [event, (device as IDataObject)['sn']]) ?? null;

const change = (position: number, changes: Partial<Device>) =>
	bench.fleet.update(bench.fleet.at(position).sn, changes).sn;

describe('Events', () => {
	/** Something of everything: the serial numbers of what changed. */
	function happen() {
		const changed = change(10, { ...changeOf(bench.fleet.at(10)), updateTime: AFTER_ALL });
		const removed = bench.fleet.remove(bench.fleet.at(20).sn).sn;
		return { changed, removed, created: bench.fleet.add().sn };
	}

	it('each event of change has a row in test/trigger/samples.mts, so that every suite makes it happen', () => {
		expect(CHANGE_EVENTS.filter((event) => !Object.hasOwn(SAMPLES, event))).toEqual([]);
	});

	it.each([...ALL_EVENTS, 'deviceCreated, which is the default'])('%s alone', async (name) => {
		const [event = '', isDefault] = name.split(', ');
		const watching = await watch(isDefault === undefined ? parametersFor([event]) : {});
		const { changed, created, removed } = happen();
		const whose = new Map([
			['deviceCreated', created],
			['deviceRemoved', removed],
		]);
		expect(told(await watching.poll())).toEqual([[event, whose.get(event) ?? changed]]);
		expect(await watching.poll()).toBeNull();
	});

	it('all of them, in one walk', async () => {
		const watching = await watch(parametersFor(ALL_EVENTS));
		const { changed, created, removed } = happen();
		bench.platform.forget();
		expect(told(await watching.poll())).toEqual([
			['deviceCreated', created],
			['deviceUpdated', changed],
			...Object.keys(SAMPLES).map((event) => [event, changed]),
			['deviceRemoved', removed],
		]);
		expect(bench.platform.requests.map(({ url }) => url)).toEqual([
			'/api/device/list?size=1000',
			`/api/device/sn/${removed}`,
		]);
	});

	it.each(Object.entries(SAMPLES))('deviceRemoved shows the last value that %s knows', async (event, sample) => {
		const sn = change(20, sample.changes[0] ?? {});
		const last = sample.valueOf(bench.fleet.at(20));
		const watching = await watch(parametersFor(['deviceRemoved', event]));
		bench.fleet.remove(sn);
		const device = Object((await watching.poll())?.[0]?.['device']);
		expect([device.sn, sample.valueOf(device)]).toEqual([sn, last]);
	});

	it('a created device has no other event in that poll', async () => {
		const watching = await watch(parametersFor(ALL_EVENTS));
		const old = bench.fleet.remove(bench.fleet.at(0).sn);
		// The same serial number on a new record with other values.
		bench.fleet.add(bench.fleet.make({ sn: old.sn, onlineStatus: 77, updateTime: AFTER_ALL }));
		expect(told(await watching.poll())).toEqual([['deviceCreated', old.sn]]);
		expect(await watching.poll()).toBeNull();
	});
});

it.each([
	['Attributes', { events: ['attributeChanged'], attributes: '={{ 89882110000003456789 }}' }],
	[
		'Only When',
		{ events: ['statusChanged'], conditions: { rule: [{ field: 'status', to: '={{ 89882110000003456789 }}' }] } },
	],
	[
		'Only When',
		{ events: ['statusChanged'], conditions: { rule: [{ field: 'status', from: '={{ 89882110000003456789 }}' }] } },
	],
	['Name', { filters: { name: '={{ 89882110000003456789 }}' } }],
])("a number in '%s' that n8n could not keep is refused", async (label, parameters) => {
	await expect(new Watch(bench, parameters).activate()).rejects.toMatchObject({
		message: `The number in '${label}' has more digits than n8n can keep`,
		description: 'Enter it as text.',
	});
	expect(bench.platform.requests).toEqual([]);
});

describe('Attributes', () => {
	it('watches only the named keys, trimmed, with any characters', async () => {
		const keys = ['a.b', 'c d', 'расположение', '__proto__'];
		change(3, { attributes: Object.fromEntries(keys.map((key) => [key, 1])) });
		const watching = await watch({ events: ['attributeChanged'], attributes: ` ${keys.join(' ,')},, c d` });
		const sn = change(3, { attributes: { ...Object.fromEntries(keys.map((key) => [key, 2])), other: 3 } });
		const items = await watching.poll();
		expect(items?.map(({ field, previous, current }) => [field, previous, current])).toEqual(
			[...keys].sort().map((key) => [`attributes.${key}`, 1, 2]),
		);
		expect(told(items)?.every(([, whose]) => whose === sn)).toBe(true);
		change(3, { attributes: { ...Object.fromEntries(keys.map((key) => [key, 2])), other: 4 } });
		expect(await watching.poll()).toBeNull();
	});

	it.each([
		['a number', 1, 2],
		['a number as text', 1, '1'],
		['nothing', 'x', null],
		['no attribute at all', 'x', undefined],
		['an empty list', 'x', []],
		['the other way', false, true],
	])('has the value before and after: %s', async (_, before, after) => {
		change(3, { attributes: { key: before } });
		const watching = await watch({ events: ['attributeChanged'], attributes: 'key' });
		change(3, { attributes: after === undefined ? {} : { key: after } });
		expect(await watching.poll()).toMatchObject([
			{ field: 'attributes.key', previous: before, current: after ?? null },
		]);
		change(3, { attributes: { key: before } });
		expect(await watching.poll()).toMatchObject([{ previous: after ?? null, current: before }]);
	});

	it.each([
		['a text of 100 characters', 'x'.repeat(100), true],
		['a longer text', 'x'.repeat(101), false],
		['an object', { rather: ['long'] }, true],
		['a longer object', { rather: 'x'.repeat(100) }, false],
	])(
		'remembers values of up to 100 characters whole, of others only that they changed: %s',
		async (_, before, isKept) => {
			change(3, { attributes: { key: before } });
			const watching = await watch({ events: ['attributeChanged'], attributes: 'key' });
			change(3, { attributes: { key: 'another' } });
			expect(await watching.poll()).toMatchObject([{ previous: isKept ? before : null, current: 'another' }]);
		},
	);
});

describe('Only When', () => {
	const LONG = 'x'.repeat(101);
	const rules = (...rule: IDataObject[]) => ({ rule });

	it('reports only what goes from and to the given values, as alternatives of one field', async () => {
		change(0, { onlineStatus: 1 });
		const watching = await watch({
			events: ['onlineStatusChanged', 'statusChanged'],
			conditions: rules(
				{ field: 'onlineStatus', from: '1', to: '0' },
				{ field: 'onlineStatus', from: '0', to: '5' },
				{ field: 'onlineStatus', to: '7' },
			),
		});
		const poll = async (onlineStatus: number) => {
			change(0, { onlineStatus });
			return (await watching.poll())?.map(({ previous, current }) => [previous, current]) ?? null;
		};
		expect(await poll(0)).toEqual([[1, 0]]);
		expect(await poll(1)).toBeNull();
		expect(await poll(5)).toBeNull();
		expect(await poll(0)).toBeNull();
		expect(await poll(5)).toEqual([[0, 5]]);
		expect(await poll(7)).toEqual([[5, 7]]);
		// A field without rules has every change reported.
		change(0, { status: 12 });
		expect(await watching.poll()).toMatchObject([{ event: 'statusChanged', current: 12 }]);
	});

	it('compares the values of attributes as text, long ones too', async () => {
		change(0, { attributes: { a: 1, b: LONG } });
		const watching = await watch({
			events: ['attributeChanged'],
			attributes: 'a, b',
			conditions: rules(
				{ field: 'attributes', attribute: ' a ', from: '1', to: 'true' },
				{ field: 'attributes', attribute: 'b', from: LONG },
			),
		});
		change(0, { attributes: { a: true, b: 'another' } });
		expect((await watching.poll())?.map(({ field }) => field)).toEqual(['attributes.a', 'attributes.b']);
		change(0, { attributes: { a: 1, b: LONG } });
		expect(await watching.poll()).toBeNull();
	});

	it.each([
		[['statusChanged'], { field: 'onlineStatus' }, "'Online Status', which is not watched"],
		[['onlineStatusChanged'], { field: 'status' }, "'Status', which is not watched"],
		[['statusChanged'], { field: 'attributes', attribute: 'site' }, 'the attribute "site", which is not watched'],
		[['attributeChanged'], { field: 'attributes', attribute: 'site' }, 'the attribute "site", which is not watched'],
		[['attributeChanged'], { field: 'attributes', attribute: ' ' }, 'the attribute "", which is not watched'],
		[['deviceCreated'], { field: 'status' }, "'Status', which is not watched"],
	])('refuses a rule that can never apply: %p %p', async (events, rule, words) => {
		const attributes = events.includes('attributeChanged') ? 'firmware' : '';
		const watching = new Watch(bench, { events, attributes, conditions: rules(rule) });
		await expect(watching.activate()).rejects.toThrow(words);
	});
});

describe('Filters', () => {
	it('are sent, and only devices that meet them are watched', async () => {
		const watching = await watch({
			events: ['onlineStatusChanged'],
			filters: {
				tags: 'pilot',
				name: 'R',
				compositeStatus: 2,
				attributes: { pair: [{ key: 'floor', value: '1' }] },
				query: { parameter: [{ name: 'creator', value: 'admin' }] },
				body: '{"iccidOverwrite": 0}',
			},
		});
		const [request] = bench.platform.requestsOf('list');
		expect(request).toMatchObject({
			query: { tags: 'pilot', name: 'R', attributes: 'floor 1', creator: 'admin' },
			body: { compositeStatus: 2, iccidOverwrite: 0 },
		});
		change(0, { onlineStatus: 99, tags: [] });
		expect(await watching.poll()).toBeNull();
	});

	it('forget a device that left them an hour ago', async () => {
		const inside = change(0, { tags: ['in'], onlineStatus: 1 });
		change(1, { tags: ['in'] });
		const watching = await watch({ events: ['onlineStatusChanged', 'deviceRemoved'], filters: { tags: 'in' } });
		bench.fleet.update(inside, { tags: [] });
		expect(await watching.poll()).toBeNull();
		bench.fleet.update(inside, { tags: ['in'], onlineStatus: 2 });
		expect(await watching.poll()).toMatchObject([{ previous: 1, current: 2 }]);
		bench.fleet.update(inside, { tags: [] });
		expect(await watching.poll()).toBeNull();
		clock.now += 3_600_000;
		bench.fleet.update(inside, { tags: ['in'], onlineStatus: 3 });
		expect(await watching.poll()).toBeNull();
		bench.fleet.update(inside, { onlineStatus: 4 });
		expect(await watching.poll()).toMatchObject([{ previous: 3, current: 4 }]);
	});
});

describe('Output', () => {
	it.each([
		[
			'simplified',
			{},
			[
				'createTime',
				'description',
				'groupName',
				'id',
				'modelName',
				'onlineStatus',
				'sn',
				'status',
				'tags',
				'updateTime',
			],
		],
		['selected', { fields: ['sn', 'model'] }, ['id', 'model', 'sn']],
	])('%s', async (output, more, fields) => {
		const watching = await watch({ events: ['deviceCreated', 'statusChanged'], output, ...more });
		bench.fleet.add();
		change(3, { status: 50 });
		for (const { device } of (await watching.poll()) ?? [])
			expect(Object.keys(device as IDataObject).sort()).toEqual(fields);
	});

	it('raw, and each item has its own device', async () => {
		const watching = await watch({ events: ['deviceUpdated', 'statusChanged'], output: 'raw' });
		const sn = change(3, { status: 50, updateTime: AFTER_ALL });
		const [one, other] = (await watching.poll()) ?? [];
		expect(one?.['device']).toEqual(bench.fleet.get(sn));
		expect(other?.['device']).toEqual(bench.fleet.get(sn));
		expect(one?.['device']).not.toBe(other?.['device']);
	});
});

describe('an item', () => {
	it('has the fields of the contract, in this order', async () => {
		const watching = await watch(parametersFor(ALL_EVENTS));
		const created = bench.fleet.add();
		change(7, { onlineStatus: 50 });
		clock.now += 61_500;
		const [first, second] = (await watching.poll()) ?? [];
		expect(Object.keys(first ?? {})).toEqual(['event', 'device', 'eventId', 'detectedAt']);
		expect(first).toMatchObject({
			event: 'deviceCreated',
			detectedAt: '2026-11-01T00:01:01.500Z',
			device: { createTime: created.createTime },
		});
		expect(Object.keys(second ?? {})).toEqual([
			'event',
			'field',
			'previous',
			'current',
			'device',
			'eventId',
			'detectedAt',
		]);
		expect(second?.['eventId']).toMatch(/^[\w-]{22}$/);
	});
});

describe('Options', () => {
	const events = ['onlineStatusChanged'];

	it('Emit: one item for all events of a poll', async () => {
		const watching = await watch({ events, options: { emit: 'perPoll' } });
		const changed = [change(3, { onlineStatus: 50 }), change(4, { onlineStatus: 50 })];
		const items = await watching.poll();
		expect(items).toEqual([{ count: 2, events: [expect.anything(), expect.anything()] }]);
		expect(told(items?.[0]?.['events'] as IDataObject[])).toEqual(changed.map((sn) => ['onlineStatusChanged', sn]));
		expect(await watching.poll()).toBeNull();
	});

	it('For At Least: nothing of a device that came back', async () => {
		change(3, { onlineStatus: 1 });
		const watching = await watch({ events, forAtLeast: 15 });
		for (const onlineStatus of [0, 1, 0, 1]) {
			change(3, { onlineStatus });
			expect(await watching.poll()).toBeNull();
			clock.now += 14 * 60_000;
		}
		expect(await watching.poll()).toBeNull();
	});

	it('Page Size and Parallel Requests', async () => {
		const watching = await watch({ events, options: { pageSize: 30, parallelRequests: 2 } });
		bench.platform.forget();
		const pairs = inGroupsOf(2);
		bench.platform.settings.beforeAnswer = async ({ page }) => {
			if (page !== 0) await pairs();
		};
		await watching.poll();
		expect(bench.platform.requests).toHaveLength(9);
		for (const { query } of bench.platform.requests) expect(query['size']).toBe('30');
		expect(bench.platform.peakInFlight).toBe(2);
	});

	it('Timeout and Max Retries', async () => {
		const watching = await watch({ events });
		bench.platform.settings.faults = [{ fault: 'hang', times: Infinity }];
		watching.parameters = { events, options: { timeout: 150, maxRetries: 1 } };
		await expect(watching.activate('update')).rejects.toThrow(
			'The platform did not respond within 150 ms, also after one retry',
		);
	});
});

describe('bad input is refused with the label of its field', () => {
	it.each<[IDataObject, string]>([
		[{ events: [] }, "'Events' is empty"],
		[{ events: ['deviceStolen'] }, "'Events' has a value of the wrong type"],
		[{ events: ['attributeChanged'], attributes: ' , ' }, "'Attributes' is empty"],
		[{ events: ['statusChanged'], attributes: 'firmware' }, "'Attributes' is filled in, but no event uses it"],
		[{ events: ['deviceRemoved'], forAtLeast: 15 }, "'For At Least (Minutes)' is filled in, but no event uses it"],
		[{ events: ['attributeChanged'], attributes: '={{ [] }}' }, "'Attributes' has a value of the wrong type"],
		[{ events: ['statusChanged'], conditions: '={{ undefined }}' }, "'Only When' is nothing"],
		[
			{ events: ['statusChanged'], conditions: { rule: [{ field: 'mood' }] } },
			"'Only When' has a value of the wrong type",
		],
		[{ filters: { tags: '={{ undefined }}' } }, "'Tags' under 'Filters' has no value"],
		[{ output: 'everything' }, "'Output'"],
		[{ options: '={{ { forAtleast: 15 } }}' }, 'There is no option "forAtleast" under \'Options\''],
		[{ options: { skip: 5 } }, 'There is no option "skip" under \'Options\''],
		[{ options: { ifNotFound: 'empty' } }, 'There is no option "ifNotFound" under \'Options\''],
		[{ options: { emit: 'never' } }, "'Items per Poll' has a value of the wrong type"],
		[{ options: { forAtLeast: 15 } }, 'There is no option "forAtLeast" under \'Options\''],
		[{ events: ['statusChanged'], forAtLeast: -1 }, "'For At Least (Minutes)' is not a whole number from 0 to 43200"],
		[{ events: ['statusChanged'], forAtLeast: '={{ null }}' }, "'For At Least (Minutes)' is not a whole number"],
		[{ events: ['statusChanged'], forAtLeast: '={{ undefined }}' }, "'For At Least (Minutes)' is not a whole number"],
		[
			{ events: ['statusChanged'], conditions: { rule: [{ field: 'status', from: '={{ undefined }}', to: '0' }] } },
			"'Only When' has a value of the wrong type",
		],
		[
			{ events: ['statusChanged'], conditions: { rule: [{ field: 'status', from: '1', to: '={{ null }}' }] } },
			"'Only When' has a value of the wrong type",
		],
		[{ events: ['statusChanged'], forAtLeast: '={{ "soon" }}' }, "'For At Least (Minutes)' is not a whole number"],
		[{ options: { pageSize: 0 } }, "'Page Size' is not a whole number"],
	])('%p', async (parameters, words) => {
		await expect(new Watch(bench, parameters).activate()).rejects.toThrow(words);
		expect(bench.platform.requests).toHaveLength(0);
	});
});
