import fc from 'fast-check';
import type { ICredentialDataDecryptedObject, IHttpRequestOptions } from 'n8n-workflow';
import { z } from 'zod/v4';

import type { PlatformContext } from '../../../nodes/DeviceManagement/transport/platform.ts';
import { runs } from '../../../testbed/runs.mts';
import { VirtualTime } from '../../../testbed/virtualTime.mts';
import { responseOf, SIGNED_OUT } from '../fakes.mts';

/** The package as each process loads it, with separate memory. */
async function load() {
	const { openPlatform } = await import('../../../nodes/DeviceManagement/transport/platform.ts');
	const { authenticate, preAuthenticate } = await import(
		'../../../nodes/DeviceManagement/transport/auth/authenticate.ts'
	);
	const { forgetAccounts } = await import('../../../nodes/DeviceManagement/transport/auth/account.ts');
	const { replaceClock } = await import('../../../nodes/DeviceManagement/transport/waiting/clock.ts');
	return { openPlatform, authenticate, preAuthenticate, forgetAccounts, replaceClock };
}
type Process = Awaited<ReturnType<typeof load>>;

const MOST_PROCESSES = 8;
const processes: Process[] = [];
beforeAll(async () => {
	for (let n = 0; n < MOST_PROCESSES; n++) {
		await jest.isolateModulesAsync(async () => void processes.push(await load()));
	}
}, 120_000);

/** From so many milliseconds to so many, short ones more often. */
type Span = readonly [number, number];

interface Latencies {
	request: Span;
	login: Span;
	read: Span;
	write: Span;
}

const LATENCIES: Readonly<Record<string, Latencies>> = {
	'a platform nearby': { request: [2, 40], login: [5, 80], read: [0, 5], write: [1, 10] },
	'a usual platform': { request: [20, 300], login: [50, 600], read: [1, 20], write: [2, 50] },
	'a slow login': { request: [20, 300], login: [500, 5000], read: [1, 20], write: [2, 50] },
	'a store slower than logins': { request: [20, 300], login: [50, 600], read: [5, 500], write: [50, 2000] },
	'anything slow': { request: [1, 3000], login: [1, 3000], read: [0, 500], write: [0, 1000] },
};

interface Schedule {
	latencies: Latencies;
	/** Whether a login ends the user's other tokens. */
	oneTokenPerUser: boolean;
	/** The executions: in which process, when they begin, what they do, and when they are stopped. */
	executions: Array<{
		process: number;
		begins: number;
		requests: number;
		parallel: number;
		idles: number;
		stops: number | undefined;
	}>;
	/** When all tokens die. */
	expiries: number[];
	/** From 0 to 1, again and again. */
	chances: number[];
}

interface Outcome {
	/** The failures of the executions that were not stopped. */
	lost: string[];
	/** Milliseconds from an execution's stop to its end. */
	lingered: number[];
	logins: number;
}

/** Plays a schedule: the package over a platform, n8n's store and n8n's request function, without any of them. */
async function play({ latencies, oneTokenPerUser, executions, expiries, chances }: Schedule): Promise<Outcome> {
	let drawn = 0;
	const chance = () => chances[drawn++ % chances.length] ?? 0.5;
	const time = new VirtualTime(chance);
	const wait = async ([from, to]: Span, parts = 1) => await time.sleep((from + (to - from) * chance() ** 2) / parts);

	const alive = new Set<string>();
	let logins = 0;
	const platform = async ({ url, headers, abortSignal }: IHttpRequestOptions) => {
		const latency = url.endsWith('/login') ? latencies.login : latencies.request;
		await wait(latency, 2);
		if (abortSignal instanceof AbortSignal && abortSignal.aborted) throw new Error('aborted');
		let envelope: unknown = { code: 14101, msg: 'invalid token' };
		if (latency === latencies.login) {
			const token = `token-${++logins}`;
			if (oneTokenPerUser) alive.clear();
			alive.add(token);
			envelope = { code: 0, data: { token } };
		} else if (alive.has(String(headers?.['Authorization']).replace('Bearer ', ''))) {
			envelope = { code: 0, data: {} };
		}
		await wait(latency, 2);
		return responseOf(envelope);
	};

	let stored = SIGNED_OUT;
	/** As much of n8n as a request passes through; see n8n-core's authentication.js and n8n's credentials-helper.js. */
	const contextIn = ({ authenticate, preAuthenticate }: Process, stop: AbortSignal): PlatformContext => {
		const signIn = async (data: ICredentialDataDecryptedObject) => {
			const output = await preAuthenticate(data, platform);
			if (output.sessionToken === undefined) return;
			await wait(latencies.read);
			await wait(latencies.write);
			stored = { ...stored, ...output };
			Object.assign(data, output);
		};
		const request = async (
			_type: string,
			options: IHttpRequestOptions,
			{ credentialsDecrypted: { data } }: { credentialsDecrypted: { data: ICredentialDataDecryptedObject } },
		) => {
			try {
				if (data['sessionToken'] === '') await signIn(data);
				return await platform(authenticate(data, options));
			} catch (error) {
				if (z.object({ response: z.object({ status: z.literal(401) }) }).safeParse(error).success) {
					await signIn(data);
					return await platform(authenticate(data, options));
				}
				throw new Error('n8n wraps it', { cause: error });
			}
		};
		const context = {
			getCredentials: async () => {
				await wait(latencies.read);
				return { ...stored };
			},
			getExecutionCancelSignal: () => stop,
			helpers: { httpRequestWithAuthentication: request },
		};
		return context as unknown as PlatformContext;
	};

	const outcome: Outcome = { lost: [], lingered: [], logins: 0 };
	const execute = async ({
		process: number,
		begins,
		requests,
		parallel,
		idles,
		stops,
	}: Schedule['executions'][number]) => {
		const process = processes[number];
		if (process === undefined) throw new Error(`There is no process ${number}`);
		const stop = new AbortController();
		let stoppedAt: number | undefined;
		if (stops !== undefined) {
			time.after(begins + stops, () => {
				stoppedAt = time.now();
				stop.abort();
			});
		}
		await time.sleep(begins);
		try {
			const opened = await process.openPlatform(contextIn(process, stop.signal), { parallelRequests: parallel });
			let next = 0;
			const work = async () => {
				while (next < requests) {
					await opened.request({
						method: 'GET',
						path: `/api/device/sn/${next++}`,
						purpose: 'device',
						schema: z.unknown(),
						settings: { timeoutMs: 30_000, maxRetries: 0 },
					});
					await time.sleep(idles * chance(), stop.signal);
				}
			};
			await Promise.all(Array.from({ length: parallel }, work));
		} catch (thrown) {
			if (stoppedAt === undefined) outcome.lost.push(String(thrown));
		}
		if (stoppedAt !== undefined) outcome.lingered.push(time.now() - stoppedAt);
	};

	const putBack = processes.map(({ forgetAccounts, replaceClock }) => {
		forgetAccounts();
		return replaceClock(time);
	});
	for (const at of expiries) time.after(at, () => alive.clear());
	await time.until(Promise.all(executions.map(execute)));
	for (const back of putBack) back();
	return { ...outcome, logins };
}

/** Even chances: with those that fast-check likes best, two that wait by chance would never part. */
const chances = fc.noBias(
	fc.array(
		fc.nat(999_999).map((millionth) => millionth / 1_000_000),
		{ minLength: 499, maxLength: 499 },
	),
);

/** So many processes with up to three executions each, that begin all at once or one by one. */
const scheduleOf = (
	latencies: Latencies,
	oneTokenPerUser: boolean,
	expiries: fc.Arbitrary<number[]>,
	stops: fc.Arbitrary<number | undefined>,
) =>
	fc
		.record({
			count: fc.constantFrom(2, 4, 8),
			perProcess: fc.integer({ min: 1, max: 3 }),
			spread: fc.constantFrom(0, 100, 3000),
		})
		.chain(({ count, perProcess, spread }) =>
			fc.record<Schedule>({
				latencies: fc.constant(latencies),
				oneTokenPerUser: fc.constant(oneTokenPerUser),
				executions: fc.tuple(
					...Array.from({ length: count * perProcess }, (_, n) =>
						fc.record({
							process: fc.constant(n % count),
							begins: fc.nat(spread),
							requests: fc.integer({ min: 1, max: 10 }),
							parallel: fc.integer({ min: 1, max: 4 }),
							idles: fc.oneof(fc.constant(0), fc.nat(3000)),
							stops,
						}),
					),
				),
				expiries,
				chances,
			}),
		);
const never = fc.constant(undefined);
const none = fc.constant<number[]>([]);
const processesOf = ({ executions }: Schedule) => new Set(executions.map(({ process }) => process)).size;
/** A failure is told as it came: to look for a smaller schedule takes over ten minutes. */
const endOnFailure = true;

/** Processes end each other's tokens: an execution in a thousand may be lost. */
const losses: string[] = [];
let executed = 0;
function countLosses(lost: string[], { executions }: Schedule): void {
	losses.push(...lost);
	executed += executions.length;
}
const mayLose = { ...runs(50, 1), endOnFailure };

describe.each(Object.entries(LATENCIES))('several processes over one store, with %s', (_name, latencies) => {
	test('all finish with one login each at most, if a user can have several tokens', async () => {
		await fc.assert(
			fc.asyncProperty(scheduleOf(latencies, false, none, never), async (schedule) => {
				const { lost, logins } = await play(schedule);
				expect(lost).toEqual([]);
				expect(logins).toBeLessThanOrEqual(processesOf(schedule));
			}),
			{ ...runs(50), endOnFailure },
		);
	});

	test('each signs in six times at most if a user can have one token', async () => {
		await fc.assert(
			fc.asyncProperty(scheduleOf(latencies, true, none, never), async (schedule) => {
				const { lost, logins } = await play(schedule);
				countLosses(lost, schedule);
				expect(logins).toBeLessThanOrEqual(processesOf(schedule) * 6);
			}),
			mayLose,
		);
	});

	test('a stopped execution ends at once while tokens expire', async () => {
		const expiries = fc.array(fc.nat(40_000), { maxLength: 3 });
		const stops = fc.option(fc.nat(8000), { nil: undefined });
		await fc.assert(
			fc.asyncProperty(scheduleOf(latencies, true, expiries, stops), async (schedule) => {
				const { lost, lingered } = await play(schedule);
				countLosses(lost, schedule);
				// Reading the credential at the beginning takes its time.
				expect(Math.max(0, ...lingered)).toBeLessThanOrEqual(latencies.read[1]);
			}),
			mayLose,
		);
	});
});

test('all but one execution in a thousand finish if a user can have one token', () => {
	expect(executed).toBeGreaterThan(0);
	expect(losses.slice(Math.floor(executed / 1000))).toEqual([]);
});
