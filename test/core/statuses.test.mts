import { explainStatus, mayHaveBeenCarriedOut } from '../../nodes/DeviceManagement/core/statuses.ts';

/** The last status before a change, the first one after it, and those that have words of their own. */
test.each([
	[300, 'input', 'The address answers with a redirect (HTTP 300)', 'Redirects are not followed'],
	[399, 'input', 'The address answers with a redirect (HTTP 399)', 'Redirects are not followed'],
	[400, 'platform', "The server answered with HTTP 400 instead of the platform's envelope", 'whether a proxy'],
	[401, 'credential', 'The platform did not accept the sign-in (HTTP 401)', 'how the key is sent'],
	[402, 'platform', "The server answered with HTTP 402 instead of the platform's envelope", 'whether a proxy'],
	[403, 'unknown', 'Access was denied (HTTP 403)', 'proxy or firewall'],
	[404, 'unknown', 'There is nothing at this address (HTTP 404)', 'without /api itself'],
	[405, 'platform', "The server answered with HTTP 405 instead of the platform's envelope", 'whether a proxy'],
	[412, 'platform', "The server answered with HTTP 412 instead of the platform's envelope", 'whether a proxy'],
	[413, 'input', 'The request is too large for the server (HTTP 413)', 'fewer or shorter'],
	[414, 'input', 'The request is too large for the server (HTTP 414)', 'fewer or shorter'],
	[428, 'platform', "The server answered with HTTP 428 instead of the platform's envelope", 'whether a proxy'],
	[429, 'platform', 'The platform receives too many requests (HTTP 429)', "'Parallel Requests'"],
	[431, 'input', 'The request is too large for the server (HTTP 431)', 'fewer or shorter'],
	[499, 'platform', "The server answered with HTTP 499 instead of the platform's envelope", 'whether a proxy'],
	[500, 'platform', 'The platform or a proxy in front of it could not answer (HTTP 500)', 'Try again later'],
	[599, 'platform', 'The platform or a proxy in front of it could not answer (HTTP 599)', 'Try again later'],
	[199, 'platform', "The server answered with HTTP 199 instead of the platform's envelope", 'whether a proxy'],
])('HTTP %i', (status, cause, message, remedy) => {
	expect(explainStatus(status, 'list')).toEqual({ cause, message, remedy: expect.stringContaining(remedy) });
});

test('HTTP 429 names fields only to who has them', () => {
	for (const purpose of ['list', 'watch', 'count', 'device', 'read', 'write'] as const) {
		expect(explainStatus(429, purpose).remedy).toBe("Lower 'Parallel Requests' under 'Options', or have the workflow ask less often.");
	}
	for (const purpose of ['login', 'dropdown', 'test'] as const) expect(explainStatus(429, purpose).remedy).toBe('Try again later.');
});

test('what a status leaves open of a write', () => {
	const open = Array.from({ length: 500 }, (_, index) => 100 + index).filter((status) => (status < 200 || status > 299) && mayHaveBeenCarriedOut(status));
	const informational = Array.from({ length: 100 }, (_, index) => 100 + index);
	const failing = Array.from({ length: 100 }, (_, index) => 500 + index).filter((status) => ![501, 505, 511].includes(status));
	expect(open).toEqual([...informational, 302, 303, 406, 408, 499, ...failing]);
});

test.each([
	['list', "Check 'Base URL' in the credential"],
	['login', "Check 'Login Path' and 'Base URL' in the credential"],
	['read', "Check 'Path' and 'Base URL' in the credential"],
	['write', "Check 'Path' and 'Base URL' in the credential"],
] as const)('HTTP 404 names the paths that were asked for: %s', (purpose, remedy) => {
	expect(explainStatus(404, purpose).remedy.startsWith(`${remedy}, which`)).toBe(true);
});

test('a redirect says where it leads, if that is known', () => {
	expect(explainStatus(302, 'list', 'https://elsewhere.example').message).toBe(
		'The address answers with a redirect to https://elsewhere.example (HTTP 302)',
	);
});

test('every status has words in the style of n8n', () => {
	for (let status = 100; status < 600; status++) {
		const { message, remedy } = explainStatus(status, 'list');
		expect(message).toMatch(new RegExp(`^[A-Z].*HTTP ${status}\\b.*[^.!]$`));
		expect(remedy).toMatch(/^[A-Z].*\.$/);
		expect(`${message} ${remedy}`).not.toMatch(/\b(error|problem|failure|mistake|authorization)\b/i);
	}
});
