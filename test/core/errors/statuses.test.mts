import { explain, failureOf, type Wording } from '../../../nodes/DeviceManagement/core/errors/failureOf.ts';
import { rowOf } from '../../../nodes/DeviceManagement/core/errors/table.ts';

const explainStatus = (httpStatus: number, words: Wording) => explain(`HTTP ${httpStatus}`, words, { httpStatus });
const ALL = Array.from({ length: 500 }, (_, index) => 100 + index);

/** The last status before a change of words, the first one after it, and those with their own words. */
test.each([
	[[199, 402, 418, 499], 'platform', 'Unexpected response', 'A proxy'],
	[[400, 405, 406, 415, 422, 426], 'platform', 'The server rejected the request', 'may need https://'],
	[[300, 399], 'unknown', 'The address redirects', "doesn't follow redirects"],
	[[401], 'credential', 'The platform rejected the sign-in', "'Custom Sign-In'"],
	[[403], 'unknown', 'Access denied', 'proxy or firewall'],
	[[404], 'unknown', 'Nothing found at this address', 'is the part before /api.'],
	[[407], 'unknown', "n8n's proxy requires a user name and password", 'HTTPS_PROXY'],
	[[413, 414, 431], 'input', 'The request is too large for the server', 'fewer or shorter'],
	[[429], 'platform', 'Too many requests', "'Parallel Requests'"],
	[[500, 599], 'platform', "The platform couldn't handle the request", 'ask your platform'],
	[[503], 'platform', 'The platform is unavailable', 'ask your platform'],
	[[502, 504], 'platform', 'The platform is unavailable', "lower 'Page Size'"],
])('HTTP %j', (statuses, cause, message, remedy) => {
	for (const status of statuses) {
		const words = explainStatus(status, 'list');
		expect(words).toMatchObject({ kind: 'status', cause, message: `${message} (HTTP ${status})` });
		expect(words.remedy).toMatch(/^[A-Z][^{}]*\.$/);
		expect(words.remedy).toContain(remedy);
		expect(`${message} ${words.remedy}`).not.toMatch(/\b(error|problem|failure|mistake|authorization)\b/i);
	}
});

const LATER = 'Try again later, or ask your platform administrator.';
const NO_PROXY = 'If n8n uses a proxy, check NO_PROXY.';
test.each([
	[404, ['list'], "Check 'Base URL' in the credential. "],
	[404, ['login'], "Check 'Base URL' and 'Custom Sign-In' in the credential. "],
	[404, ['apiRequestWithBody'], "Check 'Path', and 'Base URL' in the credential. "],
	[429, ['count'], "Lower 'Parallel Requests' under 'Options', or run the workflow less often."],
	[503, ['list', 'device'], `${LATER} ${NO_PROXY}`],
	[504, ['device', 'test'], `Try again later. ${NO_PROXY}`],
	[429, ['dropdown', 'login', 'test'], 'Try again later.'],
] as const)('HTTP %i with the words for %s: %s', (status, requests, remedy) => {
	for (const words of requests) expect(explainStatus(status, words).remedy.slice(0, remedy.length)).toBe(remedy);
});

test('a write may have been carried out unless a 4xx refuses it', () => {
	const asked = { words: 'apiRequestWithBody', mayChange: true, redact: String } as const;
	const failure = (status: number) => failureOf({ kind: 'status', row: rowOf(`HTTP ${status}`) }, asked);
	const refusing = ALL.filter((status) => failure(status).details.inDoubt !== true);
	expect(refusing).toEqual(ALL.slice(300, 400).filter((status) => ![406, 408, 499].includes(status)));
});

test('the temporary statuses are those of a limit and of a proxy, and no others', () => {
	const temporary = [...ALL, 600, 999].filter((status) => explainStatus(status, 'list').temporary);
	expect(temporary).toEqual([429, 502, 503, 504]);
});
