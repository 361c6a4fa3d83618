import fc from 'fast-check';

import { Gate } from '../../nodes/DeviceManagement/core/gate.ts';
import { VirtualTime } from '../../testbed/virtualTime.mts';

const forEver = new AbortController().signal;
let time: VirtualTime;
let gate: Gate;
beforeEach(() => {
	time = new VirtualTime();
	gate = new Gate();
});

/** Lets requests pass, all at once; each takes so many milliseconds. */
function passAll(through: Gate, count: number, takesMs: number) {
	const begins: number[] = [];
	let under = 0;
	let peak = 0;
	const pass = async () =>
		await through.pass(async () => {
			begins.push(time.now());
			peak = Math.max(peak, ++under);
			await time.sleep(takesMs);
			under--;
		}, time, forEver);
	const passing = Promise.all(Array.from({ length: count }, pass));
	return { begins, begun: () => begins.length, peak: () => peak, passing };
}

/** How often a request is sent again, by default. */
const TRIED_AGAIN = 3;

/** Answers twenty requests in each second, and asks the rest of them to wait for one. */
class BusyPlatform {
	answered = 0;
	/** How often one request was refused before it was answered. */
	mostRefusals = 0;
	private second = { begin: 0, requests: 0 };

	async askUntilAnswered(own: Gate, takesMs: () => number): Promise<void> {
		for (let refusals = 0; ; refusals++) {
			this.mostRefusals = Math.max(this.mostRefusals, refusals);
			const isAnswered = await own.pass(async () => {
				await time.sleep(takesMs());
				if (this.isBelowLimit()) return true;
				own.hold(1000, 429, time.now());
				return false;
			}, time, forEver, refusals);
			if (isAnswered) return void this.answered++;
			await time.sleep(1000);
		}
	}

	private isBelowLimit(): boolean {
		if (time.now() - this.second.begin >= 1000) this.second = { begin: time.now(), requests: 0 };
		return ++this.second.requests <= 20;
	}
}

/** Until nothing happens any more without time passing. */
async function settled(): Promise<void> {
	for (let turn = 0; turn < 100; turn++) await Promise.resolve();
}

test('lets everyone through while nobody asked to wait', async () => {
	const { peak, passing } = passAll(gate, 40, 10);
	await time.run();
	await passing;
	expect(peak()).toBe(40);
});

test('holds everyone back for as long as an answer asked, and lets them through a few at a time', async () => {
	gate.hold(2000, 429, time.now());
	const { begins, peak, passing } = passAll(gate, 60, 100);
	await time.run();
	await passing;
	expect(Math.min(...begins)).toBe(2000);
	expect(begins.filter((at) => at === 2000)).toHaveLength(2);
	expect(peak()).toBe(8);
});

test('lets half as many through after each wait that follows another within ten seconds, and as many as at first after a pause', async () => {
	const peaks: number[] = [];
	for (const pauseMs of [0, 9900, 9000, 9000, 9000, 9000, 9902]) {
		await time.run(pauseMs);
		// Asked for by several answers at once, it is one wait.
		for (let answers = 0; answers < 3; answers++) gate.hold(1000, 429, time.now());
		const { peak, passing } = passAll(gate, 60, 1);
		await time.run(1000);
		await time.run(100);
		await passing;
		peaks.push(peak());
	}
	expect(peaks).toEqual([8, 4, 2, 1, 1, 1, 8]);
});

test('what was on its way before the wait does not widen the way back', async () => {
	const early = Array.from({ length: 10 }, async () => await gate.pass(async () => await time.sleep(100), time, forEver));
	void time.sleep(50).then(() => gate.hold(2000, 429, time.now()));
	await time.run();
	await Promise.all(early);
	const { begun, passing } = passAll(gate, 10, 100);
	await time.run(1960);
	expect(begun()).toBe(2);
	await time.run();
	await passing;
});

test('after a wait that nobody waited for, a few at a time come back, too', async () => {
	gate.hold(3_600_000, 503, time.now());
	await time.run(120_000);
	const { begun, passing } = passAll(gate, 10, 100);
	await settled();
	expect(begun()).toBe(2);
	await time.run();
	await passing;
});

test.each([
	[1, 16],
	[1000, 16],
	[1001, 32],
	[4001, 256],
	[10_001, 600],
])('%d ms after the ten seconds that follow a wait, %d may be under way at once', async (ms, most) => {
	gate.hold(1000, 503, time.now());
	await time.run(11_000 + ms);
	const { begun, passing } = passAll(gate, 600, 10);
	await settled();
	expect(begun()).toBe(most);
	await time.run();
	await passing;
});

test('opens by and by, so that hundreds who wait for a slow platform are not all refused at once, again and again', async () => {
	const platform = new BusyPlatform();
	const all = Array.from({ length: 600 }, async (_, position) => {
		await platform.askUntilAnswered(gate, () => 500 + (position % 20) * 100);
	});
	await time.run();
	await Promise.all(all);
	expect(platform.answered).toBe(600);
	expect(platform.mostRefusals).toBeLessThanOrEqual(TRIED_AGAIN);
});

test('a wait that is longer than two minutes is not waited for, but told, and forgotten after two minutes', async () => {
	gate.hold(3_600_000, 429, time.now());
	const refused = gate.pass(async () => 'through', time, forEver);
	await expect(refused).rejects.toMatchObject({
		message: 'The platform asked for a pause until Thu, 01 Jan 1970 01:00:00 GMT, so nothing was sent',
		details: { kind: 'status', httpStatus: 429, retryable: false },
	});
	await time.run(120_000);
	await expect(gate.pass(async () => 'through', time, forEver)).resolves.toBe('through');
});

test('waits that follow each other are not waited for longer than two minutes in all', async () => {
	gate.hold(100_000, 503, time.now());
	const waiting = gate.pass(async () => 'through', time, forEver).catch((thrown: unknown) => thrown);
	const again = time.sleep(90_000).then(() => gate.hold(60_000, 503, time.now()));
	await time.run();
	await again;
	expect(await waiting).toMatchObject({ details: { kind: 'status', httpStatus: 503, retryable: false } });
});

test('an end lets whoever waits go on at once', async () => {
	const stop = new AbortController();
	gate.hold(60_000, 429, time.now());
	const waiting = gate.pass(async () => time.now(), time, stop.signal);
	stop.abort();
	await expect(waiting).resolves.toBe(0);
});

test('waits for exactly two minutes, and asks for nothing to be waited for with no time at all', async () => {
	gate.hold(120_000, 429, time.now());
	const waiting = gate.pass(async () => time.now(), time, forEver);
	await time.run();
	await expect(waiting).resolves.toBe(120_000);

	const other = new Gate();
	other.hold(0, 429, time.now());
	const { begun, passing } = passAll(other, 40, 10);
	await settled();
	expect(begun()).toBe(40);
	await time.run();
	await passing;
});

test('who was told of a longer wait makes no room for others after it', async () => {
	gate.hold(3_600_000, 429, time.now());
	const refused = Array.from({ length: 5 }, async () => await gate.pass(async () => {}, time, forEver));
	expect((await Promise.allSettled(refused)).map(({ status }) => status)).toEqual(Array(5).fill('rejected'));
	await time.run(120_000);
	const { begun, passing } = passAll(gate, 10, 100);
	await settled();
	expect(begun()).toBe(2);
	await time.run();
	await passing;
});

test('who is ended in the queue goes on at once, and leaves the queue', async () => {
	gate.hold(1000, 429, time.now());
	const stop = new AbortController();
	const ran: string[] = [];
	const pass = async (name: string, takes: number, end: AbortSignal) =>
		await gate.pass(async () => {
			ran.push(name);
			await time.sleep(takes);
		}, time, end);
	const passing = [
		pass('first', 100, forEver),
		pass('second', 450, forEver),
		pass('one ended', 1000, stop.signal),
		pass('other ended', 1000, stop.signal),
		pass('last', 100, forEver),
	];
	await time.run(1050);
	expect(ran).toEqual(['first', 'second']);
	stop.abort();
	await time.run(10);
	expect(ran).toEqual(['first', 'second', 'one ended', 'other ended']);
	await time.run(380);
	expect(ran).toEqual(['first', 'second', 'one ended', 'other ended']);
	await time.run(20);
	// The second one is answered: the next in the queue is the last, not one that left it.
	expect(ran).toEqual(['first', 'second', 'one ended', 'other ended', 'last']);
	await time.run();
	await Promise.all(passing);
});

test.each([
	{ processes: 2, executions: 200 },
	{ processes: 3, executions: 200 },
	{ processes: 4, executions: 200 },
])('nobody is lost where hundreds ask at once, in $processes processes, and few are answered in each second', async ({ processes, executions }) => {
	const CONCURRENCY = 40;
	// The same chances in every run.
	let seed = 1;
	const random = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
	const platform = new BusyPlatform();
	const process = (own: Gate) =>
		Array.from({ length: CONCURRENCY }, async (_, slot) => {
			for (let execution = slot; execution < executions; execution += CONCURRENCY) {
				await platform.askUntilAnswered(own, () => 1 + Math.floor(random() * 20));
			}
		});
	const all = Promise.all(Array.from({ length: processes }, () => process(new Gate())).flat());
	await time.run();
	await all;
	expect(platform.answered).toBe(processes * executions);
	expect(platform.mostRefusals).toBeLessThanOrEqual(TRIED_AGAIN);
});

test('who was refused before goes first', async () => {
	gate.hold(1000, 429, time.now());
	const order: number[] = [];
	const refusals = [0, 1, 0, 3, 2, 1, 3];
	const passing = refusals.map(
		async (before) =>
			await gate.pass(async () => {
				order.push(before);
				await time.sleep(100);
			}, time, forEver, before),
	);
	await time.run();
	await Promise.all(passing);
	expect(order).toEqual([3, 3, 2, 1, 1, 0, 0]);
});

test('of those who were refused equally often, who came first goes first, over several waits', async () => {
	gate.hold(1000, 429, time.now());
	const order: number[] = [];
	const passing = Array.from({ length: 60 }, async (_, position) => {
		// The last ones come while others are let through.
		await time.sleep(position < 40 ? 0 : 1000 + (position - 40) * 7);
		await gate.pass(async () => {
			order.push(position);
			await time.sleep(50);
			if (position === 5 || position === 25) gate.hold(1000, 429, time.now());
		}, time, forEver);
	});
	await time.run();
	await Promise.all(passing);
	expect(order).toEqual(Array.from({ length: 60 }, (_, position) => position));
});

test('who waits for a turn is let through ten seconds after the wait, however long those before take, each time', async () => {
	for (let wait = 0; wait < 2; wait++) {
		gate.hold(1000, 503, time.now());
		const { begun, passing } = passAll(gate, 10, 60_000);
		await time.run(10_990);
		expect(begun()).toBe(2);
		await time.run(300);
		expect(begun()).toBe(10);
		await time.run();
		await passing;
	}
});

test('what is ended while it waits does not widen the way back', async () => {
	gate.hold(1000, 503, time.now());
	const stop = new AbortController();
	const ended = Array.from({ length: 10 }, async () => await gate.pass(async () => {}, time, stop.signal));
	const { begun, passing } = passAll(gate, 10, 100);
	stop.abort();
	await time.run(1010);
	expect(begun()).toBe(2);
	await time.run();
	await Promise.all([...ended, passing]);
});

test.each([1000, 3_600_000])('a wait of %d ms is not awaited again when the clock is set back behind it', async (waitMs) => {
	gate.hold(waitMs, 429, 7_200_000);
	await expect(gate.pass(async () => time.now(), time, forEver)).resolves.toBe(0);
});

test('whatever happens to those who wait, nobody waits for ever and never more are under way than may be', async () => {
	await fc.assert(
		fc.asyncProperty(
			fc.array(
				fc.record({
					takes: fc.integer({ min: 1, max: 500 }),
					refusals: fc.integer({ min: 0, max: 3 }),
					begins: fc.integer({ min: 0, max: 3000 }),
					gives: fc.constantFrom('answer', 'answer', 'failure', 'hold', 'long hold'),
					stops: fc.option(fc.integer({ min: 0, max: 4000 })),
				}),
				{ minLength: 1, maxLength: 40 },
			),
			async (requests) => {
				time = new VirtualTime();
				gate = new Gate();
				let under = 0;
				let ended = 0;
				const all = requests.map(async ({ takes, refusals, begins, gives, stops }) => {
					const stop = new AbortController();
					if (stops !== null) void time.sleep(stops).then(() => stop.abort());
					await time.sleep(begins);
					await gate
						.pass(async () => {
							under++;
							await time.sleep(takes);
							under--;
							if (gives === 'failure') throw new Error('x');
						}, time, stop.signal, refusals)
						.catch(() => {});
					if (gives === 'hold') gate.hold(takes * 4, 429, time.now());
					if (gives === 'long hold') gate.hold(200_000, 429, time.now());
					ended++;
				});
				await time.run();
				expect({ ended, under }).toEqual({ ended: requests.length, under: 0 });
				await Promise.all(all);
			},
		),
		{ numRuns: Number(process.env['PROPERTY_RUNS'] ?? 300) },
	);
});
