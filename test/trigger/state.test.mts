import { decodeState, encodeState, type State } from '../../nodes/DeviceManagement/trigger/state.ts';

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
	expect(read?.devices.get('__proto__')).toEqual({
		values: { status: 1 },
		waiting: { status: { value: 2, since: 5 } },
	});
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
	for (const other of [undefined, 'no JSON', '{}', '[]', '7', WRITTEN.replace('3', '2')])
		expect(decodeState(other)).toBeUndefined();
	for (let length = 0; length < WRITTEN.length; length++) expect(decodeState(WRITTEN.slice(0, length))).toBeUndefined();
});
