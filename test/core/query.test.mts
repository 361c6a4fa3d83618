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

const input = expect.objectContaining({ details: expect.objectContaining({ kind: 'input' }) });

function refused(run: () => unknown): string {
	try {
		run();
	} catch (error) {
		if (error instanceof Failure && error.details.kind === 'input') return error.message;
		throw error;
	}
	throw new Error('It was not refused');
}

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

	test.each([
		[{ attributes: [{ key: 'site', value: 'a,b' }] }, /"site" under 'Attributes' contains a comma/],
		[{ attributes: [{ key: 'my site', value: 'a' }] }, /'Attributes', contains a space/],
		[{ attributes: [{ key: 'a,b', value: 'a' }] }, /'Attributes', contains a comma/],
		[{ attributes: [{ key: '', value: 'a' }] }, /'Attributes' that is empty/],
		[{ attributes: [{ key: 'site', value: ' ' }] }, /"site" under 'Attributes' has no value/],
		[{ parameters: [{ name: ' ', value: 'a' }] }, /'Query Parameters' has no name/],
		[{ parameters: [{ name: 'page', value: '3' }] }, /"page" under 'Query Parameters' is set by the node/],
		[{ parameters: [{ name: 'size', value: '3' }] }, /"size"/],
		[{ parameters: [{ name: 'sort', value: 'a' }] }, /"sort"/],
		[{ name: 'half \ud83d' }, /'Name' ends or begins in the middle of a character/],
		[{ tags: '\udc00' }, /'Tags'/],
	])('%j is refused before it is sent', (filters, message) => {
		expect(refused(() => buildFilterQuery(filters))).toMatch(message);
	});

	test.each(['__proto__', 'constructor', 'prototype'])('a parameter called %s, which n8n would drop, is refused', (name) => {
		expect(refused(() => addParameter({}, name, 'x'))).toContain(name);
	});
});

describe('path of a device', () => {
	test.each([
		[' RT-1 ', '/api/device/sn/RT-1'],
		['a/b?c#d%e+f', '/api/device/sn/a%2Fb%3Fc%23d%25e%2Bf'],
		['../../user', '/api/device/sn/..%2F..%2Fuser'],
		['%2e%2e', '/api/device/sn/%252e%252e'],
		['设备', '/api/device/sn/%E8%AE%BE%E5%A4%87'],
		['...', '/api/device/sn/...'],
	])('%j is %s', (sn, path) => {
		expect(devicePath(sn)).toBe(path);
	});

	test.each(['', '   ', '.', ' .. ', '\ud800'])('%j is refused', (sn) => {
		expect(refused(() => devicePath(sn))).toContain("'Device'");
	});

	test('whatever the serial number, it stays one segment and reads back', () => {
		fc.assert(
			fc.property(fc.string({ unit: 'grapheme' }), (sn) => {
				fc.pre(sn.trim() !== '' && !/^\s*\.{1,2}\s*$/.test(sn));
				const url = new URL(devicePath(sn), 'https://platform.example');
				const segments = url.pathname.split('/');
				expect(segments.slice(0, 4)).toEqual(['', 'api', 'device', 'sn']);
				expect(segments).toHaveLength(5);
				expect(decodeURIComponent(segments[4] ?? '')).toBe(sn.trim());
				expect(url.search + url.hash).toBe('');
			}),
		);
	});
});

describe('path of a further endpoint', () => {
	test.each(['/api', '/api/', '/api/group/list', ' /api/a%20b ', '/api/a.b/..c', '/api/%E8%AE%BE'])('%j may be called', (path) => {
		expect(apiPath(path)).toBe(path.trim());
	});

	test.each([
		'',
		'api/group',
		'/apis',
		'/',
		'//other.example/api',
		'https://other.example/api',
		'/api/../admin',
		'/api/./x',
		'/api/%2e%2e/admin',
		'/api/.%2E/admin',
		'/api/..;/admin',
		'/api/..;x=1/actuator/env',
		'/api/..%3Bx/admin',
		'/api/%2e%2e%2fadmin',
		'/api/..%2fadmin',
		'/api/a%5c..%5cadmin',
		'/api/x%00',
		'/api/x?y=1',
		'/api/x#y',
		'/api/a b',
		'/api\\..\\admin',
		'/api/%zz',
		'/api/\n/x',
		'/api/\ud800',
	])('%j is refused', (path) => {
		expect(() => apiPath(path)).toThrow(input);
	});

	test('nothing that is let through leaves /api or the host', () => {
		const part = fc.constantFrom('api', '.', '..', '%2e', '%2E', '/', '//', '\\', '@', ':', 'x', '%', '%2f', ' ', '?', '#', 'é');
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
			}),
			{ numRuns: 2000 },
		);
	});
});
