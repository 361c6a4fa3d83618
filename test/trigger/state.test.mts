import type { State } from '../../nodes/DeviceManagement/trigger/compare/compare.ts';
import { decodeState, encodeState } from '../../nodes/DeviceManagement/trigger/state.ts';
import { joinKept, keep } from '../../nodes/DeviceManagement/trigger/compare/kept.ts';

const WRITTEN =
	'{"format":2,"number":3,"fingerprint":"f",' +
	'"recent":[{"field":"createTime","newest":100,"rows":{"40":["C"],"100":["A","B"]}},' +
	'{"field":"updateTime","newest":null,"rows":{}}],' +
	'"devices":{"[1,0]":["SN1","SN2"],"[2,\\"x\\"]":["SN3","__proto__"]},"away":{"7":["SN2"]},' +
	'"holds":[{"sn":["SN1","SN3"],"field":0,"value":"2","since":5},{"sn":["SN1"],"field":1,"value":"2","since":5}]}';

it('is plain JSON, grouped by values', () => {
	const read = decodeState(WRITTEN);
	expect(read?.recent.get('createTime')?.rows.get('C')).toBe(40);
	expect(read?.recent.get('updateTime')).toEqual({ newest: null, rows: new Map() });
	expect(read?.snapshot?.devices.get('SN2')).toBe('[1,0]');
	expect([...(read?.snapshot?.away ?? [])]).toEqual([['SN2', 7]]);
	const hold = { field: 0, value: '2', since: 5 };
	const holds = ['SN1', 'SN3'].map((sn) => ({ sn, ...hold }));
	expect(read?.snapshot?.holds).toEqual([...holds, { sn: 'SN1', ...hold, field: 1 }]);
	expect(read && encodeState(read)).toBe(WRITTEN);
});

it('has nothing that a database would not keep, whatever the platform sends', () => {
	const odd = ['\ud800', '\0', '"', '\\', 'x'.repeat(101), '__proto__', ' '];
	const devices = new Map(odd.map((text) => [text, joinKept([keep(text)])]));
	const snapshot = { devices, away: new Map([['\ud800', -5]]), holds: [] };
	const state: State = { fingerprint: 'f', number: 1, writes: 2, recent: new Map(), snapshot };
	const encoded = encodeState(state);
	expect(decodeState(encoded)).toEqual(state);
	expect(encoded.isWellFormed()).toBe(true);
	expect(encoded).not.toMatch(/[\x00-\x1f]/);
});

it('is not taken from a text that is missing, that was cut, or in which a part has another form', () => {
	for (const other of [undefined, 'no JSON', '{}', '[]', '7']) expect(decodeState(other)).toBeUndefined();
	for (let length = 0; length < WRITTEN.length; length++) expect(decodeState(WRITTEN.slice(0, length))).toBeUndefined();
	for (const [one, other] of [
		['"100":', '"hundred":'],
		['"100":', '"1e2":'],
		['"100":["A","B"]', '"100":"A"'],
		['"number":3', '"number":3.5'],
		// No time is that late.
		['"number":3', '"number":8640000000001'],
		['"newest":100', '"newest":8640000000001'],
		['"100":', '"86400000000010":'],
		['"newest":100', '"newest":"100"'],
		['"[1,0]"', '"[1,0"'],
		['"[1,0]"', '"{}"'],
		['"field":0', '"field":-1'],
		['"value":"2"', '"value":"two"'],
		['"format":2', '"format":2,"more":1'],
		['"format":2', '"format":1'],
		['"format":2', '"format":3'],
		['"sn":["SN1"]', '"sn":"SN1"'],
		['"7":', '"seven":'],
		['"holds"', '"held"'],
	] as const) {
		expect(WRITTEN).toContain(one);
		expect(decodeState(WRITTEN.replace(one, other))).toBeUndefined();
	}
});
