import { fillIn, type Purpose } from '../../../nodes/DeviceManagement/core/errors/purpose.ts';
import { explainStatus as explainFacts } from '../../../nodes/DeviceManagement/core/errors/statuses.ts';
import { optionFields } from '../../../nodes/DeviceManagement/fields/options.ts';
import { readPage } from '../../../testbed/pages.mts';

const explainStatus = (status: number, purpose: Purpose) => fillIn(explainFacts(status), purpose);
const ALL = Array.from({ length: 500 }, (_, index) => 100 + index);

/** The last status before a change of words, the first one after it, and those with their own words. */
test.each([
	[[199, 400, 402, 405, 499], 'platform', "The server did not return the platform's envelope", 'whether a proxy'],
	[[300, 399], 'unknown', 'The address responds with a redirect', 'does not follow redirects'],
	[[401], 'credential', 'The platform did not accept the sign-in', "'My Platform Signs In Differently'"],
	[[403], 'unknown', 'Access was denied', 'proxy or firewall'],
	[[404], 'unknown', 'There is nothing at this address', 'is the part before /api.'],
	[[407], 'unknown', "n8n's proxy requires a valid name and password", 'HTTPS_PROXY'],
	[[413, 414, 431], 'input', 'The request is too large for the server', 'fewer or shorter'],
	[[429], 'platform', 'The platform receives too many requests', "'Parallel Requests'"],
	[[500, 502, 599], 'platform', 'The platform or a proxy in front of it could not respond', 'Try again later'],
])('HTTP %j', (statuses, cause, message, remedy) => {
	for (const status of statuses) {
		const words = explainStatus(status, 'list');
		expect(words).toMatchObject({ kind: 'status', cause, message: `${message} (HTTP ${status})` });
		expect(words.remedy).toMatch(/^[A-Z][^{}]*\.$/);
		expect(words.remedy).toContain(remedy);
		expect(`${message} ${words.remedy}`).not.toMatch(/\b(error|problem|failure|mistake|authorization)\b/i);
	}
});

test.each([
	[404, ['list'], "Check 'Base URL' in the credential. "],
	[404, ['login'], "Check 'Login Path' and 'Base URL' in the credential. "],
	[404, ['write'], "Check 'Path', and 'Base URL' in the credential. "],
	[429, ['count'], "Lower 'Parallel Requests' under 'Options', or run the workflow less often."],
	[429, ['dropdown', 'login', 'test'], 'Try again later.'],
] as const)('HTTP %i for the purpose %s: %s', (status, purposes, remedy) => {
	for (const purpose of purposes) expect(explainStatus(status, purpose).remedy.slice(0, remedy.length)).toBe(remedy);
});

test('a write may have been carried out unless a 4xx refuses it', () => {
	const refusing = ALL.filter((status) => explainFacts(status).inDoubt === false);
	expect(refusing).toEqual(ALL.slice(300, 400).filter((status) => ![406, 408, 499].includes(status)));
});

test('the form and docs/list.md name the temporary statuses, and no others, as those that the node retries', () => {
	const temporary = [...ALL, 600, 999].filter((status) => explainFacts(status).temporary);
	expect(temporary).toEqual([429, 502, 503, 504]);
	const named = 'HTTP 502, 503 or 504';
	expect(optionFields.maxRetries.description).toContain(`${named}. Retries after HTTP 429 do not count.`);
	expect(readPage('docs/list.md')).toContain(named);
});
