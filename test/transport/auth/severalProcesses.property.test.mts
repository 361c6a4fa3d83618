import fc from 'fast-check';
import type { IHttpRequestOptions } from 'n8n-workflow';
import { z } from 'zod/v4';

import type { Platform, PlatformContext } from '../../../nodes/DeviceManagement/transport/platform.ts';
import { EmbeddedPlatform, type Settings } from '../../../testbed/platform/server.mts';
import { runs } from '../../../testbed/runs.mts';
import { VirtualTime } from '../../../testbed/virtualTime.mts';
import { FakeN8n, responseOf, SIGNED_OUT } from '../../../testbed/fakeN8n.mts';

/** The package as each process loads it, with separate memory. */
async function load() {
	const { openPlatform } = await import('../../../nodes/DeviceManagement/transport/platform.ts');
	const credential = await import('../../../nodes/DeviceManagement/transport/auth/authenticate.ts');
	const { forgetAccounts } = await import('../../../nodes/DeviceManagement/transport/account.ts');
	const { replaceClock } = await import('../../../nodes/DeviceManagement/transport/waiting/clock.ts');
	return { openPlatform, credential, forgetAccounts, replaceClock };
}

const MOST_PROCESSES = 8;
type Process = Awaited<ReturnType<typeof load>>;
const processes: Process[] = [];
beforeAll(async () => {
	for (let n = 0; n < MOST_PROCESSES; n++) {
		await jest.isolateModulesAsync(async () => void processes.push(await load()));
	}
}, 120_000);

/** From so many milliseconds to so many, short ones more often. */
type Span = readonly [number, number];
type Latencies = Readonly<Record<'request' | 'login' | 'read' | 'write', Span>>;

const LATENCIES: Readonly<Record<string, Latencies>> = {
	'a usual platform': { request: [20, 300], login: [50, 600], read: [1, 20], write: [2, 50] },
	'a slow login': { request: [20, 300], login: [500, 5000], read: [1, 20], write: [2, 50] },
	'a store slower than logins': { request: [20, 300], login: [50, 600], read: [5, 500], write: [50, 2000] },
	'anything slow': { request: [1, 3000], login: [1, 3000], read: [0, 500], write: [0, 1000] },
};

const even = fc.nat(999_999).map((millionth) => millionth / 1_000_000);
/** Even chances: with those that fast-check likes best, two that wait by chance would never part. */
const chances = fc.noBias(fc.array(even, { minLength: 499, maxLength: 499 }));
/** When all tokens die. */
const expiries = fc.array(fc.nat(40_000), { maxLength: 3 });
const executions = (processes: number, perProcess: number, spread: number) => {
	const executionIn = (process: number) =>
		fc.record({
			process: fc.constant(process),
			begins: fc.nat(spread),
			requests: fc.integer({ min: 1, max: 10 }),
			parallel: fc.integer({ min: 1, max: 4 }),
			idles: fc.oneof(fc.constant(0), fc.nat(3000)),
			/** After so many milliseconds. */
			stops: fc.option(fc.nat(8000), { nil: undefined, freq: 2 }),
		});
	return fc.tuple(...Array.from({ length: processes * perProcess }, (_, n) => executionIn(n % processes)));
};
/** So many processes with up to three executions each, that begin all at once or one by one; some are stopped. */
const schedules = fc
	.tuple(fc.constantFrom(2, 4, MOST_PROCESSES), fc.integer({ min: 1, max: 3 }), fc.constantFrom(0, 100, 3000))
	.chain((counts) => fc.record({ executions: executions(...counts), expiries, chances }));
type Schedule = typeof schedules extends fc.Arbitrary<infer Value> ? Value : never;
type Execution = Schedule['executions'][number];

const settings = { timeoutMs: 30_000, maxRetries: 0 };
const READ = { method: 'GET', path: '/api/version', words: 'apiRequest', schema: z.unknown(), settings } as const;

/** Plays a schedule: the package over the embedded platform without HTTP, and n8n's store and request function without n8n. */
class Play {
	readonly platform: EmbeddedPlatform;
	/** The failures of the executions that were not stopped. */
	readonly lost: string[] = [];
	/** Milliseconds from an execution's stop to its end. */
	readonly lingered: number[] = [];
	private drawn = 0;
	private readonly time = new VirtualTime(() => this.chance());
	private readonly n8n = new FakeN8n(
		async (options) => await this.answer(options),
		SIGNED_OUT,
		async () => {
			await this.wait('read');
			await this.wait('write');
		},
	);

	constructor(
		private readonly latencies: Latencies,
		livingTokens: Settings['livingTokens'],
		private readonly schedule: Schedule,
	) {
		this.platform = new EmbeddedPlatform({ loginName: 'anna', password: 'secret', livingTokens });
	}

	async toTheEnd(): Promise<this> {
		const putBack = processes.map(({ forgetAccounts, replaceClock }) => {
			forgetAccounts();
			return replaceClock(this.time);
		});
		for (const at of this.schedule.expiries) this.time.after(at, () => this.platform.expireTokens());
		const all = this.schedule.executions.map(async (execution) => await this.execute(execution));
		await this.time.until(Promise.all(all));
		for (const back of putBack) back();
		return this;
	}

	private chance(): number {
		const { chances } = this.schedule;
		return chances[this.drawn++ % chances.length] ?? 0.5;
	}

	private async wait(what: keyof Latencies, parts = 1): Promise<void> {
		const [from, to] = this.latencies[what];
		await this.time.sleep((from + (to - from) * this.chance() ** 2) / parts);
	}

	private async answer({ method, url, headers, body, abortSignal }: IHttpRequestOptions) {
		const what = url.endsWith('/login') ? 'login' : 'request';
		await this.wait(what, 2);
		if (abortSignal instanceof AbortSignal && abortSignal.aborted) throw new Error('aborted');
		const sent = { authorization: String(headers?.['Authorization']), 'content-type': 'application/json' };
		const request = { method, url: new URL(url).pathname, headers: sent };
		const response = await this.platform.respond(request, String(body ?? ''));
		await this.wait(what, 2);
		return responseOf(JSON.parse(response.body));
	}

	private async execute({ process: number, begins, stops, requests, parallel, idles }: Execution): Promise<void> {
		const stop = new AbortController();
		let stoppedAt: number | undefined;
		const halt = () => {
			stoppedAt = this.time.now();
			stop.abort();
		};
		if (stops !== undefined) this.time.after(begins + stops, halt);
		await this.time.sleep(begins);
		const process = processOf(number);
		let next = 0;
		const work = async (opened: Platform) => {
			while (next++ < requests) {
				await opened.request(READ);
				await this.time.sleep(idles * this.chance(), stop.signal);
			}
		};
		try {
			const opened = await process.openPlatform(this.contextIn(process, stop.signal), { parallelRequests: parallel });
			await Promise.all(Array.from({ length: parallel }, async () => await work(opened)));
		} catch (thrown) {
			if (stoppedAt === undefined) this.lost.push(String(thrown));
		}
		if (stoppedAt !== undefined) this.lingered.push(this.time.now() - stoppedAt);
	}

	private contextIn({ credential }: Process, stop: AbortSignal): PlatformContext {
		const getCredentials = async () => {
			await this.wait('read');
			return { ...this.n8n.stored };
		};
		return this.n8n.context({ getCredentials, getExecutionCancelSignal: () => stop }, credential);
	}
}

function processOf(number: number): Process {
	const process = processes[number];
	if (process === undefined) throw new Error(`There is no process ${number}`);
	return process;
}

/** There is one sign-in for each process and expiry, or so many; the first expiry is that there is no token at all. */
function expectBounds({ platform, lingered }: Play, { executions, expiries }: Schedule, { read }: Latencies, each = 1) {
	const processes = new Set(executions.map(({ process }) => process)).size;
	expect(platform.logins.succeeded).toBeLessThanOrEqual(processes * (1 + expiries.length) * each);
	// An execution that is stopped ends at once; reading the credential at the beginning takes its time.
	expect(Math.max(0, ...lingered)).toBeLessThanOrEqual(read[1]);
}

test.each(Object.entries(LATENCIES))(
	'with %s, all finish with one login for each process and expiry',
	async (...row) => {
		const [, latencies] = row;
		const check = fc.asyncProperty(schedules, async (schedule) => {
			const play = await new Play(latencies, 'side-by-side', schedule).toTheEnd();
			expect(play.lost).toEqual([]);
			expectBounds(play, schedule, latencies);
		});
		// A failure is told as it came: to look for a smaller schedule takes over ten minutes.
		await fc.assert(check, { ...runs(50), endOnFailure: true });
	},
);

/** Processes end each other's tokens: two executions in a thousand may be lost. */
test('where a user can have one token, all but two in a thousand finish, with six logins for each process and expiry', async () => {
	const losses: string[] = [];
	let executed = 0;
	for (const latencies of Object.values(LATENCIES)) {
		for (const schedule of fc.sample(schedules, runs(200, 1))) {
			const play = await new Play(latencies, 'one-per-user', schedule).toTheEnd();
			losses.push(...play.lost);
			executed += schedule.executions.length;
			expectBounds(play, schedule, latencies, 6);
		}
	}
	expect(losses.slice(Math.floor(executed / 500))).toEqual([]);
});
