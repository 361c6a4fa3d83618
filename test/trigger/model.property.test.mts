/**
 * Random sequences of what can happen to a fleet, to polls and to n8n, on each host that keeps a trigger's state. Whatever the trigger
 * hands to n8n has to be what a perfect observer tells (observer.mts), who remembers what n8n lets the trigger remember, in sets
 * instead of watermarks and digests. It doesn't change the fleet within a poll: see moving.property.test.mts.
 */
import { setImmediate } from 'node:timers/promises';

import fc from 'fast-check';
import type { IDataObject, INodeExecutionData, WorkflowActivateMode } from 'n8n-workflow';

import { EVENTS } from '../../nodes/DeviceManagement/trigger/compare/watched.ts';
import { forgetPolls, memoryOf, type NodeMemory } from '../../nodes/DeviceManagement/trigger/memory.ts';
import { BareEngine, stopClock } from '../../testbed/engine/bareNode.mts';
import type { TickEnd } from '../../testbed/engine/pollHosts.mts';
import { runs } from '../../testbed/runs.mts';
import { type HostLetter, Watch } from '../../testbed/watch.mts';
import { type LastTold, look, type Memory, type Setting, type Told } from './observer.mts';
import { parametersFor, SAMPLES } from './samples.mts';
import { type Kind, MINUTE, World } from './world.mts';

/** The trigger on a host, and what the observer remembers, and what n8n lets it remember. */
class Run {
	readonly engine: BareEngine;
	readonly watching: Watch;
	readonly isInMemory: boolean;
	/** By what was saved, in its order. */
	private readonly saved: Array<Memory | undefined> = [];
	/** What n8n's database holds now, and what the registration of the default host holds. */
	private stored: Memory | undefined;
	private registered: Memory | undefined;
	/** What polls saw since the last report, and the states that were handed out or written since then. */
	private carry: { met: ReadonlySet<string>; to: Memory } | undefined;
	/** What another main process remembers. */
	private other: { carry: Run['carry']; memory: Partial<NodeMemory> } = { carry: undefined, memory: {} };
	/** The id of each change that was told, and the change of each id. */
	private readonly ids = new Map<string, string>();
	private readonly lastTold: LastTold = new Map();

	constructor(
		host: HostLetter,
		public setting: Setting,
		readonly world: World,
	) {
		forgetPolls();
		this.engine = new BareEngine(world.platform);
		this.watching = new Watch({ engine: this.engine, apiKey: '1' }, {}, { host });
		this.isInMemory = host === 'A';
	}

	/** Polls once. Meanwhile, nothing else happens. */
	async poll(minutes = 0, failAt?: number, isDiscarded = false): Promise<void> {
		const { world, watching } = this;
		world.now += minutes * MINUTE;
		Object.assign(world, { failAt, failed: false });
		const begun = this.begin();
		const tick = watching.host.tick();
		if (isDiscarded) tick.abandon();
		const end = await tick.done;
		world.failAt = undefined;
		if (!world.failed) return this.follow({ ...begun, handedText: this.engine.handed }, itemsOf(end), !isDiscarded);
		expect('items' in end ? end.items : null).toBeNull();
		expect(watching.database.history).toHaveLength(begun.savedBefore);
	}

	/**
	 * A poll that waits for a response, while other things happen and another poll begins after so many minutes.
	 * @param abandonedBy how the registration begins that replaces it, if it is abandoned
	 */
	async slowPoll(
		meanwhile: readonly Step[],
		minutes: number,
		abandonedBy: 'update' | 'leadershipChange' | undefined,
	): Promise<void> {
		const { world, watching } = this;
		const { host, database } = watching;
		world.now += MINUTE;
		const begun = this.begin();
		const release = world.hold();
		const asked = world.platform.requests;
		const slow = host.tick();
		while (world.platform.requests === asked) await setImmediate();
		const { handed: handedText } = this.engine;
		for (const step of meanwhile) await step.run(this);
		world.now += minutes * MINUTE;
		const answer = world.held;
		world.held = undefined;
		const countsAsLost = world.now - begun.startedAt >= (this.isInMemory ? 300_000 : 36_000) + 60_000;
		if (countsAsLost) await this.poll();
		else expect(itemsOf(await host.tick().done)).toBeNull();
		// The default host throws away what comes of the registration before. The first poll of the new one leaves it the work.
		if (abandonedBy !== undefined && !this.isInMemory) slow.abandon();
		else if (abandonedBy !== undefined) await this.register(abandonedBy, !countsAsLost);
		const savedMeanwhile = database.history.length;
		release();
		await answer;
		const items = itemsOf(await slow.done);
		if (countsAsLost) {
			expect(items).toBeNull();
			expect(database.history).toHaveLength(savedMeanwhile);
			return;
		}
		expect(savedMeanwhile).toBe(begun.savedBefore);
		this.follow({ ...begun, handedText }, items, abandonedBy === undefined);
		if (this.isInMemory && abandonedBy === 'leadershipChange') this.carry = undefined;
	}

	/** Publishes the workflow, or n8n starts: what n8n keeps is loaded, and the trigger is polled unless a poll is under way. */
	async register(mode: WorkflowActivateMode, isUnderWay = false): Promise<void> {
		const { database, host } = this.watching;
		const { history, executions } = database;
		const begun = { ...this.begin(), handed: this.stored };
		const told = executions.length;
		if (mode === 'leadershipChange' && !isUnderWay) this.carry = undefined;
		await host.activate(mode);
		// The others are polled by their schedule alone, except for the first time.
		if (!this.isInMemory && begun.savedBefore > 0) return;
		this.registered = this.stored;
		if (isUnderWay) expect([history.length, executions.length]).toEqual([begun.savedBefore, told]);
		else this.follow({ ...begun, handedText: this.engine.handed }, executions.slice(told).flat(), true);
	}

	/** The process starts, and n8n or the user publishes the workflow. */
	async restart(mode: WorkflowActivateMode): Promise<void> {
		forgetPolls();
		this.carry = undefined;
		await this.register(mode);
	}

	/** Another main process polls from now on, with what it remembers. On the default host, it is the new leader. */
	async changeMain(): Promise<void> {
		const left = { carry: this.carry, memory: { ...memoryOf('watching', 'Watch') } };
		forgetPolls();
		Object.assign(memoryOf('watching', 'Watch'), this.other.memory);
		this.carry = this.other.carry;
		this.other = left;
		if (this.isInMemory) await this.register('leadershipChange');
	}

	/** Another program writes an older state into n8n's database. */
	rewind(back: number): void {
		const { database } = this.watching;
		const to = Math.max(0, database.history.length - 1 - back);
		database.rewind(to);
		this.stored = this.saved[to];
	}

	/** What is known when a poll begins. */
	private begin() {
		const { events, tag, status, holdMinutes, rule } = this.setting;
		this.watching.parameters = {
			...parametersFor(events),
			filters: { ...(tag !== undefined && { tags: tag }), ...(status !== undefined && { compositeStatus: status }) },
			forAtLeast: events.some((event) => event.endsWith('Changed')) ? holdMinutes : 0,
			options: { maxRetries: 0, pageSize: this.world.kind.pageSize },
			...(rule &&
				events.includes('onlineStatusChanged') && { conditions: { rule: [{ field: 'onlineStatus', ...rule }] } }),
		};
		return {
			handed: this.isInMemory ? this.registered : this.stored,
			startedAt: this.world.now,
			savedBefore: this.watching.database.history.length,
		};
	}

	/** Checks what the trigger said, and remembers what it saw as n8n and the process do. */
	private follow(
		{ handed, startedAt, savedBefore, handedText }: ReturnType<Run['begin']> & { handedText: string },
		items: INodeExecutionData[] | null,
		isAccepted: boolean,
	): void {
		const { world, setting, lastTold, isInMemory, carry } = this;
		const isCarried = carry?.met.has(handedText) === true;
		const told = (items ?? []).map(({ json }) => asTold(json));
		const process = { isFirst: carry === undefined, isInMemory, refusesMissing: world.toMissing !== undefined };
		const around = { ...process, fleet: world.fleet, setting, lastTold, smallPages: world.kind.pageSize < 1000 };
		const base = isCarried ? carry.to : handed;
		const { changes, after, untaken } = look(around, base, Math.floor(startedAt / 1000), told);
		const rest = [...changes];
		const unexpected = told.filter((one, position) => {
			const found = rest.findIndex((change) => JSON.stringify(change.told) === JSON.stringify(one));
			const [change] = found < 0 ? [] : rest.splice(found, 1);
			if (change !== undefined) this.checkId(change.change, `id ${items?.[position]?.json['eventId']}`);
			return change === undefined;
		});
		const missing = rest.filter(({ mayWait }) => mayWait !== true).map((change) => change.told);
		// Jest's expectations take time, even those that are met.
		if (missing.length + unexpected.length > 0)
			expect({ missing, unexpected }).toEqual({ missing: [], unexpected: [] });
		const to = told.length > 0 ? untaken : after;
		const met = [...(isCarried ? carry.met : []), handedText, ...(told.length > 0 ? [] : [this.engine.written])];
		this.carry = to && { met: new Set(met), to };
		if (!isAccepted) return;
		if (isInMemory) this.registered = after;
		const count = this.watching.database.history.length - savedBefore;
		if (count > 0) this.stored = after;
		this.saved.push(...new Array<Memory>(count).fill(after));
	}

	/** The same change has the same id whenever it is told, and another one another. */
	private checkId(change: string, id: string): void {
		const known = [this.ids.get(change) ?? id, this.ids.get(id) ?? change];
		if (known[0] !== id || known[1] !== change) expect(known).toEqual([id, change]);
		this.ids.set(change, id).set(id, change);
	}
}

function asTold({ event, field, previous, current, device }: IDataObject): Told {
	const { sn } = device as IDataObject;
	const change = field === undefined ? {} : { field: String(field), previous, current };
	return { event: String(event), sn: String(sn), ...change };
}

function itemsOf(end: TickEnd): INodeExecutionData[] | null {
	if ('error' in end) throw end.error;
	return end.items;
}

interface Step {
	run(run: Run): Promise<void>;
	toString(): string;
}

/** Something that happens, with arguments by chance. */
const step = <Arguments extends unknown[]>(
	name: string,
	args: { [Key in keyof Arguments]: fc.Arbitrary<Arguments[Key]> },
	happen: (run: Run, ...args: Arguments) => unknown,
): fc.Arbitrary<Step> =>
	fc.tuple<Arguments>(...args).map((values) => ({
		run: async (run) => {
			await happen(run, ...values);
			run.world.keepReadable();
		},
		toString: () => `${name}(${values.map((value) => fc.stringify(value)).join(', ')})`,
	}));

const at = fc.nat({ max: 7 });
const date = fc.constantFrom('N/A', '1', '2026-03-29 01', undefined);

/** What happens to the platform or to time. */
const happening: fc.Arbitrary<Step> = fc.oneof(
	step('add', [fc.nat({ max: 59 }), at], ({ world }, minutesAgo, position) => world.add(minutesAgo, position)),
	...Object.values(SAMPLES).map(({ changes }) =>
		step('change', [at, fc.constantFrom(...changes), fc.boolean()], ({ world }, ...args) => world.edit(...args)),
	),
	step('tags', [at, fc.constantFrom<string[]>(['a'], [], ['b'])], ({ world }, position, tags) =>
		world.edit(position, { tags }),
	),
	step('remove', [at], ({ world }, position) => world.remove(position)),
	step('replace', [at], ({ world }, position) => {
		const gone = world.remove(position);
		if (gone !== undefined) world.add(0, 0, gone.sn);
	}),
	step('date', [at, fc.constantFrom('createTime', 'updateTime'), date], ({ world }, position, field, text) =>
		world.edit(position, { [field]: text ?? world.time() }, false),
	),
	step('skew', [fc.integer({ min: -30, max: 30 })], ({ world }, minutes) => (world.skew = minutes)),
	step('wait', [fc.integer({ min: 1, max: 300 })], ({ world }, minutes) => (world.now += minutes * MINUTE)),
);

const EVENT_NAMES: string[] = EVENTS.map(({ name }) => name);
/** It asks for a state, often; or for a change. */
const rule = fc.constantFrom<Setting['rule'][]>(
	undefined,
	...[
		{ from: '', to: '0' },
		{ from: '', to: '0' },
		{ from: '1', to: '0' },
		{ from: '1', to: '' },
		{ from: '', to: '' },
	],
);
const setting: fc.Arbitrary<Setting> = fc.record({
	events: fc.oneof(fc.constant(EVENT_NAMES), fc.subarray(EVENT_NAMES, { minLength: 1 })),
	tag: fc.option(fc.constant('a'), { nil: undefined, freq: 3 }),
	status: fc.option(fc.constant(2), { nil: undefined, freq: 3 }),
	holdMinutes: fc.constantFrom(0, 3),
	rule,
});
const otherSetting = fc.oneof(
	fc.constantFrom<Partial<Setting>>({ holdMinutes: 0 }, { holdMinutes: 3 }),
	fc.constantFrom<Partial<Setting>>({ tag: 'a' }, { tag: undefined }),
	fc.subarray(EVENT_NAMES, { minLength: 1 }).map((events) => ({ events })),
	rule.map((other) => ({ rule: other })),
);

/** The usual platform, and with pages so small that what it makes of the order counts. */
const platformKind: fc.Arbitrary<Kind> = fc.oneof(
	fc.constant<Kind>({ settings: {}, pageSize: 1000, isUntouched: false }),
	fc.record<Kind>({
		settings: fc.record<Kind['settings']>({
			sorting: fc.constantFrom('obeyed', 'obeyed', 'refused', 'ignored'),
			missingValues: fc.constantFrom('smallest', 'largest', 'first', 'last'),
			largestSize: fc.constantFrom(2000, 3),
			noDeviceCode: fc.constantFrom(10007, 14401, 0),
		}),
		pageSize: fc.integer({ min: 2, max: 5 }),
		isUntouched: fc.boolean(),
	}),
);

/** What the platform may say of a missing device; undefined: its own words. */
const toMissing = fc.constantFrom(
	...[-1, 9999, 10001, 10005, 10018, 14101, 14102, 14103, 14201, 401, 403, 404, 500, 503, undefined],
);
const poll = step('poll', [fc.nat({ max: 2 })], (run, minutes) => run.poll(minutes));
const happenings = step('happen', [fc.array(happening, { minLength: 1, maxLength: 3 })], async (run, several) => {
	for (const one of several) await one.run(run);
});
const mode = fc.constantFrom<WorkflowActivateMode[]>('init', 'activate', 'update');
const flaps = fc.array(fc.nat({ max: 1 }), { minLength: 2, maxLength: 3 });

const anything = fc.oneof(
	{ weight: 4, arbitrary: happenings },
	{ weight: 4, arbitrary: poll },
	step('failedPoll', [fc.integer({ min: 1, max: 3 })], (run, failAt) => run.poll(1, failAt)),
	step('discardedPoll', [], (run) => run.poll(1, undefined, !run.isInMemory)),
	step(
		'slowPoll',
		[
			fc.array(happening, { maxLength: 3 }),
			fc.constantFrom(0, 0, 1, 2, 10),
			fc.constantFrom(undefined, undefined, 'update', 'leadershipChange'),
		],
		(run, ...args) => run.slowPoll(...args),
	),
	step('restart', [mode], (run, how) => run.restart(how)),
	step('changeMain', [], (run) => run.changeMain()),
	// A device changes back and forth, with polls after each change, and a restart after the first ones.
	step('flap', [at, flaps, fc.constantFrom(1, 4), fc.boolean()], async (run, position, values, minutes, restarts) => {
		for (const [index, onlineStatus] of values.entries()) {
			run.world.edit(position, { onlineStatus }, false);
			for (let minute = 0; minute < minutes; minute++) await run.poll(1);
			if (index === 0 && restarts) await run.restart('init');
		}
	}),
	step('missing', [toMissing], ({ world }, code) => world.sayOfMissing(code)),
	step('rewind', [fc.nat({ max: 3 })], (run, back) => run.rewind(back)),
	step('publish', [otherSetting], async (run, changes) => {
		run.setting = { ...run.setting, ...changes };
		await run.register('update');
	}),
);

it.each<[string, HostLetter]>([
	['the default host, which keeps the state in memory', 'A'],
	['the durable scheduler, which reads the state afresh at each poll', 'B'],
	['durable cursors, which keep every state', 'C'],
])(
	'on %s, it hands over what a perfect observer would tell',
	async (_, host) => {
		const steps = fc.array(anything, { maxLength: 20, size: 'max' });
		await fc.assert(
			fc.asyncProperty(setting, platformKind, steps, async (chosen, kind, sequence) => {
				const world = new World(kind);
				const putClockBack = stopClock(() => world.now);
				try {
					const run = new Run(host, chosen, world);
					await run.register('activate');
					for (const each of sequence) await each.run(run);
					// At the latest now, what had to wait.
					world.toMissing = undefined;
					for (const minutes of [61, 61, 0]) await run.poll(minutes);
				} finally {
					putClockBack();
				}
			}),
			runs(500),
		);
	},
	600_000,
);
