import { decodeState, encodeState, type State } from '../../nodes/DeviceManagement/trigger/changes/state.ts';
import { digest, keep, recall } from '../../nodes/DeviceManagement/trigger/changes/values.ts';
import { Fleet } from '../../testbed/platform/fleet.mts';
import { useTrigger } from '../../testbed/trigger/watching.mts';

const { bench, watch, add } = useTrigger();

const WRITTEN =
	'{"format":3,"fingerprint":"f","number":3,"since":"2026-01-01","newest":"2026-02-01","fields":["status","group"],"devices":[' +
	'[["SN1","SN2"],[1,null]],' +
	'[["SN3","__proto__"],[1,[]],{"waiting":{"status":{"value":2,"since":5}}}],' +
	'[["SN4"],[[],[]],{"outside":"left","away":{"since":7,"next":9,"newest":""}}]]}';

it('is plain JSON: each entry once, with its devices', () => {
	const read = decodeState(WRITTEN);
	expect(read?.devices.get('SN2')).toEqual({ values: { status: 1, group: null } });
	expect(read?.devices.get('SN2')).toBe(read?.devices.get('SN1'));
	// A state that is still to be reported has no value.
	const waiting = { values: { status: 1 }, waiting: { status: { value: 2, since: 5 } } };
	expect(read?.devices.get('__proto__')).toEqual(waiting);
	expect(read && encodeState(read)).toBe(WRITTEN);
});

it('has nothing that a database would not keep, whatever the platform sends', () => {
	const odd = ['\ud800', '\0', '"', '\\', 'x'.repeat(101), '__proto__', ' '];
	const devices = new Map(odd.map((text) => [text, { values: { status: text } }]));
	const state: State = { fingerprint: 'f', number: 1, since: undefined, newest: '', fields: ['status'], devices };
	const encoded = encodeState(state);
	expect(decodeState(encoded)).toEqual(state);
	expect(encoded.isWellFormed()).toBe(true);
	expect(encoded).not.toMatch(/[\x00-\x1f]/);
});

it('is not taken from a text that is missing, that was cut, or that has another format', () => {
	const others = [WRITTEN.replace('3', '2'), WRITTEN.replace('"2026-02-01"', '5'), WRITTEN.replace('["status"', '[7')];
	for (const other of [undefined, 'no JSON', '{}', '[]', '7', ...others]) expect(decodeState(other)).toBeUndefined();
	for (let length = 0; length < WRITTEN.length; length++) expect(decodeState(WRITTEN.slice(0, length))).toBeUndefined();
});

it('has a value as it came, or its digest if it is longer than 100 characters', () => {
	const kept = ['1', 1, '', null, 'null', true, [], {}, { json: 1 }, { digest: 'x' }, { id: 1 }, 'x'.repeat(100)];
	expect(kept.map((one) => recall(keep(one)))).toEqual(kept);
	expect([undefined, { digest: 'x' }].map(keep)).toEqual([null, { json: { digest: 'x' } }]);
	const long = [['x'.repeat(101), 'x'.repeat(101)] as const, [['x'.repeat(97)], `["${'x'.repeat(97)}"]`] as const];
	for (const [value, text] of long)
		expect([keep(value), recall(keep(value))]).toEqual([{ digest: digest(text) }, undefined]);
	expect(keep({ a: 1, b: [{ c: 2, d: 3 }] })).toEqual(keep({ b: [{ d: 3, c: 2 }], a: 1 }));
});

it('of more than 50 MB fails the poll, and what was known stays', async () => {
	bench.platform.fleet = Fleet.seeded({ size: 2 });
	const watching = await watch({ events: ['statusChanged'] }, { host: 'C' });
	for (let id = 0; id < 6; id++) add({ sn: `${id}`.padEnd(7_500_000, 'x') });
	await watching.poll();
	const { state, database } = watching;
	expect(state?.length).toBeGreaterThan(45_000_000);
	add({ sn: 'z'.repeat(7_500_000) });
	await expect(watching.poll()).rejects.toMatchObject({
		message: 'The trigger needs 53 MB, but can store only 50 MB',
		description: "Watch fewer devices with 'Filters', or fewer 'Attributes'.",
	});
	expect([database.history.length, watching.state === state]).toEqual([2, true]);
});
