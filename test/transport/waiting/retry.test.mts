import type { FailureDetails } from '../../../nodes/DeviceManagement/core/failure.ts';
import { exchange, parseRetryAfter } from '../../../nodes/DeviceManagement/transport/exchange.ts';
import { Traffic } from '../../../nodes/DeviceManagement/transport/waiting/traffic.ts';
import { failureOf, responseOf, settled, useVirtualTime } from '../../../testbed/fakeN8n.mts';

/** Each test begins at Tue, 14 Nov 2023 22:13:20 GMT. */
let chance = 0.5;
const virtual = useVirtualTime(() => chance);
beforeEach(() => void (chance = 0.5));

/** Tries a request whose attempts fail in turn for these reasons. Returns when they were sent, too. */
async function tryAgainst(failures: ReadonlyArray<Partial<FailureDetails> | Error>, maxRetries = 3) {
	const sentAt: number[] = [];
	const attempt = async () => {
		const reason = failures[sentAt.length];
		sentAt.push(virtual.time.now());
		if (reason === undefined) return 'done';
		throw reason instanceof Error ? reason : failureOf({ temporary: true, ...reason });
	};
	const costOf = ({ temporary }: FailureDetails) => (temporary === true ? 1 : Infinity);
	const tried = new Traffic().send(attempt, { most: maxRetries, costOf, end: new AbortController().signal });
	return { outcome: await virtual.time.until(settled(tried)), sentAt };
}

const MINUTE = { httpStatus: 429, retryAfterMs: 60_000 };
const TOO_LATE = 'The platform accepts no requests for 2 minutes (HTTP 429)';

test.each<
	[promise: string, failures: Array<Partial<FailureDetails>>, maxRetries: number, end: string, attempts: number]
>([
	['succeeds after two failures', [{}, {}], 3, 'done', 3],
	['says after one retry that it was retried', [{}, {}], 1, 'Not now, also after one retry', 2],
	['says how often it was retried', [{}, {}, {}, {}], 3, 'Not now, also after 3 retries', 4],
	['is not retried if that can not help', [{ temporary: false }], 3, 'Not now', 1],
	['is not retried if retries are off', [{}], 0, 'Not now', 1],
	['does not wait longer than two minutes', [{ ...MINUTE, retryAfterMs: 121_000 }], 3, TOO_LATE.replace('2', '3'), 1],
	['waits for a minute', [MINUTE], 3, 'done', 2],
	['waits no longer', [MINUTE, MINUTE], 3, TOO_LATE, 2],
])('a request %s', async (_promise, failures, maxRetries, end, attempts) => {
	const tried = await tryAgainst(failures, maxRetries);
	expect(tried.outcome).toEqual(end === 'done' ? end : expect.objectContaining({ message: end }));
	expect(tried.sentAt).toHaveLength(attempts);
});

test.each([
	[0, [250, 500, 1000, 2000, 4000, 8000, 10_000, 10_000]],
	[1, [500, 1000, 2000, 4000, 8000, 16_000, 20_000, 20_000]],
])('waits between attempts grow, are longer by chance (%d), and have a ceiling', async (by, waits) => {
	chance = by;
	const { sentAt } = await tryAgainst(Array<object>(8).fill({}), 8);
	expect(sentAt.slice(1).map((at, before) => at - (sentAt[before] ?? 0))).toEqual(waits);
});

test('anything else that is thrown is passed on', async () => {
	const bug = new TypeError('a bug');
	expect((await tryAgainst([bug])).outcome).toBe(bug);
});

describe('Retry-After', () => {
	test.each([
		['120', 120_000],
		[' 1.5 ', 1500],
		['1.25', 1250],
		['1700000030', 30_000],
		['1700000030.5', 30_500],
		['1700000030000', 30_000],
		['999999999', 999_999_999_000],
		['Tue, 14 Nov 2023 22:13:50 GMT', 30_000],
		['Tue 14 Nov 2023 22:13:50 GMT', 30_000],
		['Tuesday, 14-Nov-23 22:13:50 GMT', 30_000],
	])('%j is %i ms', (header, ms) => {
		expect(parseRetryAfter(header, undefined, virtual.time.date())).toBe(ms);
	});

	const others = ['soon', '', '12,13', '1.', '.5', '1.2.3', '2023-11-14T22:13:50Z', 'in Tue, 14 Nov 2023 22:13:50 GMT'];
	test.each(['0', '-5', '1699999990', '1699999990000', 'Tue, 14 Nov 2023 21:13:20 GMT', ...others, undefined, 17])(
		'%j asks for no wait',
		(header) => {
			expect(parseRetryAfter(header, undefined, virtual.time.date())).toBeUndefined();
		},
	);

	test.each([
		['Tue, 14 Nov 2023 22:13:50 GMT', undefined, 30_000],
		['Tue, 14 Nov 2023 22:13:50 GMT', 'soon', 30_000],
		['Tue, 14 Nov 2023 22:13:50 GMT', 'Tue, 14 Nov 2023 22:13:40 GMT', 10_000],
		['1700000030', 'Tue, 14 Nov 2023 22:03:50 GMT', 600_000],
	])('%s is compared with the date of the response, or with the time of n8n: %j', async (until, date, ms) => {
		const headers = { 'retry-after': until, ...(date !== undefined && { date }) };
		const url = 'https://platform.example';
		const request = { method: 'GET', url, skipCertificateCheck: false, timeoutMs: 5000 } as const;
		const asked = { words: 'list', mayChange: false, redact: String } as const;
		expect(await exchange(async () => responseOf({}, headers), request, asked)).toMatchObject({ retryAfterMs: ms });
	});
});
