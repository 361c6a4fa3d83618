import fc from 'fast-check';

import { Failure } from '../../nodes/DeviceManagement/core/failure.ts';
import {
	addParameter,
	apiPath,
	buildFilterQuery,
	buildSort,
	devicePath,
	type SortRule,
} from '../../nodes/DeviceManagement/core/query.ts';
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

describe('sort', () => {
	const asc = (field: string): SortRule => ({ field, direction: 'asc' });
	const desc = (field: string): SortRule => ({ field, direction: 'desc' });

	test.each([
		['one rule', [desc('createTime')], ['createTime desc']],
		['rules of one direction share a value', [asc('a'), asc('b')], ['a,b asc']],
		['a change of direction begins a new one', [asc('a'), asc('b'), desc('c')], ['a,b asc', 'c desc']],
		['the order of rules is kept', [asc('a'), desc('b'), asc('c')], ['a asc', 'b desc', 'c asc']],
		['an attribute', [desc('attributes.site')], ['attributes.site desc']],
		['no rule', [], []],
	])('%s', (_, rules, values) => {
		expect(buildSort(rules)).toEqual(values);
	});

	test('reads back as the rules it was made of', () => {
		const name = fc.stringMatching(/^[a-zA-Z][a-zA-Z0-9._-]*$/);
		const rule = fc.record({ field: name, direction: fc.constantFrom('asc' as const, 'desc' as const) });
		fc.assert(
			fc.property(fc.array(rule), (rules) => {
				const back = buildSort(rules).flatMap((value) => {
					const [fields = '', direction] = value.split(' ');
					return fields.split(',').map((field) => ({ field, direction }));
				});
				expect(back).toEqual(rules);
			}),
			runs(1000),
		);
	});

	test.each([
		['', 'empty'],
		['  ', 'empty'],
		['two words', 'a space'],
		['a,b', 'a comma'],
	])('the field %j is refused because it is or has %s', (field, what) => {
		expect(refused(() => buildSort([asc(field)]))).toMatch(new RegExp(`'Sort'.*${what}`));
	});
});

describe('filters', () => {
	test('go into the query under the names of the API document', () => {
		expect(
			buildFilterQuery({
				name: 'Zürich & co',
				tags: ' a , b ,,',
				attributes: [
					{ key: 'site', value: 'North Harbour' },
					{ key: ' floor ', value: '2' },
				],
				parameters: [
					{ name: 'x', value: '1' },
					{ name: 'x', value: '' },
					{ name: 'y', value: '+%#' },
				],
			}),
		).toEqual({ name: 'Zürich & co', tags: 'a,b', attributes: 'site North Harbour,floor 2', x: ['1', ''], y: '+%#' });
	});

	test('that are empty are left out', () => {
		expect(buildFilterQuery({ name: '', tags: ' , ' })).toEqual({});
	});

	test.each(['__proto__', 'constructor', 'prototype'])(
		'a parameter called %s, which n8n would drop, is refused',
		(name) => {
			expect(refused(() => addParameter({}, name, 'x'))).toContain(name);
		},
	);
});

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
	const NO_VALUE = 'Enter a value, or remove the attribute. If it is an expression, it gave no value for this item.';
	const NAME = 'Enter one name per entry, without them.';
	const CUT = 'is cut in the middle of a character | Check the expression that cuts the text.';
	const SET_BY_NODE =
		"under 'Query Parameters' | Remove it. The node reads all pages, and only its own fields set their size and order.";
	const UNENCODED = "'Path' contains a space, a backslash or a control character | Percent-encode it (a space is %20).";
	const NO_API = "'Path' does not begin with /api | Enter a path of the platform like /api/model/list.";
	const A_QUERY = "'Path' contains a ? or a # | Move what follows it to 'Query Parameters'.";
	const BARE_PERCENT = "'Path' contains a % that is not an encoding | Write %25 for a percent sign.";
	const sortBy = (field: string) => buildSort([{ field, direction: 'asc' }]);
	const attribute = (key: string, value: string) => buildFilterQuery({ attributes: [{ key, value }] });
	const parameter = (name: string) => buildFilterQuery({ parameters: [{ name, value: '1' }] });

	test.each<[() => unknown, string]>([
		[() => sortBy(' '), "A field name under 'Sort' is empty | Fill it in, or remove the entry."],
		[() => sortBy('a b'), `"a b", a field name under 'Sort', contains a space or a comma | ${NAME}`],
		[() => sortBy('a,b'), `"a,b", a field name under 'Sort', contains a space or a comma | ${NAME}`],
		[() => sortBy('\ud800'), `The text of a field name under 'Sort' ${CUT}`],
		[() => buildFilterQuery({ name: '\ud800' }), `The text of 'Name' ${CUT}`],
		[() => buildFilterQuery({ tags: 'a,\ud800' }), `The text of 'Tags' ${CUT}`],
		[() => attribute('a', ' '), `The attribute "a" under 'Attributes' has no value | ${NO_VALUE}`],
		[
			() => attribute('a', 'b,c'),
			`The value of the attribute "a" under 'Attributes' contains a comma | The platform can't filter by it. Filter by another attribute, or filter the devices in a later step.`,
		],
		[() => attribute('a', '\ud800'), `The text of the attribute "a" ${CUT}`],
		[() => attribute(' ', 'x'), "A key under 'Attributes' is empty | Fill it in, or remove the entry."],
		[() => parameter(' page '), `The node already sets the parameter "page" ${SET_BY_NODE}`],
		[() => parameter('size'), `The node already sets the parameter "size" ${SET_BY_NODE}`],
		[
			() => addParameter({}, '', 'x'),
			"A parameter under 'Query Parameters' has no name | Fill in its 'Name', or remove it.",
		],
		[
			() => addParameter({}, 'constructor', 'x'),
			"A parameter under 'Query Parameters' can't have the name \"constructor\" | n8n doesn't send parameters of that name. Remove it.",
		],
		[() => addParameter({}, '\ud800', 'x'), `The text of 'Query Parameters' ${CUT}`],
		[() => addParameter({}, 'a', '\ud800'), `The text of the parameter "a" ${CUT}`],
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

describe('a query', () => {
	test('holds nothing that was not given', () => {
		expect(buildFilterQuery({})).toEqual({});
		expect(buildFilterQuery({ name: '', tags: '', attributes: [], parameters: [] })).toEqual({});
		expect(buildFilterQuery({ name: ' a ' })).toEqual({ name: ' a ' });
		expect(buildFilterQuery({ tags: 'a' })).toEqual({ tags: 'a' });
	});

	test('repeats a parameter that is given more than once, in order', () => {
		const query = {};
		for (const value of ['1', '2', '3']) addParameter(query, 'x', value);
		addParameter(query, 'toString', '4');
		expect(query).toEqual({ x: ['1', '2', '3'], toString: '4' });
	});

	test('takes any name for a parameter but those that are set by the node or lost on the way', () => {
		for (const name of ['pages', 'sizes', 'sort by', 'Page', 'prototypes']) {
			expect(buildFilterQuery({ parameters: [{ name: ` ${name} `, value: 'x' }] })).toEqual({ [name]: 'x' });
		}
	});
});
