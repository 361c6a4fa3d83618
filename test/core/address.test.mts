import fc from 'fast-check';

import { Failure } from '../../nodes/DeviceManagement/core/failure.ts';
import { apiPath, devicePath } from '../../nodes/DeviceManagement/core/address.ts';
import { runs } from '../../testbed/runs.mts';

const NOT_REFUSED = 'It was not refused';

/** Returns the words for what is refused. */
function refusal(build: () => string): string {
	try {
		build();
		return NOT_REFUSED;
	} catch (error) {
		if (!(error instanceof Failure) || error.details.kind !== 'input') throw error;
		return `${error.details.message} | ${error.details.remedy}`;
	}
}

/** What paths that go up are made of, and what hides it. */
const PIECES = [
	...['.', '..', '%2e', '%2E', '%252e', '%25', '25', '2', 'e', '%'],
	...['/', '\\', '%2f', '%5C', '%255c', ';', '?', '#', 'a', ' ', 'é'],
];

/** Whether a segment goes up, after decoding as often as anything changes. */
function goesUp(text: string): boolean {
	const decoded = text.replace(/%([0-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
	if (decoded !== text) return goesUp(decoded);
	return decoded.split(/[\\/]/).some((segment) => ['.', '..'].includes(segment.split(/[;?#]/)[0] ?? ''));
}

const CUT = 'is cut in the middle of a character | Check the expression that cuts the text.';

describe('the path of a device', () => {
	const EMPTY = "The serial number in 'Device' is empty | Enter a serial number, or check the expression.";
	const odd = (sn: string) =>
		`The serial number "${sn}" in 'Device' can't be part of an address | Enter a serial number.`;
	test('refuses a serial number that is empty, cut, or leads to another path', () => {
		for (const sn of ['', '   ']) expect(refusal(() => devicePath(sn))).toBe(EMPTY);
		expect(refusal(() => devicePath('a\ud800'))).toBe(`The text of 'Device' ${CUT}`);
		for (const sn of ['.', '..', 'a/..?x', '../../user', '..\\..\\x', '%252e%252e/x', `%${'25'.repeat(100_000)}41`])
			expect(refusal(() => devicePath(sn))).toBe(odd(sn));
	});

	test('has every serial number as one segment that reads back, or refuses it', () => {
		const pieces = fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 10 }).map((some) => some.join(''));
		fc.assert(
			fc.property(fc.oneof(fc.string({ unit: 'grapheme' }), pieces), (sn) => {
				fc.pre(sn.trim() !== '' && sn.isWellFormed());
				if (goesUp(sn.trim())) {
					expect(refusal(() => devicePath(sn))).toBe(odd(sn.trim()));
					return;
				}
				const { pathname, search, hash } = new URL(devicePath(sn), 'https://platform.example');
				const segments = pathname.split('/').map(decodeURIComponent);
				expect(segments).toEqual(['', 'api', 'device', 'sn', sn.trim()]);
				expect(search + hash).toBe('');
			}),
			runs(3000),
		);
	});
});

describe('the path of an API request', () => {
	test.each(['/api', '/api/', ' /api/a%20b ', '/api/a.b/..c', '/api/%E8%AE%BE'])('may be %j', (path) => {
		expect(apiPath(path)).toBe(path.trim());
	});

	const NO_API = "doesn't start with /api | Enter a path like /api/model/list.";
	const A_QUERY = "contains a ? or a # | Move what follows it to 'Query Parameters'.";
	const UNENCODED = 'contains a space, backslash, or control character | Percent-encode it (a space is %20).';
	const GOES_UP = "contains a segment '.' or '..' | Enter the path without it.";
	test.each([
		[NO_API, ['', 'api/group', '/apis', '/', '//other.example/api', 'https://other.example/api']],
		[A_QUERY, ['/api/x?y=1', '/api/x#y']],
		[UNENCODED, ['/api/a b', '/api/a\\b', '/api/\n/x', '/api/a\u0007b']],
		[GOES_UP, ['/api/../x', '/api/.%2E/x', '/api/..;x=1/x', '/api/..%3fx/x', '/api/a%252f..%252fx', '/api/..%255cx']],
		['contains an encoded zero byte | Enter the path without it.', ['/api/x%2500', '/api/x%00']],
		["contains a % that isn't an encoding | Write %25 for a percent sign.", ['/api/%4', '/api/%g1', '/api/%1g']],
	])('%s', (words, paths) => {
		for (const path of paths) expect([path, refusal(() => apiPath(path))]).toEqual([path, `'Path' ${words}`]);
		expect(refusal(() => apiPath('/api/\ud800'))).toBe(`The text of 'Path' ${CUT}`);
	});

	test('leaves neither /api nor the host', () => {
		fc.assert(
			fc.property(fc.array(fc.constantFrom('api', '//', '@', ':', 'x', ...PIECES), { maxLength: 8 }), (parts) => {
				const path = `/api${parts.join('')}`;
				if (refusal(() => apiPath(path)) !== NOT_REFUSED) return;
				const url = new URL(`https://platform.example/prefix${path.trim()}`);
				expect(url.host).toBe('platform.example');
				expect(url.pathname).toMatch(/^\/prefix\/api(\/|$)/);
				expect(goesUp(path)).toBe(false);
			}),
			runs(3000),
		);
	});
});
