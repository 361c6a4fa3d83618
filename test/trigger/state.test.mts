import fc from 'fast-check';

import { canonicalJson } from '../../nodes/DeviceManagement/trigger/digest.ts';
import type { Recent } from '../../nodes/DeviceManagement/trigger/recent.ts';
import type { Snapshot } from '../../nodes/DeviceManagement/trigger/snapshot.ts';
import { decodeState, differences, encodeState, fingerprintOf, type State } from '../../nodes/DeviceManagement/trigger/state.ts';
import { decodeValue, encodeValue, partsOf, readsLike, textOf } from '../../nodes/DeviceManagement/trigger/values.ts';

const RUNS = Number(process.env['PROPERTY_RUNS'] ?? 1000);

const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.constantFrom('', ' ', '=', '#', '%', "'", '%0020', '\0', '\ud800', '__proto__'));
const value = fc.oneof(text, fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), fc.constant(null), fc.json().map((json): object | null => JSON.parse(json)));

const seconds = fc.integer({ min: 0, max: 4_000_000_000 });
const row = fc.string({ unit: fc.constantFrom(...'abcXYZ019-_'), minLength: 11, maxLength: 11 });
const recent: fc.Arbitrary<Recent> = fc
	.record({ watermark: fc.option(seconds), risenAt: seconds, rows: fc.array(fc.tuple(row, seconds)), incomplete: fc.boolean() })
	.map(({ rows, watermark, incomplete, ...rest }) => ({
		...rest,
		watermark,
		rows: new Map(watermark === null ? [] : rows),
		...(incomplete ? { incomplete } : {}),
	}));

const sn = text.filter((one) => one !== '');
const code = fc.tuple(value, value, value).map((values) => values.map(encodeValue).join(''));
const snapshot: fc.Arbitrary<Snapshot> = fc
	.record({
		shared: fc.nat({ max: 2 }),
		devices: fc.array(fc.tuple(sn, code)),
		holds: fc.array(fc.tuple(sn, fc.nat({ max: 2 }), value, seconds)),
		absent: fc.array(sn),
	})
	.map(({ shared, devices, holds, absent }) => ({
		shared,
		devices: new Map(devices),
		holds: new Map(holds.map(([device, field, held, since]) => [device, new Map([[field, { part: encodeValue(held), since }]])])),
		absent: new Set(absent),
	}));

const state: fc.Arbitrary<State> = fc
	.record({
		fingerprint: fc.record({ workflow: fc.string(), events: fc.string(), filters: fc.string(), account: fc.string() }),
		number: seconds,
		created: fc.option(recent, { nil: undefined }),
		updated: fc.option(recent, { nil: undefined }),
		snapshot: fc.option(snapshot, { nil: undefined }),
	})
	.map(({ fingerprint, number, created, updated, snapshot: own }) => ({
		fingerprint: { ...fingerprint },
		number,
		...(created === undefined ? {} : { created }),
		...(updated === undefined ? {} : { updated }),
		...(own === undefined ? {} : { snapshot: own }),
	}));

describe('a state', () => {
	it('is read as it was written, and written again byte for byte', () => {
		fc.assert(
			fc.property(state, (written) => {
				const encoded = encodeState(written);
				const read = decodeState(encoded);
				expect(read).toEqual(written);
				expect(read === undefined ? '' : encodeState(read)).toBe(encoded);
			}),
			{ numRuns: RUNS },
		);
	});

	it('is one text without anything that a database or JSON would not keep', () => {
		fc.assert(
			fc.property(state, (written) => {
				const encoded = encodeState(written);
				expect(encoded.isWellFormed()).toBe(true);
				expect(encoded).not.toMatch(/[\x00-\x1f]|\\u00/);
				expect(JSON.parse(JSON.stringify(encoded))).toBe(encoded);
			}),
			{ numRuns: RUNS },
		);
	});

	it.each([
		undefined,
		null,
		7,
		'',
		'no JSON',
		'{}',
		'[]',
		'{"format":2}',
		'{"format":1,"fingerprint":{},"number":1}',
		{ format: 1 },
	])('is not taken from %p', (other) => {
		expect(decodeState(other)).toBeUndefined();
	});

	it('is not taken from a text that was cut, or in which a part has another form', () => {
		const whole = encodeState({
			fingerprint: { workflow: 'w', events: 'e', filters: 'f', account: 'a' },
			number: 3,
			created: { watermark: 100, risenAt: 7, rows: new Map([['abcdefghijk', 100]]) },
			snapshot: { shared: 1, devices: new Map([['A', '=1']]), holds: new Map(), absent: new Set() },
		});
		for (let length = 0; length < whole.length; length++) expect(decodeState(whole.slice(0, length))).toBeUndefined();
		expect(decodeState(whole)).toBeDefined();
		for (const [one, other] of [
			['"abcdefghijk"', '"abcdefghij"'],
			['"0":', '"zero":'],
			['"number":3', '"number":3.5'],
			['"shared":1', '"shared":-1'],
			['"watermark":100', '"watermark":"100"'],
			['"format":1', '"format":1,"more":1'],
		] as const) {
			expect(whole).toContain(one);
			expect(decodeState(whole.replace(one, other))).toBeUndefined();
		}
	});

	it('is taken from what earlier versions wrote', () => {
		const written =
			'{"format":1,"fingerprint":{"workflow":"w","events":"e","filters":"f","account":"a"},"number":3,' +
			'"created":{"watermark":100,"risenAt":7,"rows":{"0":"abcdefghijk","60":"ABCDEFGHIJKlmnopqrstuv"}},' +
			'"updated":{"watermark":null,"risenAt":7,"rows":{}},' +
			'"shared":1,"devices":{"=1":"A B"},"holds":[{"field":0,"part":"=2","since":5,"devices":"B"}],"absent":"A"}';
		const read = decodeState(written);
		expect(read).toMatchObject({ number: 3, created: { watermark: 100 }, updated: { watermark: null }, snapshot: { shared: 1 } });
		expect(read?.created?.rows.get('lmnopqrstuv')).toBe(40);
		expect(read === undefined ? '' : encodeState(read)).toBe(written);
	});

	it('says in which parts two fingerprints differ', () => {
		const one = { workflow: fingerprintOf('w'), events: fingerprintOf(['a', 'b']), filters: fingerprintOf({ x: 1, y: 2 }), account: 'a' };
		expect(differences(one, { ...one, filters: fingerprintOf({ y: 2, x: 1 }) })).toEqual([]);
		expect(differences(one, { ...one, workflow: 'v', filters: fingerprintOf({ x: 1 }) })).toEqual(['workflow', 'filters']);
	});
});

describe('the code of a value', () => {
	it('is at most twelve characters, and gives the value back unless only its digest fits', () => {
		fc.assert(
			fc.property(value, (one) => {
				const encoded = encodeValue(one);
				expect(encoded.length).toBeLessThanOrEqual(12);
				expect(encoded).toMatch(/^(=[^=# ]*|#[\w-]{11})$/);
				const decoded = decodeValue(encoded);
				if (encoded.startsWith('=')) expect(canonicalJson(decoded?.value)).toBe(canonicalJson(one));
				else expect(decoded).toBeUndefined();
			}),
			{ numRuns: RUNS },
		);
	});

	it('is the same for the same value alone', () => {
		fc.assert(
			fc.property(value, value, (one, other) => {
				expect(encodeValue(one) === encodeValue(other)).toBe(canonicalJson(one) === canonicalJson(other));
			}),
			{ numRuns: RUNS },
		);
		expect(encodeValue({ a: 1, b: [{ c: 2, d: 3 }] })).toBe(encodeValue({ b: [{ d: 3, c: 2 }], a: 1 }));
		expect(new Set(['1', 1, '', null, 'null', true, 'true', [], {}].map(encodeValue)).size).toBe(9);
	});

	it('comes apart again where several stand together', () => {
		fc.assert(
			fc.property(fc.array(value), (values) => {
				const parts = values.map(encodeValue);
				expect(partsOf(parts.join(''))).toEqual(parts);
			}),
			{ numRuns: RUNS },
		);
	});

	it('reads like the text of its value, also where only a digest was kept', () => {
		fc.assert(
			fc.property(value, text, (one, other) => {
				expect(readsLike(encodeValue(one), textOf(one))).toBe(true);
				if (textOf(one) !== other) expect(readsLike(encodeValue(one), other)).toBe(false);
			}),
			{ numRuns: RUNS },
		);
	});
});
