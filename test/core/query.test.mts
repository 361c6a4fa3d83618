import fc from 'fast-check';

import { Failure } from '../../nodes/DeviceManagement/core/failure.ts';
import { apiPath, devicePath } from '../../nodes/DeviceManagement/core/query.ts';
import { runs } from '../../testbed/runs.mts';

const input = expect.objectContaining({ details: expect.objectContaining({ kind: 'input' }) });

function refusal(run: () => unknown): Failure['details'] {
	try {
		run();
	} catch (error) {
		if (error instanceof Failure && error.details.kind === 'input') return error.details;
		throw error;
	}
	throw new Error('It was not refused');
}

const refused = (run: () => unknown) => refusal(run).message;

describe('path of a device', () => {
	test.each([
		[' RT-1 ', '/api/device/sn/RT-1'],
		['a/b?c#d%e+f', '/api/device/sn/a%2Fb%3Fc%23d%25e%2Bf'],
		['A/B-7', '/api/device/sn/A%2FB-7'],
		['A\\B-7', '/api/device/sn/A%5CB-7'],
		['设备', '/api/device/sn/%E8%AE%BE%E5%A4%87'],
		['...', '/api/device/sn/...'],
		['..a/b..', '/api/device/sn/..a%2Fb..'],
		['%41%', '/api/device/sn/%2541%25'],
	])('%j is %s', (sn, path) => {
		expect(devicePath(sn)).toBe(path);
	});

	test.each([
		...['', '   ', '.', ' .. ', '\ud800', '..;x=1/admin', 'a/..?x', 'a/..%23x'],
		...['../../version', '../../user', '..\\..\\x', 'a/../b', 'a/..', './a', 'a\\.\\b'],
		...['%2e%2e', '%2e', 'a%2f..%2fb', '%252e%252e/x', '%25252e%25252e', '..%5cx', '..%255c..%255cx', 'a/%2%65%2e/b'],
	])('%j is refused', (sn) => {
		expect(refused(() => devicePath(sn))).toContain("'Device'");
	});

	test('every serial number stays one segment of the path and reads back, or is refused', () => {
		const text = fc.oneof(
			fc.string({ unit: 'grapheme' }),
			fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 10 }).map((pieces) => pieces.join('')),
		);
		fc.assert(
			fc.property(text, (sn) => {
				fc.pre(sn.trim() !== '' && sn.isWellFormed());
				if (goesUp(sn.trim())) {
					expect(refused(() => devicePath(sn))).toContain("can't be part of an address");
					return;
				}
				const url = new URL(devicePath(sn), 'https://platform.example');
				const segments = url.pathname.split('/');
				expect(segments.slice(0, 4)).toEqual(['', 'api', 'device', 'sn']);
				expect(segments).toHaveLength(5);
				expect(decodeURIComponent(segments[4] ?? '')).toBe(sn.trim());
				expect(url.search + url.hash).toBe('');
			}),
			runs(3000),
		);
	});

	test('a serial number of a hundred thousand encoded percent signs is refused at once', () => {
		for (const end of ['41', '2e'])
			expect(refused(() => devicePath(`%${'25'.repeat(100_000)}${end}`))).toContain("'Device'");
	});
});

/** What paths that go up are made of, and what hides it. */
const PIECES = [
	...['.', '..', '%2e', '%2E', '%252e', '%25', '25', '2', 'e', '%'],
	...['/', '\\', '%2f', '%5C', '%255c', ';', '?', '#', 'a', ' ', 'é'],
];

/** Decodes as often as anything changes, then looks at the segments: the long way round. */
function goesUp(text: string): boolean {
	let decoded = text;
	for (let before = ''; before !== decoded; ) {
		before = decoded;
		decoded = decoded.replace(/%([0-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
	}
	return decoded.split(/[\\/]/).some((segment) => ['.', '..'].includes(segment.split(/[;?#]/)[0] ?? ''));
}

describe('path of a further endpoint', () => {
	test.each(['/api', '/api/', '/api/group/list', ' /api/a%20b ', '/api/a.b/..c', '/api/%E8%AE%BE'])(
		'%j may be called',
		(path) => {
			expect(apiPath(path)).toBe(path.trim());
		},
	);

	test.each([
		...['', 'api/group', '/apis', '/', '//other.example/api', 'https://other.example/api'],
		...['/api/../admin', '/api/./x', '/api/%2e%2e/admin', '/api/.%2E/admin', '/api\\..\\admin', '/api/%2%65%2e/admin'],
		...['/api/..;/admin', '/api/..;x=1/actuator/env', '/api/..%3Bx/admin', '/api/..%3fx/admin', '/api/..%23x/admin'],
		...['/api/%2e%2e%2fadmin', '/api/..%2fadmin', '/api/a%5c..%5cadmin', '/api/%252e%252e/admin'],
		...['/api/%25252e%25252e/admin', '/api/a%252f..%252fadmin', '/api/..%255cadmin'],
		...['/api/x%2500', '/api/x%00', '/api/x?y=1', '/api/x#y', '/api/a b', '/api/%zz', '/api/\n/x', '/api/\ud800'],
	])('%j is refused', (path) => {
		expect(() => apiPath(path)).toThrow(input);
	});

	test('nothing that is let through leaves /api or the host', () => {
		const part = fc.constantFrom('api', '//', '@', ':', 'x', ...PIECES);
		fc.assert(
			fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
				let path: string;
				try {
					path = apiPath(`/api${parts.join('')}`);
				} catch {
					return;
				}
				const url = new URL(`https://platform.example/prefix${path}`);
				expect(url.host).toBe('platform.example');
				expect(url.pathname).toMatch(/^\/prefix\/api(\/|$)/);
				expect(goesUp(path)).toBe(false);
			}),
			runs(3000),
		);
	});
});

describe('words for what is refused', () => {
	const CUT = 'is cut in the middle of a character | Check the expression that cuts the text.';
	const UNENCODED = "'Path' contains a space, a backslash or a control character | Percent-encode it (a space is %20).";
	const NO_API = "'Path' does not begin with /api | Enter a path of the platform like /api/model/list.";
	const A_QUERY = "'Path' contains a ? or a # | Move what follows it to 'Query Parameters'.";
	const BARE_PERCENT = "'Path' contains a % that is not an encoding | Write %25 for a percent sign.";

	test.each<[() => unknown, string]>([
		[
			() => devicePath(' '),
			"The serial number in 'Device' is empty | Enter a serial number. If it comes from an expression, check that the field has a value for every item.",
		],
		[
			() => devicePath(' .. '),
			"The serial number \"..\" in 'Device' can't be part of an address | Enter a serial number.",
		],
		[() => devicePath('a\ud800'), `The text of 'Device' ${CUT}`],
		[() => apiPath('/app'), NO_API],
		[() => apiPath('x/api'), NO_API],
		[() => apiPath('/api/a?b'), A_QUERY],
		[() => apiPath('/api/a#b'), A_QUERY],
		[() => apiPath('/api/a b'), UNENCODED],
		[() => apiPath('/api/a\\b'), UNENCODED],
		[() => apiPath('/api/a\u0007b'), UNENCODED],
		[() => apiPath('/api/..'), "'Path' contains a segment '.' or '..' | Enter the path without it."],
		[() => apiPath('/api/a%00'), "'Path' contains an encoded zero byte | Enter the path without it."],
		[() => apiPath('/api/%4'), BARE_PERCENT],
		[() => apiPath('/api/%g1'), BARE_PERCENT],
		[() => apiPath('/api/%1g'), BARE_PERCENT],
		[() => apiPath('/api/\ud800'), `The text of 'Path' ${CUT}`],
	])('%#', (run, expected) => {
		const { message, remedy } = refusal(run);
		expect(`${message} | ${remedy}`).toBe(expected);
	});
});
