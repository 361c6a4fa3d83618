import { DeviceManagementApi } from '../../credentials/DeviceManagementApi.credentials.ts';
import { parseBaseUrl } from '../../nodes/DeviceManagement/core/baseUrl.ts';

test.each([
	['https://a.example', 'https://a.example', ''],
	[' https://a.example/ ', 'https://a.example', ''],
	['https://a.example/prefix/v2/', 'https://a.example', '/prefix/v2'],
	['https://a.example//eu//x//', 'https://a.example', '//eu//x'],
	['https://a.example/api', 'https://a.example', ''],
	['https://a.example/x/api//', 'https://a.example', '/x'],
	['https://a.example/api/api/', 'https://a.example', '/api'],
	['https://a.example/xapi', 'https://a.example', '/xapi'],
	['https://a.example/#/login', 'https://a.example', ''],
	['https://a.example/x/api?y=/api#z', 'https://a.example', '/x'],
])('the base URL %j is %s, with the path "%s", also in the connection test', (entered, origin, path) => {
	expect(parseBaseUrl(entered)).toEqual({ origin, href: origin + path });
	const expression = String(new DeviceManagementApi().test.request.baseURL).replace(/^=\{\{(.*)\}\}$/, '$1');
	const tested: unknown = new Function('$credentials', `return ${expression}`)({ baseUrl: entered });
	expect(String(tested).toLowerCase()).toBe(origin + path);
});

const [ENTER, NO_SCHEME] = [
	/^Enter it like https:\/\/devices\.example\.com\.$/,
	"doesn't start with https:// or http://",
];
test.each([
	['', 'is empty', /^Enter it like https:.* If it's an expression, check its result\.$/],
	...['a.example', '//a.example', 'xhttps://a.example', 'https:/a.example', 'javascript:alert(1)'].map(
		(entered) => [entered, NO_SCHEME, ENTER] as const,
	),
	['httpss://a.example', NO_SCHEME, ENTER],
	['https://', "isn't an address", ENTER],
	['https://user@a.example', 'contains a user name or password', /^Remove them/],
	['https://:hunter2@a.example', 'contains a user name or password', /^Remove them/],
] as const)('the base URL %j %s', (entered, what, remedy) => {
	const details = expect.objectContaining({ kind: 'input', cause: 'input', remedy: expect.stringMatching(remedy) });
	const message = `'Base URL' in the credential ${what}`;
	expect(() => parseBaseUrl(entered)).toThrow(expect.objectContaining({ message, details }));
});
