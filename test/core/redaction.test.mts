import fc from 'fast-check';

import { redactor } from '../../nodes/DeviceManagement/core/redaction.ts';
import { runs } from '../../testbed/runs.mts';

const inJson = (text: string) => JSON.stringify(text).slice(1, -1);

/** It has each character that an encoder changes. */
const SECRET = `a/b=c+d&e<f>g"h'i\\j ké密😀l~m*n!o(p).q-r_s\\"t`;
const inUrl = encodeURIComponent(SECRET);
const inHex = (mark: string) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`;
const inPercent = (mark: string) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`;
const inUpperHex = (mark: string) => inHex(mark).toUpperCase().replace('U', 'u');
const inDotNet = (text: string) =>
	inJson(text)
		.replaceAll('\\"', '\\u0022')
		.replace(/[<>&'+]|[^ -~]/g, inUpperHex);

test.each([
	['a URL with lower-case digits', inUrl.toLowerCase()],
	["Python's percent encoding of a form", inUrl.replace(/[!'()*]/g, inPercent).replaceAll('%20', '+')],
	['JSON with escaped slashes', inJson(SECRET).replaceAll('/', '\\/')],
	['JSON of .NET within JSON of .NET', inDotNet(inDotNet(SECRET))],
	['HTML with zeros before the numbers', SECRET.replace(/[&<>"'+\\]/g, (mark) => `&#000000${mark.charCodeAt(0)};`)],
	['hex in upper case', Buffer.from(SECRET).toString('hex').toUpperCase()],
	['url-safe base64', Buffer.from(SECRET).toString('base64url')],
])('a secret is removed in %s', (_name, said) => {
	expect(redactor([SECRET])(`not accepted: ${said}.`)).toBe('not accepted: •••.');
});

/** Each encoding of a secret may be within another one. */
const ENCODERS: ReadonlyArray<(text: string) => string> = [
	inJson,
	(text) => inJson(text).replace(/[^ -~]/g, inHex),
	encodeURIComponent,
	(text) => new URLSearchParams([['', text]]).toString().slice(1),
	(text) => text.replace(/[&<>"']/g, (mark) => `&#${mark.charCodeAt(0)};`),
	(text) => Buffer.from(text).toString('hex'),
	(text) => Buffer.from(`${text};`).toString('base64'),
];

test('any secret is removed from any text, also from an encoding within others', () => {
	const secrets = fc.string({ unit: 'grapheme', minLength: 5 });
	const encodings = fc.array(fc.constantFrom(...ENCODERS), { maxLength: 3 });
	fc.assert(
		fc.property(secrets, encodings, fc.string(), fc.string(), (secret, encoders, before, after) => {
			fc.pre(secret.trim().length >= 5 && !/[•\0-\x1f]/.test(secret));
			const form = encoders.reduce((text, encode) => encode(text), secret.trim());
			// The text around it may contain the secret's letters in another case.
			expect(redactor([secret])(`x${before} ${form} ${after}x`)).not.toContain(form);
		}),
		runs(1000),
	);
});

test('ordinary text stays as it is, however short a secret is', () => {
	const text =
		'The platform refused this serial number RT46643907 because group North Harbour does not exist; see https://devices.example.com/api/device/list?page=1&size=1000 and try {"code":10018,"msg":"invalid sn"} 100% later';
	const words = fc.array(fc.constantFrom(...text.split(' ')), { minLength: 1, maxLength: 30 });
	const unit = fc.constantFrom(...'abcdefghijklmnopqrstuvwxyzABCDEFG0123456789+/=');
	fc.assert(
		fc.property(words, fc.string({ unit, minLength: 1, maxLength: 8 }), (some, secret) => {
			const said = some.join(' ').slice(0, 300).trim();
			fc.pre(!said.toLowerCase().includes(secret.toLowerCase()));
			expect(redactor([secret])(said)).toBe(said);
		}),
		runs(1000),
	);
});

const alphabet = Array.from({ length: 1501 }, (_, n) => String.fromCharCode(97 + (n % 26))).join('');
test.each([
	{ name: 'a secret in upper case', secrets: ['d41d8cd98f'], said: 'word D41D8CD98F wrong', clean: 'word ••• wrong' },
	{ name: 'a secret with a line break', secrets: ['ab\ncd'], said: '<ab\ncd>', clean: '<•••>' },
	{ name: 'a line break in JSON', secrets: ['ab\ncd'], said: '<ab\\ncd>', clean: '<•••>' },
	{ name: 'no other character for a dot', secrets: ['ab.cd'], said: 'abxcd', clean: 'abxcd' },
	{ name: 'the longer of two secrets', secrets: ['abc', 'abcdef'], said: 'abcdef', clean: '•••' },
	{ name: 'a secret without the spaces around it', secrets: [' abc\n'], said: '<abc>', clean: '<•••>' },
	{ name: 'nothing for an empty secret', secrets: ['', '  '], said: 'nothing secret', clean: 'nothing secret' },
	{ name: 'hex of five bytes', secrets: ['12345'], said: '<3132333435>', clean: '<•••>' },
	{ name: 'base64 of five bytes', secrets: ['12345'], said: '<MTIzNDU=>', clean: '<•••=>' },
	{ name: 'base64 of more than a secret', secrets: ['12345'], said: '<dXNlcjoxMjM0NQ==>', clean: '<•••==>' },
	{
		name: 'no hex or base64 of four',
		secrets: ['1234'],
		said: '<3031323334 eDEyMzQ=>',
		clean: '<3031323334 eDEyMzQ=>',
	},
	{ name: 'control characters', secrets: [], said: '\u0000a\u0000\u001b[31mb\n', clean: 'a [31mb' },
	{ name: 'nothing of 300 characters', secrets: [], said: 'y'.repeat(300), clean: 'y'.repeat(300) },
	{ name: 'what follows them', secrets: [], said: 'y'.repeat(1_000_000), clean: `${'y'.repeat(300)}…` },
	{ name: 'no more of 2,000 characters', secrets: ['s'.repeat(1000)], said: 's'.repeat(2000), clean: '•••' },
	{ name: 'the cut secret of a longer text', secrets: [alphabet], said: `${alphabet} `.repeat(100), clean: '' },
	{ name: 'all that may be a cut secret', secrets: ['"'.repeat(1000)], said: '\\\\\\"'.repeat(25_000), clean: '' },
	{ name: 'no part of a very long secret', secrets: ['SECRET'.repeat(30_000)], said: 'SECRET', clean: 'SECRET' },
])('it removes $name', ({ secrets, said, clean }) => {
	expect(redactor(secrets)(said)).toBe(clean);
});

test('secrets of quotes and backslashes take no long search', () => {
	const secret = '"\\"'.repeat(16);
	for (const piece of ['\\', '"\\', '\\"', '%5c', '\\u005c', '\\\\"', '\\\\\\"', '&', '%25', '&amp;']) {
		const marks = `${piece.repeat(40)}x`;
		expect(redactor([secret, `${secret}x`, marks])(`${piece.repeat(5_000)}y`).length).toBeLessThanOrEqual(301);
	}
});
