import type { IDataObject } from 'n8n-workflow';

import { EVENTS } from '../../nodes/DeviceManagement/trigger/changes/watched.ts';
import { useBench } from '../../testbed/jest.mts';
import { changeOf, parametersFor, SAMPLES } from '../../testbed/trigger/samples.mts';
import { LATER, published, told, useTrigger } from '../../testbed/trigger/watching.mts';

const n8n = useBench();
const { asked, bench, clock, fleet, watch, add, change, remove } = useTrigger();

const ALL_EVENTS = EVENTS.map(({ name }) => name);

it('Events: all of them, in one walk', async () => {
	const watching = await watch(parametersFor(ALL_EVENTS));
	const changed = change(10, { ...changeOf(fleet().at(10)), updateTime: LATER });
	const removed = remove(20);
	const created = add();
	bench.platform.forget();
	const ofChanged = ['deviceUpdated', ...Object.keys(SAMPLES)].map((event) => `${event} ${changed}`);
	const expected = [`deviceCreated ${created}`, ...ofChanged, `deviceRemoved ${removed}`];
	expect(told(await watching.poll()).sort()).toEqual(expected.sort());
	expect(asked()).toEqual(['size=1000&sort=id asc', `/api/device/sn/${removed}`]);
});

it('Attributes: watches only the named keys, trimmed, with any characters', async () => {
	const keys = ['a.b', 'c d', 'расположение', '__proto__'];
	const all = (value: number, other: number) => ({
		attributes: Object.fromEntries([...keys.map((key) => [key, value]), ['other', other]]),
	});
	change(3, all(1, 1));
	const watching = await watch({ events: ['attributeChanged'], attributes: ` ${keys.join(' ,')},, c d` });
	change(3, all(2, 2));
	const expected = [...keys].sort().map((key) => ({ field: `attributes.${key}`, previous: 1, current: 2 }));
	expect(await watching.poll()).toMatchObject(expected);
	change(3, all(2, 3));
	expect(await watching.poll()).toBeNull();
});

it('Conditions and Filters: what is chosen from a list, entered beside it, or comes from an expression', async () => {
	const chosen = (value: string, mode = 'list') => ({ __rl: true, mode, value, cachedResultName: 'x' });
	const { sn, group } = n8n.fleet.at(3);
	const become = (onlineStatus: number, battery: number) =>
		n8n.fleet.update(sn, { onlineStatus, attributes: { battery } });
	become(1, 25);
	const below = chosen('={{ 10 + 10 }}', 'below');
	const watching = await published(n8n, {
		events: ['onlineStatusChanged', 'attributeChanged'],
		filters: { group: chosen(group.name) },
		conditions: {
			rule: [
				{ field: 'onlineStatus', from: chosen(''), to: chosen('0') },
				{ field: 'attributes', attribute: chosen('battery'), from: chosen('', 'text'), to: below },
			],
		},
	});
	become(0, 20);
	expect(await watching.poll()).toMatchObject([{ field: 'onlineStatus', previous: 1, current: 0 }]);
	become(1, 19);
	expect(await watching.poll()).toMatchObject([{ field: 'attributes.battery', previous: 20, current: 19 }]);
	become(1, 18);
	expect(await watching.poll()).toBeNull();
});

it('Output: raw, and each item has its own device', async () => {
	const watching = await watch({ events: ['deviceUpdated', 'statusChanged'], output: 'raw' });
	const attributes = Object.fromEntries(['__proto__', 'constructor', 'prototype'].map((key) => [key, key]));
	const device = JSON.stringify(fleet().get(change(3, { status: 50, updateTime: LATER, attributes })));
	const [one, other] = (await watching.poll()) ?? [];
	expect([one, other].map((item) => JSON.stringify(item?.['device']))).toEqual([device, device]);
	expect(one?.['device']).not.toBe(other?.['device']);
});

it('an item has the fields of the contract, in this order', async () => {
	const watching = await watch(parametersFor(ALL_EVENTS));
	fleet().add();
	change(7, { onlineStatus: 50 });
	clock.now += 61_500;
	const [second = {}, first = {}] = (await watching.poll()) ?? [];
	expect(Object.keys(first)).toEqual(['event', 'device', 'eventId', 'detectedAt']);
	expect(first['detectedAt']).toBe('2026-11-01T00:01:01.500Z');
	expect(Object.keys(second)).toEqual(['event', 'field', 'previous', 'current', 'device', 'eventId', 'detectedAt']);
});

describe('Options', () => {
	const events = ['onlineStatusChanged'];

	it('Items per Poll: one item for all events of a poll', async () => {
		const watching = await watch({ events, options: { emit: 'perPoll' } });
		const changed = [4, 3].map((position) => `onlineStatusChanged ${change(position, { onlineStatus: 50 })}`);
		const [item, ...others] = (await watching.poll()) ?? [];
		expect([item?.['count'], told(item?.['events'] as IDataObject[]), others]).toEqual([2, changed, []]);
		expect(await watching.poll()).toBeNull();
	});

	it('Page Size and Parallel Requests', async () => {
		const watching = await published(n8n, { events, options: { pageSize: 30, parallelRequests: 2 } });
		n8n.platform.forget();
		n8n.platform.settings.latencyMs = 2;
		await watching.poll();
		expect(n8n.platform.requests.map(({ query }) => query['size'])).toEqual(Array(9).fill('30'));
		expect(n8n.platform.peakInFlight).toBe(2);
	});
});

const UNKNOWN = 'has an unknown value. Use one of: ';
const OF_WRONG_TYPE = "'Conditions' has a value of the wrong type";
const NO_NUMBER = "'For At Least (Minutes)' must be a whole number from 0 to 43,200";
const NO_STATE = "'First Poll' needs a condition with only 'To' set";
/** JavaScript rounds it before the node reads it. */
const LONG = Number('89882110000003456789');
const ATTRIBUTES = { events: ['attributeChanged'], attributes: 'a' };
const FIRST = { options: { firstPoll: 'report' } };

type Given = Record<string, unknown>;
/** What the form has, what the only condition has, and the words. */
it.each<[given: Given, rule: Given | undefined, words: string]>([
	[{ events: [] }, undefined, "'Events' is empty"],
	[{ events: ['deviceStolen'] }, undefined, `'Events' ${UNKNOWN}`],
	[{ ...ATTRIBUTES, attributes: ' , ' }, undefined, "'Attributes' is empty"],
	[{ attributes: 'firmware' }, undefined, "'Attributes' is filled in, but no event uses it"],
	[{ ...ATTRIBUTES, attributes: LONG }, undefined, "The number in 'Attributes'"],
	[
		{ events: ['deviceRemoved'], forAtLeast: 15 },
		undefined,
		"'For At Least (Minutes)' is filled in, but no event uses it",
	],
	[{ forAtLeast: 43_201 }, undefined, NO_NUMBER],
	[{ forAtLeast: undefined }, undefined, NO_NUMBER],
	[FIRST, { from: '1', to: '0' }, NO_STATE],
	[FIRST, {}, NO_STATE],
	[{ options: { firstPoll: 'all' } }, { to: '0' }, `'First Poll' ${UNKNOWN}remember, report`],
	[{ options: { forAtLeast: 5 } }, undefined, `There is no option "forAtLeast" under 'Options'`],
	[{ options: { emit: 'never' } }, undefined, `'Items per Poll' ${UNKNOWN}`],
	[{ options: { pageSize: 0 } }, undefined, "'Page Size' must be a whole number"],
	[{ output: 'everything' }, undefined, "'Output'"],
	[{ filters: { group: { mode: 'id', value: 'A' } } }, undefined, "'Group' has a value of the wrong type"],
	[{ conditions: undefined }, undefined, "'Conditions' is nothing"],
	[{}, { field: 'mood' }, `'Conditions' ${UNKNOWN}`],
	[{}, { field: 'onlineStatus' }, "'Online Status' needs its event"],
	[{}, { field: 'attributes', attribute: ' a ' }, "'Attribute' needs its event"],
	[ATTRIBUTES, { field: 'attributes', attribute: ' ' }, "A condition has no 'Attribute'"],
	[{}, { from: undefined, to: '0' }, OF_WRONG_TYPE],
	[{}, { from: '1', to: null }, OF_WRONG_TYPE],
	[{}, { to: LONG }, "The number in 'Conditions'"],
	...['low', '20 %', '0x10', 'Infinity', '-', '1e999', true].map((value): [Given, Given, string] => [
		{},
		{ to: { mode: 'below', value } },
		`'To' under 'Conditions' is "${value}" instead of a number`,
	]),
	[{}, { to: { mode: 'above', value: '' } }, "'To' under 'Conditions' is empty instead of a number"],
	[{}, { to: { mode: 'below', value: undefined } }, "'To' under 'Conditions' is empty instead of a number"],
	// Only 'To' has limits, and an unknown mode is not read as another one.
	[{}, { from: { mode: 'below', value: '20' } }, OF_WRONG_TYPE],
	[{}, { to: { mode: 'id', value: '20' } }, OF_WRONG_TYPE],
	[{}, { to: { mode: 'list', value: null } }, OF_WRONG_TYPE],
	[{}, { from: { mode: 'text', value: undefined } }, OF_WRONG_TYPE],
])('bad input is refused with the label of its field: %j, with the condition %j', async (given, rule, words) => {
	const conditions = rule && { conditions: { rule: [{ field: 'status', ...rule }] } };
	await expect(watch(Object({ events: ['statusChanged'], ...conditions, ...given }))).rejects.toThrow(words);
});
