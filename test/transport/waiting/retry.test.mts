import fc from 'fast-check';

import { Failure } from '../../../nodes/DeviceManagement/core/failure.ts';
import { exchange } from '../../../nodes/DeviceManagement/transport/exchange.ts';
import { replaceClock, systemClock } from '../../../nodes/DeviceManagement/transport/waiting/clock.ts';
import {
	backoffMs,
	parseRetryAfter,
	timeInWords,
	withRetries,
} from '../../../nodes/DeviceManagement/transport/waiting/retry.ts';
import { runs } from '../../../testbed/runs.mts';
import { responseOf } from '../auth/signedOut.mts';

const NOW = Date.UTC(2026, 0, 1, 12, 0, 0);

const end = new AbortController().signal;
let slept: number[];
let chance: number;
let putBack: () => void;
beforeEach(() => {
	[slept, chance] = [[], 0.5];
	// Waits take no time.
	const time = {
		now: () => 0,
		date: () => NOW,
		random: () => chance,
		sleep: async (ms: number) => void slept.push(ms),
	};
	putBack = replaceClock({ ...systemClock, ...time });
});
afterEach(() => putBack());

function failing(times: number, details: Partial<Failure['details']> = {}) {
	let attempts = 0;
	return {
		attempts: () => attempts,
		run: async () => {
			attempts++;
			if (attempts > times) return 'done';
			throw new Failure({
				kind: 'status',
				cause: 'platform',
				message: 'Not now',
				remedy: 'Wait.',
				temporary: true,
				...details,
			});
		},
	};
}

test('a request that succeeds after two failures returns its answer', async () => {
	const request = failing(2);
	await expect(withRetries(request.run, 3, end)).resolves.toBe('done');
	expect(request.attempts()).toBe(3);
	expect(slept).toEqual([375, 750]);
});

test('what still fails says how often it was tried', async () => {
	const request = failing(99);
	await expect(withRetries(request.run, 3, end)).rejects.toMatchObject({
		message: 'Not now, also after 3 retries',
		details: { remedy: 'Wait.', retryable: false },
	});
	expect(request.attempts()).toBe(4);
});

test.each([{ temporary: false }, { retryable: false } as const])(
	'with %j, a failure is not retried',
	async (details) => {
		const request = failing(99, details);
		await expect(withRetries(request.run, 3, end)).rejects.toThrow('Not now');
		expect(request.attempts()).toBe(1);
	},
);

test('with no retries allowed, a failure comes back as it was', async () => {
	const request = failing(99);
	await expect(withRetries(request.run, 0, end)).rejects.toThrow(/^Not now$/);
	expect(request.attempts()).toBe(1);
});

test('anything else that is thrown is passed on', async () => {
	const bug = new TypeError('a bug');
	await expect(withRetries(async () => await Promise.reject(bug), 3, end)).rejects.toBe(bug);
});

test('the wait that the platform asks for is left to the rate limit', async () => {
	const request = failing(1, { retryAfterMs: 7000 });
	await withRetries(request.run, 3, end);
	expect({ slept, attempts: request.attempts() }).toEqual({ slept: [], attempts: 2 });
});

test('a wait longer than the limit is not begun', async () => {
	const request = failing(1, { retryAfterMs: 3_600_000 });
	await expect(withRetries(request.run, 3, end)).rejects.toThrow(
		'Not now; the next try would be in 3600 seconds, which is longer than this node waits',
	);
	expect(slept).toEqual([]);
});

test('all waits together stay within the limit, for any chance and any Retry-After', async () => {
	await fc.assert(
		fc.asyncProperty(
			fc.double({ min: 0, max: 0.999_999, noNaN: true }),
			fc.array(fc.option(fc.nat(200_000), { nil: undefined }), { minLength: 20, maxLength: 20 }),
			fc.integer({ min: 0, max: 10 }),
			async (random, asked, maxRetries) => {
				[slept, chance] = [[], random];
				let attempts = 0;
				const run = async () => {
					const retryAfterMs = asked[attempts++];
					throw new Failure({
						kind: 'status',
						cause: 'platform',
						message: 'Not now',
						remedy: '',
						temporary: true,
						...(retryAfterMs === undefined ? {} : { retryAfterMs }),
					});
				};
				await expect(withRetries(run, maxRetries, end)).rejects.toBeInstanceOf(Failure);
				expect(attempts).toBeLessThanOrEqual(maxRetries + 1);
				expect(slept.reduce((sum, ms) => sum + ms, 0)).toBeLessThanOrEqual(120_000);
			},
		),
		runs(1000),
	);
});

test('backoff grows, is jittered, and has a ceiling', () => {
	expect([0, 1, 2, 3].map((retry) => backoffMs(retry, 0))).toEqual([250, 500, 1000, 2000]);
	expect([0, 1, 2, 3].map((retry) => backoffMs(retry, 1))).toEqual([500, 1000, 2000, 4000]);
	expect(backoffMs(50, 1)).toBe(20_000);
});

describe('Retry-After', () => {
	test.each([
		['120', 120_000],
		[' 1.5 ', 1500],
		['Thu, 01 Jan 2026 12:00:30 GMT', 30_000],
		['Thursday, 01-Jan-26 12:00:30 GMT', 30_000],
	])('%j is %i ms', (header, ms) => {
		expect(parseRetryAfter(header, undefined, NOW)).toBe(ms);
	});

	test.each([
		[undefined, 30_000],
		['soon', 30_000],
		['Thu, 01 Jan 2026 12:00:20 GMT', 10_000],
	])(
		"a date is compared with the response's date (%s), or with n8n's, not with the clock of waits",
		async (date, ms) => {
			const headers = { date, 'retry-after': new Date(NOW + 30_000).toUTCString() };
			const url = 'https://platform.example';
			const request = { method: 'GET', url, skipCertificateCheck: false, timeoutMs: 5000 } as const;
			const response = exchange(async () => ({ ...responseOf({}), headers }), request);
			await expect(response).resolves.toMatchObject({ retryAfterMs: ms });
		},
	);

	test.each([['0'], ['Thu, 01 Jan 2026 11:00:00 GMT'], ['-5'], ['soon'], [''], ['12,13'], [undefined], [17], [['1']]])(
		'%j asks for no wait: the node takes its own',
		(header) => {
			expect(parseRetryAfter(header, undefined, NOW)).toBeUndefined();
		},
	);
});

test('a failure says how often it was tried, and when the next try would be', async () => {
	const last = async (failures: Array<Partial<Failure['details']>>, maxRetries = 3) => {
		const given = [...failures];
		const run = async () =>
			await Promise.reject(
				new Failure({
					kind: 'status',
					cause: 'platform',
					message: 'Not now',
					remedy: 'Wait.',
					temporary: true,
					...given.shift(),
				}),
			);
		return await withRetries(run, maxRetries, end).catch((failure: unknown) => Object(failure).details);
	};
	const LONG = { retryAfterMs: 600_500 };
	const soon = 'the next try would be in 601 seconds, which is longer than this node waits';
	expect(await last([], 1)).toMatchObject({
		message: 'Not now, also after one retry',
		retryable: false,
	});
	expect(await last([], 2)).toMatchObject({
		message: 'Not now, also after 2 retries',
		retryable: false,
	});
	expect(await last([LONG])).toMatchObject({ message: `Not now; ${soon}`, retryable: false });
	expect(await last([{}, LONG])).toMatchObject({
		message: `Not now, also after one retry; ${soon}`,
		retryable: false,
	});
	expect(await last([{}, {}, LONG])).toMatchObject({
		message: `Not now, also after 2 retries; ${soon}`,
		retryable: false,
	});
});

test('waits of just the limit are kept to, a millisecond more is not', async () => {
	for (const [retryAfterMs, attempts] of [
		[60_000, 3],
		[60_000.5, 2],
	] as const) {
		const request = failing(2, { retryAfterMs });
		await withRetries(request.run, 3, end).catch(() => {});
		expect(request.attempts()).toBe(attempts);
	}
});

test('Retry-After takes seconds with any fraction, dates with or without a comma, and no other text', () => {
	expect(parseRetryAfter('1.25', undefined, NOW)).toBe(1250);
	expect(parseRetryAfter('Thu 01 Jan 2026 12:00:30 GMT', undefined, NOW)).toBe(30_000);
	for (const text of ['in Thu, 01 Jan 2026 12:00:30 GMT', '1.', '.5', '1.2.3', '2026-01-01T12:00:30Z']) {
		expect(parseRetryAfter(text, undefined, NOW)).toBeUndefined();
	}
});

test.each([
	[1, '1 second'],
	[1001, '2 seconds'],
	[60_000, '60 seconds'],
	[60_001, '2 minutes'],
	[300_000, '5 minutes'],
	[3_600_000, '60 minutes'],
])('%d ms is %s in words', (ms, words) => {
	expect(timeInWords(ms)).toBe(words);
});
