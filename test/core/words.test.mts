import fc from 'fast-check';

import { parseBaseUrl } from '../../nodes/DeviceManagement/core/baseUrl.ts';
import { CODE_TABLE, explainCode, meansNotFound } from '../../nodes/DeviceManagement/core/codes.ts';
import { describeValue, nestsDeeperThan } from '../../nodes/DeviceManagement/core/json.ts';
import { DEVICE_FIELDS, shapeDevice } from '../../nodes/DeviceManagement/core/output.ts';
import { identifyDevice } from '../../nodes/DeviceManagement/core/page.ts';
import { redactor } from '../../nodes/DeviceManagement/core/redaction.ts';
import { codes } from '../platform/codes.mts';
import { deviceSchema, Fleet } from '../platform/fleet.mts';

describe('the code table', () => {
	test('has the codes and texts of the API document, each once', () => {
		expect(CODE_TABLE.map(({ code, text }) => [code, text])).toEqual(codes);
	});

	test.each(CODE_TABLE.map((row) => [row.code, row] as const))('code %i has words in the style of n8n', (_, row) => {
		for (const words of [row.message, row.remedy]) {
			expect(words).not.toMatch(/\b(error|problem|failure|mistake)\b/i);
			expect(words.length).toBeGreaterThan(10);
		}
		expect(row.message).not.toMatch(/[.!]$/);
		expect(row.remedy).toMatch(/\.$/);
	});

	test.each(codes.filter(([code, text]) => code !== 0 && text.includes('%s')))(
		'the detail in code %i is kept',
		(code, text) => {
			let detail = 0;
			const said = text.replace(/%s/g, () => `detail${++detail}`);
			const explained = explainCode(code, said);
			for (let n = 1; n <= detail; n++) expect(explained.message).toContain(`detail${n}`);
			expect(explained.remedy).toContain(`The platform answered code ${code}: ${said}`);
		},
	);

	test('a code that is not documented keeps its number and its text', () => {
		expect(explainCode(77777, 'flux low').message).toContain('(code 77777: flux low)');
		expect(explainCode(77777, '').message).toContain('(code 77777)');
	});

	test('a text that does not follow the table is shown whole', () => {
		expect(explainCode(10018, 'no such thing').remedy).toContain('code 10018: no such thing');
	});

	test('three codes mean that a read found nothing', () => {
		expect(codes.map(([code]) => code).filter(meansNotFound)).toEqual([10007, 10018, 14401]);
	});
});

describe('base URL', () => {
	test.each([
		['https://a.example', 'https://a.example', 'https://a.example'],
		[' https://a.example/ ', 'https://a.example', 'https://a.example'],
		['HTTP://A.example:8080//', 'http://a.example:8080', 'http://a.example:8080'],
		['https://a.example/prefix/v2/', 'https://a.example', 'https://a.example/prefix/v2'],
		['http://[::1]:3000', 'http://[::1]:3000', 'http://[::1]:3000'],
	])('%j works', (entered, origin, href) => {
		expect(parseBaseUrl(entered)).toEqual({ origin, href });
	});

	test.each(['', 'a.example', 'ftp://a.example', '//a.example', 'https://', 'https://u:p@a.example', 'https://a.example?x=1', 'https://a.example/#x', 'javascript:alert(1)'])(
		'%j is refused with the label of the field',
		(entered) => {
			expect(() => parseBaseUrl(entered)).toThrow(/'Base URL'/);
		},
	);

	test('user info is refused without being repeated', () => {
		expect(() => parseBaseUrl('https://user:hunter2@a.example')).toThrow(
			expect.objectContaining({ message: expect.not.stringContaining('hunter2') }),
		);
	});
});

describe('redaction', () => {
	test('takes out every form of a secret that a platform may send back', () => {
		fc.assert(
			fc.property(fc.string({ unit: 'grapheme', minLength: 3 }), fc.string(), fc.string(), (secret, before, after) => {
				fc.pre(secret.trim().length >= 3 && !/^[•\s]+$/.test(secret));
				const forms = [secret, secret.trim(), encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)];
				for (const form of forms) {
					const clean = redactor([secret])(`x${before} ${form} ${after}x`);
					// What stands around it may happen to hold the secret's letters in another case.
					expect(clean).not.toContain(form);
				}
			}),
		);
	});

	test('takes out a digest in upper case, too', () => {
		const digest = 'd41d8cd98f00b204e9800998ecf8427e';
		expect(redactor([digest])(`password ${digest.toUpperCase()} wrong`)).toBe('password ••• wrong');
	});

	test('takes out the longer of two secrets whole', () => {
		expect(redactor(['abc', 'abcdef'])('abcdef')).toBe('•••');
	});

	test('bounds the text and drops control characters', () => {
		const clean = redactor([])(`a\u0000\u001b[31mb${'x'.repeat(1_000_000)}`);
		expect(clean).toHaveLength(301);
		expect(clean).toMatch(/^a \[31mb/);
	});

	test.each([
		['JSON of some languages', 'ab\\/cd=ef+gh'],
		['hexadecimal entities', 'ab&#x2F;cd&#x3D;ef&#x2B;gh'],
		['decimal entities', '&#97;b&#47;cd&#061;ef&#43;gh'],
		['a URL within a URL', 'ab%252Fcd%253Def%252Bgh'],
		['escapes', '\\u0061b\\u002fcd=ef+gh'],
	])('takes out a key in %s', (_, said) => {
		expect(redactor(['ab/cd=ef+gh'])(`not accepted: ${said}.`)).toBe('not accepted: •••.');
	});

	test('is done at once with a secret of backslashes', () => {
		const backslashes = '\\'.repeat(64);
		expect(redactor([`${backslashes}x`, `a${backslashes}`])(`${'\\'.repeat(50_000)}y`)).toHaveLength(301);
	});

	test('shows no piece of a long secret that a text repeats until it is cut', () => {
		const secret = Array.from({ length: 1501 }, (_, n) => String.fromCharCode(97 + (n % 26))).join('');
		const clean = redactor([secret])(`${secret} `.repeat(100));
		expect(clean).not.toMatch(/[a-z]/);
	});

	test('leaves out empty secrets', () => {
		expect(redactor(['', '  '])('nothing secret')).toBe('nothing secret');
	});
});

describe('output', () => {
	const device = { ...Fleet.seeded({ size: 1 }).at(0), added: { by: 'a later version' } };

	test('raw is the very object that came', () => {
		expect(shapeDevice(device, { output: 'raw' })).toBe(device);
	});

	test('simplified has ten flat fields', () => {
		const shaped = shapeDevice(device, { output: 'simplified' });
		expect(shaped).toMatchObject({ id: device.id, sn: device.sn, modelName: device.model.name, groupName: device.group.name });
		expect(Object.keys(shaped)).toHaveLength(10);
	});

	test('simplified says null where a device has no model or group', () => {
		expect(shapeDevice({ id: '1', model: null }, { output: 'simplified' })).toMatchObject({ modelName: null, groupName: null });
	});

	test('selected has the chosen fields and always the ID', () => {
		expect(shapeDevice(device, { output: 'selected', fields: ['sn', 'absent', '__proto__'] })).toEqual({
			id: device.id,
			sn: device.sn,
		});
	});

	test('offers the fields of the API document', () => {
		expect([...DEVICE_FIELDS]).toEqual(Object.keys(deviceSchema.shape).sort());
	});
});

test('a device is told from others by id, else by serial number, else by everything', () => {
	expect(identifyDevice({ id: '1', sn: 'a' })).toBe(identifyDevice({ id: '1', sn: 'b' }));
	expect(identifyDevice({ sn: 'a' })).not.toBe(identifyDevice({ id: 'a' }));
	expect(identifyDevice({ imei: '1' })).not.toBe(identifyDevice({ imei: '2' }));
});

test('devices whose number as ID is too large to tell from the next are told by serial number', () => {
	const [one, other]: unknown[] = JSON.parse('[{"id":1741900010000000117,"sn":"a"},{"id":1741900010000000118,"sn":"b"}]');
	expect(one).toMatchObject({ id: expect.any(Number) });
	const identities = [one, other].map((device) => identifyDevice({ ...Object(device) }));
	expect(new Set(identities).size).toBe(2);
});

test('values are described by kind and size only', () => {
	expect([undefined, null, [1], 'secret', { a: 1 }, 5, true].map(describeValue)).toEqual([
		'nothing',
		'null',
		'a list of 1',
		'text of 6 characters',
		'an object with 1 fields',
		'a number',
		'a boolean',
	]);
});

test('nesting is measured no deeper than asked', () => {
	const nested = (depth: number): unknown => (depth === 0 ? 1 : { a: [nested(depth - 1)] });
	expect(nestsDeeperThan(nested(2), 4)).toBe(false);
	expect(nestsDeeperThan(nested(2), 3)).toBe(true);
});
