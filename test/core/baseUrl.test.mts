import { parseBaseUrl } from '../../nodes/DeviceManagement/core/baseUrl.ts';

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

	test.each([
		'',
		'a.example',
		'ftp://a.example',
		'//a.example',
		'https://',
		'https://u:p@a.example',
		'https://a.example?x=1',
		'https://a.example/#x',
		'javascript:alert(1)',
	])('%j is refused with the label of the field', (entered) => {
		expect(() => parseBaseUrl(entered)).toThrow(/'Base URL'/);
	});

	test('user info is refused without being repeated', () => {
		expect(() => parseBaseUrl('https://user:hunter2@a.example')).toThrow(
			expect.objectContaining({ message: expect.not.stringContaining('hunter2') }),
		);
	});
});

/** What was entered, what is wrong with it, and what to do. */
test.each([
	['', 'is empty', /^Enter it like https:.* If it is an expression, it gave no value for this item\.$/],
	['xhttps://a.example', 'does not start with https:// or http://', /^Enter it like https:/],
	['https:/a.example', 'does not start with https:// or http://', /^Enter it like https:/],
	['httpss://a.example', 'does not start with https:// or http://', /^Enter it like https:/],
	['https://', 'is not an address', /^Enter it like https:/],
	['https://user@a.example', 'contains a user name or password', /^Remove everything before the @/],
	['https://:word@a.example', 'contains a user name or password', /^Remove everything before the @/],
	['https://a.example/x?y', 'contains a ? or a #', /^Enter it like https:/],
	['https://a.example/x#y', 'contains a ? or a #', /^Enter it like https:/],
])('%j %s', (entered, what, remedy) => {
	expect(() => parseBaseUrl(entered)).toThrow(
		expect.objectContaining({
			message: `'Base URL' in the credential ${what}`,
			details: expect.objectContaining({ kind: 'input', cause: 'input', remedy: expect.stringMatching(remedy) }),
		}),
	);
});

test('only slashes at the end are cut off', () => {
	expect(parseBaseUrl('https://a.example//eu//x//').href).toBe('https://a.example//eu//x');
});
