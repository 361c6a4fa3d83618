import fc from 'fast-check';

import { redactor } from '../../nodes/DeviceManagement/core/redaction.ts';

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

	test.each([
		['HTML', 'a&amp;b&lt;c&gt;d&quot;e&apos;f g'],
		['HTML within HTML', 'a&amp;amp;b&amp;lt;c&amp;gt;d&amp;quot;e&amp;apos;f g'],
		['a form', `${encodeURIComponent('a&b<c>d"e')}%27f+g`],
	])('takes out a password with marks in %s', (_, said) => {
		expect(redactor([`a&b<c>d"e'f g`])(`not accepted: ${said}.`)).toBe('not accepted: •••.');
	});

	test.each([
		['backslashes in a row', String.raw`q\\\\x`],
		['a backslash before a quote', String.raw`q\\"x`],
		['a character of two units', 'q😀x'],
	])('takes out a secret with %s in JSON within JSON', (_, secret) => {
		let text = secret;
		for (let depth = 0; depth < 4; depth++, text = JSON.stringify(text).slice(1, -1)) {
			expect(redactor([secret])(`<${text}>`)).toBe('<•••>');
			const escaped = text.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16)}`);
			expect(redactor([secret])(`<${escaped}>`)).toBe('<•••>');
			expect(redactor([secret])(`<${JSON.stringify(escaped).slice(1, -1)}>`)).toBe('<•••>');
		}
	});

	test('looks for a secret without the spaces around it', () => {
		expect(redactor([' abc\n'])('<abc>')).toBe('<•••>');
	});

	test('cuts neither 300 characters nor a text of the longest length, and leaves no space at the ends', () => {
		expect(redactor([])('y'.repeat(300))).toBe('y'.repeat(300));
		expect(redactor([])('y'.repeat(301))).toBe(`${'y'.repeat(300)}…`);
		const secret = 's'.repeat(1000);
		expect(redactor([secret])(secret.repeat(100))).toBe('•••'.repeat(100));
		expect(redactor([])('\u0000abc\n')).toBe('abc');
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

	const awkward = fc.string({ unit: fc.constantFrom(...'ab"\'/\\é\n密 &<%+'), minLength: 3, maxLength: 8 }).map((text) => `q${text}q`);

	test('takes out a secret with quotes in JSON within JSON, as deep as it goes', () => {
		expect(redactor(['a"b/c'])(JSON.stringify({ said: JSON.stringify({ password: 'a"b/c' }) }))).toBe(
			'{"said":"{\\"password\\":\\"•••\\"}"}',
		);
		fc.assert(
			fc.property(awkward, fc.integer({ min: 0, max: 4 }), fc.boolean(), (secret, depth, inUrl) => {
				let text = secret;
				for (let level = 0; level < depth; level++) text = JSON.stringify(text).slice(1, -1);
				if (inUrl) text = encodeURIComponent(text);
				expect(redactor([secret])(`<${text}>`)).toBe('<•••>');
			}),
			{ numRuns: Number(process.env['PROPERTY_RUNS'] ?? 1000) },
		);
	});

	test('takes out a secret in escapes within JSON within JSON', () => {
		const escaped = 'q"é密'.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
		for (const text of [escaped, escaped.replaceAll('\\', '\\\\'), escaped.replaceAll('\\', '%5C'), escaped.replaceAll('\\', '%255c')]) {
			expect(redactor(['q"é密'])(`<${text}>`)).toBe('<•••>');
		}
	});

	test('is done at once with a secret of quotes and backslashes', () => {
		const secret = '"\\"'.repeat(16);
		for (const piece of ['\\', '"\\', '\\"', '%5c', '\\u005c', '\\\\"']) {
			expect(redactor([secret, `${secret}x`])(`${piece.repeat(5_000)}y`).length).toBeLessThanOrEqual(301);
		}
	});

	describe('in base64', () => {
		test.each([
			['standard', Buffer.from('demo:s3cr3t/pass').toString('base64'), 'Basic '],
			['url-safe', Buffer.from('demo:s3cr3t/pass').toString('base64url'), ''],
			['within a longer text', Buffer.from('{"user":"demo","word":"s3cr3t/pass","n":1}').toString('base64'), ''],
			['within a URL', encodeURIComponent(Buffer.from('??>s3cr3t/pass').toString('base64')), 'x='],
			['of the fewest bytes that are looked for', Buffer.from('xy:s3cr3').toString('base64'), ''],
			['of JSON within JSON', Buffer.from(JSON.stringify({ a: 'q"s3cr3t' })).toString('base64'), ''],
		])('takes it out: %s', (_name, said, before) => {
			const secrets = ['s3cr3t/pass', 's3cr3', 'q"s3cr3t'];
			const clean = redactor(secrets)(`${before}${said}`);
			expect(clean).toContain('•••');
			const left = clean.replace(before, '').split('•••').map((piece) => Buffer.from(decodeURIComponent(piece), 'base64').toString('latin1'));
			for (const piece of left) expect(piece).not.toMatch(/s3c|cr3|3t\/|pas|ass/);
		});

		test('takes out every character that holds a part of it, wherever it begins', () => {
			const bytes = fc.uint8Array({ maxLength: 7 });
			const secret = fc.string({ unit: 'grapheme', minLength: 5, maxLength: 20 }).map((text) => `q${text}q`);
			fc.assert(
				fc.property(bytes, secret, bytes, fc.constantFrom('base64' as const, 'base64url' as const), (before, own, after, form) => {
					const middle = new TextEncoder().encode(own.trim());
					const said = Buffer.concat([before, middle, after]).toString(form);
					const from = Math.floor((before.length * 8) / 6);
					const to = Math.ceil(((before.length + middle.length) * 8) / 6);
					const clean = redactor([own])(`<${said}>`);
					expect(clean).toBe(`<${said.slice(0, from)}•••${said.slice(to)}>`);
				}),
				{ numRuns: Number(process.env['PROPERTY_RUNS'] ?? 500) },
			);
		});
	});

	test('leaves ordinary text alone, however short a secret is', () => {
		const WORDS = 'The platform refused this serial number RT-2024-000117 because group North Harbour does not exist; see https://devices.example.com/api/device/list?page=1&size=1000 and try {"code":10018,"msg":"invalid sn"} 100% later'.split(' ');
		fc.assert(
			fc.property(
				fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 30 }).map((words) => words.join(' ').slice(0, 300).trim()),
				fc.string({ unit: fc.constantFrom(...'abcdefghijklmnopqrstuvwxyzABCDEFG0123456789+/='), minLength: 1, maxLength: 8 }),
				(text, secret) => {
					fc.pre(!text.toLowerCase().includes(secret.toLowerCase()));
					expect(redactor([secret])(text)).toBe(text);
				},
			),
			{ numRuns: Number(process.env['PROPERTY_RUNS'] ?? 1000) },
		);
	});

	test('leaves out empty secrets', () => {
		expect(redactor(['', '  '])('nothing secret')).toBe('nothing secret');
	});
});
