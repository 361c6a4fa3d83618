import fc from 'fast-check';

import { redactor } from '../../nodes/DeviceManagement/core/redaction.ts';
import { runs } from '../../testbed/runs.mts';

const inJson = (text: string) => JSON.stringify(text).slice(1, -1);

describe('redaction', () => {
	/** One row per form that is looked for; the secret holds every mark that an encoder changes. */
	const SECRET = `a/b=c+d&e<f>g"h'i\\j ké密l~m*n!o(p).q-r_s`;
	const inUrl = encodeURIComponent(SECRET);
	const inHtml = SECRET.replaceAll('&', '&amp;')
		.replaceAll('<', '&lt;')
		.replaceAll('>', '&gt;')
		.replaceAll('"', '&quot;');
	const inAscii = inJson(SECRET).replace('é', '\\u00e9').replace('密', '\\u5bc6');
	const inHex = (mark: string) => `\\u00${mark.charCodeAt(0).toString(16)}`;
	const inPercent = (mark: string) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`;
	const quoted = inUrl.replace(/[!'()*]/g, inPercent);
	const inDotNet = (text: string) =>
		inJson(text)
			.replaceAll('\\"', '\\u0022')
			.replace(/[<>&'+é密]/g, escaped);
	const escaped = (mark: string) => `\\u${mark.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
	const inGson = (text: string) => inJson(text).replace(/[<>&='\u2028]/g, inHex);
	test.each([
		['plain text', SECRET],
		['a URL', inUrl],
		['a URL with lower-case digits', inUrl.toLowerCase()],
		['a URL of a strict encoder', inUrl.replace("'", '%27')],
		['a form', inUrl.replaceAll('%20', '+')],
		['JSON', inJson(SECRET)],
		['JSON within JSON', inJson(inJson(SECRET))],
		['JSON with escaped slashes', inJson(SECRET).replaceAll('/', '\\/')],
		['JSON in ASCII', inAscii],
		['JSON in ASCII within JSON', inJson(inAscii)],
		['JSON that escapes what HTML and URLs use', inJson(SECRET).replace(/[<>&='+]/g, inHex)],
		["Python's percent encoding of a path", quoted.replaceAll('%2F', '/')],
		["Python's percent encoding of a form", quoted.replaceAll('%20', '+')],
		["Java's percent encoding", quoted.replaceAll('%20', '+').replaceAll('%2A', '*').replaceAll('~', '%7E')],
		['a whole URL', encodeURI(SECRET)],
		['JSON of .NET', inDotNet(SECRET)],
		['JSON of .NET within JSON of .NET', inDotNet(inDotNet(SECRET))],
		['JSON of .NET within JSON', inJson(inDotNet(SECRET))],
		['JSON of Gson within JSON of Gson', inGson(inGson(SECRET))],
		['JSON within JSON of Gson', inGson(inJson(SECRET))],
		['HTML', inHtml],
		["Go's HTML", inHtml.replaceAll('&quot;', '&#34;').replace("'", '&#39;')],
		["Go's HTML template", inHtml.replaceAll('&quot;', '&#34;').replace("'", '&#39;').replace('+', '&#43;')],
		['HTML with a decimal apostrophe', inHtml.replace("'", '&#39;')],
		['HTML with a hexadecimal apostrophe', inHtml.replace("'", '&#x27;')],
		['HTML with a named apostrophe', inHtml.replace("'", '&apos;')],
		['hex', Buffer.from(SECRET).toString('hex')],
		['hex in upper case', Buffer.from(SECRET).toString('hex').toUpperCase()],
		['base64', Buffer.from(SECRET).toString('base64').replace(/=+$/, '')],
		['url-safe base64', Buffer.from(SECRET).toString('base64url')],
	])('takes out a secret in %s', (_name, said) => {
		expect(redactor([SECRET])(`not accepted: ${said}.`)).toBe('not accepted: •••.');
	});

	test('removes any secret from any text', () => {
		fc.assert(
			fc.property(fc.string({ unit: 'grapheme', minLength: 3 }), fc.string(), fc.string(), (secret, before, after) => {
				fc.pre(secret.trim().length >= 3 && !/^[•\s]+$/.test(secret));
				const forms = [secret, secret.trim(), encodeURIComponent(secret), inJson(secret), inJson(inJson(secret))];
				for (const form of forms) {
					const clean = redactor([secret])(`x${before} ${form} ${after}x`);
					// The text around it may contain the secret's letters in another case.
					expect(clean).not.toContain(form.trim());
				}
			}),
			runs(1000),
		);
	});

	test('takes out a digest in upper case, too', () => {
		const digest = 'd41d8cd98f00b204e9800998ecf8427e';
		expect(redactor([digest])(`password ${digest.toUpperCase()} wrong`)).toBe('password ••• wrong');
	});

	test('takes out the longer of two secrets whole', () => {
		expect(redactor(['abc', 'abcdef'])('abcdef')).toBe('•••');
	});

	test('takes secrets without the spaces around them, and leaves out empty ones', () => {
		expect(redactor([' abc\n'])('<abc>')).toBe('<•••>');
		expect(redactor(['', '  '])('nothing secret')).toBe('nothing secret');
	});

	test('looks for hex and base64 from five bytes on', () => {
		const forms = (secret: string) => (['hex', 'base64'] as const).map((form) => Buffer.from(secret).toString(form));
		for (const form of forms('12345')) expect(redactor(['12345'])(`<${form}>`)).toMatch(/^<•••=*>$/);
		for (const form of forms('1234')) expect(redactor(['1234'])(`<${form}>`)).toBe(`<${form}>`);
	});

	test('bounds the text and drops control characters', () => {
		const clean = redactor([])(`a\u0000\u001b[31mb${'x'.repeat(1_000_000)}`);
		expect(clean).toHaveLength(301);
		expect(clean).toMatch(/^a \[31mb/);
	});

	test('cuts neither 300 characters nor a text of the longest length, and leaves no space at the ends', () => {
		expect(redactor([])('y'.repeat(300))).toBe('y'.repeat(300));
		expect(redactor([])('y'.repeat(301))).toBe(`${'y'.repeat(300)}…`);
		const secret = 's'.repeat(1000);
		expect(redactor([secret])(secret.repeat(2))).toBe('••••••');
		expect(redactor([])('\u0000abc\n')).toBe('abc');
	});

	test('shows no piece of a long secret that a text repeats until it is cut', () => {
		const secret = Array.from({ length: 1501 }, (_, n) => String.fromCharCode(97 + (n % 26))).join('');
		const clean = redactor([secret])(`${secret} `.repeat(100));
		expect(clean).not.toMatch(/[a-z]/);
	});

	test('is done at once with a secret of quotes and backslashes', () => {
		const secret = '"\\"'.repeat(16);
		for (const piece of ['\\', '"\\', '\\"', '%5c', '\\u005c', '\\\\"', '\\\\\\"', '&', '%25', '&amp;']) {
			const marks = piece.repeat(40);
			expect(redactor([secret, `${secret}x`, `${marks}x`])(`${piece.repeat(5_000)}y`).length).toBeLessThanOrEqual(301);
		}
	});

	test('is done at once with a long token of quotes, whatever the platform sends', () => {
		expect(redactor(['"'.repeat(1000)])('\\\\\\"'.repeat(25_000))).toBe('');
	});

	test('drops the text where a secret is too long to search for', () => {
		expect(redactor(['SECRET'.repeat(3000)])('SECRET')).toBe('•••');
	});

	test('leaves ordinary text alone, however short a secret is', () => {
		const WORDS =
			'The platform refused this serial number RT46643907 because group North Harbour does not exist; see https://devices.example.com/api/device/list?page=1&size=1000 and try {"code":10018,"msg":"invalid sn"} 100% later'.split(
				' ',
			);
		fc.assert(
			fc.property(
				fc
					.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 30 })
					.map((words) => words.join(' ').slice(0, 300).trim()),
				fc.string({
					unit: fc.constantFrom(...'abcdefghijklmnopqrstuvwxyzABCDEFG0123456789+/='),
					minLength: 1,
					maxLength: 8,
				}),
				(text, secret) => {
					fc.pre(!text.toLowerCase().includes(secret.toLowerCase()));
					expect(redactor([secret])(text)).toBe(text);
				},
			),
			runs(1000),
		);
	});
});
