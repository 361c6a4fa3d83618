import fc from 'fast-check';

import { decodeState, encodeState, type State } from '../../nodes/DeviceManagement/trigger/state.ts';
import { useTrigger } from './watching.mts';
import { Fleet } from '../../testbed/platform/fleet.mts';
import { Watch } from '../../testbed/watch.mts';
import { joinKept, keep } from '../../nodes/DeviceManagement/trigger/compare/kept.ts';
import { TIMES } from '../../nodes/DeviceManagement/trigger/compare/watched.ts';
import { runs } from '../../testbed/runs.mts';
import { text } from './compare/values.mts';

const seconds = fc.integer({ min: -100, max: 4_000_000_000 });
const recent = fc
	.record({ newest: fc.option(seconds), rows: fc.array(fc.tuple(text, seconds)) })
	.map(({ newest, rows }) => ({ newest, rows: new Map(rows) }));
const values = fc
	.array(fc.oneof(text, fc.integer(), fc.constant(null)), { maxLength: 3 })
	.map((values) => joinKept(values.map(keep)));
const hold = fc.record(
	{ sn: text, field: fc.nat({ max: 2 }), value: text.map(keep), since: seconds },
	{ noNullPrototype: true },
);
const snapshot = fc
	.record({ devices: fc.array(fc.tuple(text, values)), away: fc.array(fc.tuple(text, seconds)), holds: fc.array(hold) })
	.map(({ devices, away, holds }) => ({ devices: new Map(devices), away: new Map(away), holds }));
const optional = <T,>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const state: fc.Arbitrary<State> = fc.record(
	{
		fingerprint: fc.string(),
		number: fc.nat(),
		writes: optional(fc.nat()),
		recent: fc.subarray([...TIMES]).chain((times) => {
			const entries = times.map(({ field }) => fc.tuple(fc.constant(field), recent));
			return fc.tuple(...entries).map((all) => new Map(all));
		}),
		snapshot: optional(snapshot),
	},
	{ noNullPrototype: true },
);

it('is read as it was written, and written again byte for byte, without anything that a database would not keep', () => {
	fc.assert(
		fc.property(state, (written) => {
			const encoded = encodeState(written);
			const read = decodeState(encoded);
			expect(read).toEqual(written);
			expect(read === undefined ? '' : encodeState(read)).toBe(encoded);
			expect(encoded.isWellFormed()).toBe(true);
			expect(encoded).not.toMatch(/[\x00-\x1f]/);
		}),
		runs(1000),
	);
});

const WRITTEN =
	'{"format":2,"number":3,"fingerprint":"f",' +
	'"recent":[{"field":"createTime","newest":100,"rows":{"100":["A","B"],"40":["C"]}},' +
	'{"field":"updateTime","newest":null,"rows":{}}],' +
	'"devices":{"[1,0]":["SN1","SN2"],"[2,\\"x\\"]":["SN3"]},"away":{"7":["SN2"]},' +
	'"holds":[{"sn":"SN1","field":0,"value":"2","since":5}]}';

it('is plain JSON, grouped by values', () => {
	const read = decodeState(WRITTEN);
	expect(read?.recent.get('createTime')?.rows.get('C')).toBe(40);
	expect(read?.recent.get('updateTime')).toEqual({ newest: null, rows: new Map() });
	expect(read?.snapshot?.devices.get('SN2')).toBe('[1,0]');
	expect([...(read?.snapshot?.away ?? [])]).toEqual([['SN2', 7]]);
	expect(read?.snapshot?.holds).toEqual([{ sn: 'SN1', field: 0, value: '2', since: 5 }]);
	expect(JSON.parse(read === undefined ? '' : encodeState(read))).toEqual(JSON.parse(WRITTEN));
});

it('is not taken from a text that is missing, that was cut, or in which a part has another form', () => {
	for (const other of [undefined, 'no JSON', '{}', '[]', '7']) expect(decodeState(other)).toBeUndefined();
	for (let length = 0; length < WRITTEN.length; length++) expect(decodeState(WRITTEN.slice(0, length))).toBeUndefined();
	for (const [one, other] of [
		['"100":', '"hundred":'],
		['"100":', '"1e2":'],
		['"100":["A","B"]', '"100":"A"'],
		['"number":3', '"number":3.5'],
		['"newest":100', '"newest":"100"'],
		['"[1,0]"', '"[1,0"'],
		['"[1,0]"', '"{}"'],
		['"field":0', '"field":-1'],
		['"format":2', '"format":2,"more":1'],
		['"format":2', '"format":3'],
		['"7":', '"seven":'],
		['"holds"', '"held"'],
	] as const) {
		expect(WRITTEN).toContain(one);
		expect(decodeState(WRITTEN.replace(one, other))).toBeUndefined();
	}
});

const { bench, clock } = useTrigger();

it('of version 0.1.0 is read: a hold of that time goes on, and an offline device that it lacks is reported, once', async () => {
	const SAVED =
		'{"format":1,"number":1793491200,"fingerprint":"NfXFQA9VjwkIZm2azvjfFh","recent":[{"field":"createTime",' +
		'"newest":1704693600,"rows":{"1704693600":["1741900070000000002","1741900070000000001","1741900070000000000"]}}],' +
		'"devices":{"[1]":["LG33606866","TK71803467","LG10000068"]},' +
		'"holds":[{"sn":"LG33606866","field":0,"value":"0","since":1793491260}]}';
	const fleet = (bench.platform.fleet = Fleet.seeded({ size: 3, seed: 7 }));
	fleet.devices.forEach(({ sn }, index) => fleet.update(sn, { onlineStatus: index === 0 ? 0 : 1 }));
	const { sn } = fleet.add(fleet.make({ createTime: '2020-01-01 00:00:00', onlineStatus: 0 }));
	const rule = [{ field: 'onlineStatus', to: '0' }];
	const parameters = { events: ['deviceCreated', 'onlineStatusChanged'], forAtLeast: 15, conditions: { rule } };
	const watching = new Watch(bench, parameters, { host: 'C' });
	watching.database.cursor = JSON.stringify({ state: SAVED });
	clock.now = 1793491260_000 + 14 * 60_000;
	expect([await watching.poll(), ...bench.engine.logs]).toEqual([null]);
	expect(watching.state).toMatch(/^{"format":2,"number":1793491200,"writes":1,"fingerprint":"NfXFQA9VjwkIZm2azvjfFh"/);
	clock.now += 60_000;
	expect(await watching.poll()).toMatchObject([{ previous: 1, current: 0, device: { sn: 'LG33606866' } }]);
	clock.now += 14 * 60_000;
	expect(await watching.poll()).toMatchObject([{ previous: null, current: 0, device: { sn } }]);
	expect(await watching.poll()).toBeNull();
});
