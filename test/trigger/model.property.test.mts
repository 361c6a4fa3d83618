import { setImmediate } from 'node:timers/promises';

import fc from 'fast-check';
import type { IDataObject, INodeExecutionData, WorkflowActivateMode } from 'n8n-workflow';

import { forgetPolls, memoryOf, type NodeMemory } from '../../nodes/DeviceManagement/trigger/memory.ts';
import { BareEngine, stopClock } from '../../testbed/engine/bareNode.mts';
import type { WorkflowJson } from '../../testbed/engine/engine.mts';
import {
	CursorHost,
	FreshHost,
	type HostOptions,
	InMemoryHost,
	PollDatabase,
	type PollHost,
	type TickEnd,
} from '../../testbed/engine/pollHosts.mts';
import { type Device, Fleet, timeText } from '../../testbed/platform/fleet.mts';
import { InProcessPlatform } from '../../testbed/platform/inProcess.mts';
import type { Settings } from '../../testbed/platform/settings.mts';
import { runs } from '../../testbed/runs.mts';
import { EVENTS } from '../../nodes/DeviceManagement/trigger/compare/watched.ts';
import { type LastTold, look, type Memory, secondsOf, type Setting, type Told } from './observer.mts';
import { parametersFor, SAMPLES } from './samples.mts';

/**
 * Sequences of what can happen to a fleet, to polls and to n8n, on each of the hosts that keep a trigger's state. Whatever
 * the trigger hands to n8n has to be what a perfect observer would have told, who remembers what n8n lets the trigger
 * remember, in sets instead of watermarks and digests.
 */

const LONGEST = 20;

const START = Date.UTC(2026, 2, 29, 0, 30);
const MINUTE = 60_000;

/** What platforms do differently, and how many devices the trigger asks for at once. */
interface Kind {
	settings: Pick<Settings, 'sorting' | 'missingValues' | 'largestSize' | 'largerSize' | 'noDeviceCode'>;
	pageSize: number;
	/** Whether its first devices have never been updated. */
	isUntouched: boolean;
}

/** Everything outside of the trigger. */
class World {
	now = START;
	/** How far the platform's clock is ahead, in minutes. */
	skew = 0;
	readonly platform: InProcessPlatform;
	readonly database = new PollDatabase();
	private nextDevice = 0;
	/** Answers wait for it. */
	held: Promise<void> | undefined;
	release = () => {};
	/** The list request of a poll that comes to nothing, counted from 1. */
	failAt: number | undefined;
	failed = false;
	/** The response to each request for a device, in place of the platform's own. */
	toMissing: { statusCode: number; body: string } | undefined;

	constructor(
		public setting: Setting,
		readonly kind: Kind,
	) {
		this.platform = new InProcessPlatform(new Fleet([]), kind.settings);
		this.platform.intervene = async ({ url }) => {
			await this.held;
			if (!url.endsWith('/api/device/list')) return this.toMissing;
			if (this.failAt === undefined || --this.failAt > 0) return undefined;
			this.failAt = undefined;
			this.failed = true;
			return { statusCode: 503, body: '' };
		};
		for (let count = 0; count < 5; count++) this.add(600 - 100 * count);
	}

	get fleet(): Fleet {
		return this.platform.fleet;
	}

	/** The platform's time, so many minutes ago. */
	time(minutesAgo = 0): string {
		return timeText(this.now + (this.skew - minutesAgo) * MINUTE);
	}

	/** A new device that says it is so many minutes old, at some position of the platform's own order. */
	add(minutesAgo: number, sn = `SN ${this.nextDevice}`, position = 0): void {
		const number = this.nextDevice++;
		const device = {
			...TEMPLATE,
			id: `id${number}`,
			sn,
			attributes: number % 2 === 0 ? { firmware: '1' } : {},
			tags: number % 3 === 0 ? [] : ['a'],
			onlineStatus: number % 2,
			status: number % 3,
			createTime: this.time(minutesAgo),
			updateTime: number % 4 === 0 && !this.kind.isUntouched ? this.time(minutesAgo) : null,
		};
		this.fleet.add(device, position % (this.fleet.size + 1));
	}

	/** The device at a position, as far as there are any. */
	at(position: number): Device | undefined {
		return this.fleet.size === 0 ? undefined : this.fleet.at(position % this.fleet.size);
	}

	/** @param isDated whether the device's update time shows it */
	edit(position: number, changes: Partial<Device>, isDated = true): void {
		const device = this.at(position);
		if (device !== undefined) this.fleet.update(device.sn, { ...changes, ...(isDated && { updateTime: this.time() }) });
	}

	/** A poll fails if a field has dates in another format and no others. */
	keepReadable(): void {
		for (const [field, time] of [
			['createTime', this.time()],
			['updateTime', null],
		] as const) {
			if (this.fleet.devices.some((device) => secondsOf(device[field]) > -Infinity)) continue;
			const odd = this.fleet.devices.filter((device) => device[field] !== null);
			for (const { sn } of odd) this.fleet.update(sn, { [field]: time });
		}
	}

	workflow = (): WorkflowJson => {
		const { events, tag, status, holdMinutes, rule } = this.setting;
		const parameters = {
			...parametersFor(events),
			filters: {
				...(tag === undefined ? {} : { tags: tag }),
				...(status === undefined ? {} : { compositeStatus: status }),
			},
			forAtLeast: events.some((event) => event.endsWith('Changed')) ? holdMinutes : 0,
			options: { maxRetries: 0, pageSize: this.kind.pageSize },
			...(rule === undefined || !events.includes('onlineStatusChanged')
				? {}
				: { conditions: { rule: [{ field: 'onlineStatus', ...rule }] } }),
		};
		return {
			id: 'watching',
			nodes: [
				{
					id: 'watch',
					name: 'Watch',
					type: 'n8n-nodes-device-management.deviceManagementTrigger',
					parameters,
					credentials: { deviceManagementApi: { id: '1', name: 'key' } },
				},
			],
			connections: {},
		};
	};
}

const TEMPLATE = Fleet.seeded({ size: 1, seed: 3 }).at(0);

/** What the observer remembers, and what n8n lets it remember. */
class Model {
	/** By what was saved, in its order. */
	readonly saved: Array<Memory | undefined> = [];
	/** What n8n's database holds now. */
	stored: Memory | undefined;
	/** What the registration of the first host holds. */
	registered: Memory | undefined;
	/** What polls came to since the last report, and the states that were handed out or written since then. */
	carry: { met: ReadonlySet<string>; to: Memory } | undefined;
	/** The same of another main process. */
	carryOfOther: Model['carry'];
	/** The id of each change that was told, and the change of each id. */
	readonly ids = new Map<string, string>();
	readonly changes = new Map<string, string>();
	readonly lastTold: LastTold = new Map();
}

class Real {
	readonly engine: BareEngine;
	readonly host: PollHost;
	readonly putClockBack: () => void;
	/** What another main process remembers. */
	other: Partial<NodeMemory> = {};

	constructor(
		readonly world: World,
		readonly kind: (options: HostOptions) => PollHost,
	) {
		this.putClockBack = stopClock(() => world.now);
		forgetPolls();
		const { database, workflow, platform } = world;
		this.engine = new BareEngine(platform);
		this.host = kind({ engine: this.engine, database, workflow, onProcessEnd: forgetPolls });
	}

	get isInMemory(): boolean {
		return this.host instanceof InMemoryHost;
	}
}

/** What the trigger starts from at its next poll. */
function handedTo({ isInMemory }: Real, model: Model): Memory | undefined {
	return isInMemory ? model.registered : model.stored;
}

/** Looks as the trigger does, and remembers it as n8n and the process do. Checks what the trigger said. */
function follow(
	real: Real,
	model: Model,
	{
		handed,
		handedText,
		startedAt,
		savedBefore,
		accepted,
	}: { handed: Memory | undefined; handedText: string; startedAt: number; savedBefore: number; accepted: boolean },
	items: INodeExecutionData[] | null,
): void {
	const { world } = real;
	const { fleet, setting, kind } = world;
	const isCarried = model.carry?.met.has(handedText) === true;
	const base = isCarried ? model.carry?.to : handed;
	const told = (items ?? []).map(({ json }) => asTold(json));
	const around = {
		...{ fleet, setting, lastTold: model.lastTold, smallPages: kind.pageSize < 1000 },
		...{
			isFirst: model.carry === undefined,
			isInMemory: real.isInMemory,
			refusesMissing: world.toMissing !== undefined,
		},
	};
	const { changes, after, untaken } = look(around, base, Math.floor(startedAt / 1000), told);
	const rest = [...changes];
	const unexpected: Told[] = [];
	for (const [position, one] of told.entries()) {
		const found = rest.findIndex((change) => JSON.stringify(change.told) === JSON.stringify(one));
		const [change] = found < 0 ? [] : rest.splice(found, 1);
		if (change === undefined) unexpected.push(one);
		else checkId(model, change.change, String(items?.[position]?.json['eventId']));
	}
	const missing = rest.filter(({ mayWait }) => mayWait !== true).map((change) => change.told);
	// Jest's expectations take time, even those that are met.
	if (missing.length + unexpected.length > 0) expect({ missing, unexpected }).toEqual({ missing: [], unexpected: [] });
	const earlier = isCarried ? [...(model.carry?.met ?? [])] : [];
	const to = told.length > 0 ? untaken : after;
	const met = new Set([...earlier, handedText, ...(told.length > 0 ? [] : [real.engine.written])]);
	model.carry = to === undefined ? undefined : { met, to };
	if (!accepted) return;
	if (real.isInMemory) model.registered = after;
	for (let count = savedBefore; count < world.database.history.length; count++)
		model.saved.push((model.stored = after));
}

/** The same change has the same id whenever it is told, and another one another. */
function checkId(model: Model, change: string, id: string): void {
	const known = [model.ids.get(change) ?? id, model.changes.get(id) ?? change];
	if (known[0] !== id || known[1] !== change) expect(known).toEqual([id, change]);
	model.ids.set(change, id);
	model.changes.set(id, change);
}

function asTold({ event, field, previous, current, device }: IDataObject): Told {
	const { sn } = device as IDataObject;
	return {
		event: String(event),
		sn: String(sn),
		...(field === undefined ? {} : { field: String(field), previous, current }),
	};
}

function itemsOf(end: TickEnd): INodeExecutionData[] | null {
	if ('error' in end) throw end.error;
	return end.items;
}

type Command = fc.AsyncCommand<Model, Real>;

/** Something that happens to the platform or to time, and to nothing else. */
class Happening implements Command {
	constructor(
		private readonly words: string,
		readonly happen: (world: World) => void,
	) {}
	check(): boolean {
		return true;
	}
	async run(_model: Model, { world }: Real): Promise<void> {
		this.happen(world);
		world.keepReadable();
	}
	toString(): string {
		return this.words;
	}
}

/** A poll that begins and ends while nothing else happens. */
class Poll implements Command {
	constructor(
		private readonly minutes: number,
		/** The list request that fails. */
		private readonly failAt?: number,
		/** Whether n8n throws away what comes of it. */
		private readonly discarded = false,
	) {}
	check(): boolean {
		return true;
	}
	async run(model: Model, real: Real): Promise<void> {
		const { world, host } = real;
		world.now += this.minutes * MINUTE;
		world.failAt = this.failAt;
		world.failed = false;
		const handed = handedTo(real, model);
		const savedBefore = world.database.history.length;
		const tick = host.tick();
		const isDiscarded = this.discarded && !real.isInMemory;
		if (isDiscarded) tick.abandon();
		const end = await tick.done;
		world.failAt = undefined;
		if (world.failed) {
			expect('items' in end ? end.items : null).toBeNull();
			expect(world.database.history).toHaveLength(savedBefore);
			return;
		}
		const handedText = real.engine.handed;
		follow(
			real,
			model,
			{ handed, handedText, startedAt: world.now, savedBefore, accepted: !isDiscarded },
			itemsOf(end),
		);
	}
	toString(): string {
		const failing = this.failAt === undefined ? '' : `, request ${this.failAt} fails`;
		return `poll(${this.minutes} min later${failing}${this.discarded ? ', discarded' : ''})`;
	}
}

/** A device that changes back and forth, with polls after each change, and a restart after the first ones. */
class Flap implements Command {
	constructor(
		private readonly position: number,
		private readonly values: readonly number[],
		private readonly minutes: number,
		private readonly restarts: boolean,
	) {}
	check(): boolean {
		return true;
	}
	async run(model: Model, real: Real): Promise<void> {
		for (const [index, onlineStatus] of this.values.entries()) {
			const device = real.world.at(this.position);
			if (device !== undefined) real.world.fleet.update(device.sn, { onlineStatus });
			for (let minute = 0; minute < this.minutes; minute++) await new Poll(1).run(model, real);
			if (index === 0 && this.restarts) await register(real, model, 'init', true);
		}
	}
	toString(): string {
		return `flap(${this.position}: ${this.values.join()}, ${this.minutes} polls each${this.restarts ? ', restart after the first' : ''})`;
	}
}

/** A poll that waits for a response, while other things happen and other polls begin. */
class SlowPoll implements Command {
	constructor(
		private readonly meanwhile: readonly Happening[],
		/** How long the next poll comes after it, in minutes. */
		private readonly gap: number,
		private readonly abandoned: boolean,
		/** How the registration begins that replaces the abandoned one. */
		private readonly mode: 'update' | 'leadershipChange',
	) {}
	check(): boolean {
		return true;
	}
	async run(model: Model, real: Real): Promise<void> {
		const { world, host } = real;
		world.now += MINUTE;
		const startedAt = world.now;
		const handed = handedTo(real, model);
		const savedBefore = world.database.history.length;
		world.held = new Promise((release) => {
			world.release = () => release();
		});
		const asked = world.platform.requests;
		const slow = host.tick();
		while (world.platform.requests === asked) await setImmediate();
		const held = world.held;
		const handedText = real.engine.handed;
		for (const happening of this.meanwhile) await happening.run(model, real);
		world.now += this.gap * MINUTE;
		world.held = undefined;
		const countsAsLost = world.now - startedAt >= (real.isInMemory ? 300_000 : 36_000) + 60_000;
		if (countsAsLost) await new Poll(0).run(model, real);
		else expect(itemsOf(await host.tick().done)).toBeNull();
		if (this.abandoned && real.isInMemory) {
			// What the registration before this one puts out is thrown away.
			if (countsAsLost) await register(real, model, this.mode);
			else await registerDuringPoll(real, model, this.mode);
		} else if (this.abandoned) {
			slow.abandon();
		}
		const savedMeanwhile = world.database.history.length;
		world.release();
		await held;
		const items = itemsOf(await slow.done);
		if (countsAsLost) {
			expect(items).toBeNull();
			expect(world.database.history).toHaveLength(savedMeanwhile);
			return;
		}
		expect(savedMeanwhile).toBe(savedBefore);
		follow(real, model, { handed, handedText, startedAt, savedBefore, accepted: !this.abandoned }, items);
		if (this.abandoned && real.isInMemory && this.mode === 'leadershipChange') model.carry = undefined;
	}
	toString(): string {
		return `slowPoll(${this.meanwhile.join(', ')}; the next ${this.gap} min later${this.abandoned ? `; abandoned by ${this.mode}` : ''})`;
	}
}

/** Publishes the workflow, perhaps in a new process: what n8n keeps is loaded, and the trigger is polled. */
async function register(real: Real, model: Model, mode: WorkflowActivateMode, isNewProcess = false): Promise<void> {
	const { database } = real.world;
	const savedBefore = database.history.length;
	const executionsBefore = database.executions.length;
	if (isNewProcess) forgetPolls();
	if (isNewProcess || mode === 'leadershipChange') model.carry = undefined;
	await real.host.activate(mode);
	// The others are polled by their schedule alone, but for the first time.
	if (!real.isInMemory && savedBefore > 0) return;
	model.registered = model.stored;
	const items = database.executions.slice(executionsBefore).flat();
	const handed = handedTo(real, model);
	const handedText = real.engine.handed;
	follow(real, model, { handed, handedText, startedAt: real.world.now, savedBefore, accepted: true }, items);
}

/** Publishes the workflow while a poll is under way, to which the first poll of the new registration leaves the work. */
async function registerDuringPoll(real: Real, model: Model, mode: WorkflowActivateMode): Promise<void> {
	const { database } = real.world;
	const before = { saved: database.history.length, executions: database.executions.length };
	await real.host.activate(mode);
	model.registered = model.stored;
	expect({ saved: database.history.length, executions: database.executions.length }).toEqual(before);
}

/** The process starts, and n8n or the user publishes the workflow. */
class Restart implements Command {
	constructor(private readonly mode: 'init' | 'activate' | 'update') {}
	check(): boolean {
		return true;
	}
	async run(model: Model, real: Real): Promise<void> {
		await register(real, model, this.mode, true);
	}
	toString(): string {
		return `restart(${this.mode})`;
	}
}

/** Another main process polls from now on, with what it remembers. On the default host, it is the new leader. */
class OtherMain implements Command {
	check(): boolean {
		return true;
	}
	async run(model: Model, real: Real): Promise<void> {
		const other = { ...memoryOf('watching', 'Watch') };
		forgetPolls();
		Object.assign(memoryOf('watching', 'Watch'), real.other);
		real.other = other;
		[model.carry, model.carryOfOther] = [model.carryOfOther, model.carry];
		if (real.isInMemory) await register(real, model, 'leadershipChange');
	}
	toString(): string {
		return 'otherMain()';
	}
}

/** The user publishes the workflow with other settings. */
class Publish implements Command {
	constructor(private readonly changes: Partial<Setting>) {}
	check(): boolean {
		return true;
	}
	async run(model: Model, real: Real): Promise<void> {
		real.world.setting = { ...real.world.setting, ...this.changes };
		await register(real, model, 'update');
	}
	toString(): string {
		return `publish(${JSON.stringify(this.changes)})`;
	}
}

/** Another program writes an older state into n8n's database. */
class Rewind implements Command {
	constructor(private readonly back: number) {}
	check(): boolean {
		return true;
	}
	async run(model: Model, { world: { database } }: Real): Promise<void> {
		const to = Math.max(0, database.history.length - 1 - this.back);
		database.rewind(to);
		model.stored = model.saved[to];
	}
	toString(): string {
		return `rewind(${this.back})`;
	}
}

const position = fc.nat({ max: 7 });

const happening: fc.Arbitrary<Happening> = fc.oneof(
	fc
		.tuple(fc.nat({ max: 59 }), position)
		.map(([late, at]) => new Happening(`add(${late} min old, at ${at})`, (world) => world.add(late, undefined, at))),
	...Object.values(SAMPLES).map(({ changes }) =>
		fc
			.tuple(position, fc.constantFrom(...changes), fc.boolean())
			.map(
				([at, change, isDated]) =>
					new Happening(`change(${at}, ${JSON.stringify(change)}, ${isDated})`, (world) =>
						world.edit(at, change, isDated),
					),
			),
	),
	fc
		.tuple(position, fc.constantFrom<string[]>(['a'], [], ['b']))
		.map(([at, tags]) => new Happening(`tags(${at}, [${tags.join()}])`, (world) => world.edit(at, { tags }))),
	position.map(
		(at) =>
			new Happening(`remove(${at})`, (world) => {
				const device = world.at(at);
				if (device !== undefined) world.fleet.remove(device.sn);
			}),
	),
	position.map(
		(at) =>
			new Happening(`replace(${at})`, (world) => {
				const device = world.at(at);
				if (device !== undefined) world.add(0, world.fleet.remove(device.sn).sn);
			}),
	),
	fc
		.tuple(
			position,
			fc.constantFrom('createTime', 'updateTime'),
			fc.constantFrom('N/A', '1', '2026-03-29 01', undefined),
		)
		.map(
			([at, field, date]) =>
				new Happening(`date(${at}, ${field}, ${date})`, (world) =>
					world.edit(at, { [field]: date ?? world.time() }, false),
				),
		),
	fc.integer({ min: -30, max: 30 }).map((skew) => new Happening(`skew(${skew} min)`, (world) => (world.skew = skew))),
	fc
		.integer({ min: 1, max: 300 })
		.map((minutes) => new Happening(`wait(${minutes} min)`, (world) => (world.now += minutes * MINUTE))),
);

/** What the platform may say of a missing device, its own words apart. */
const toMissing = fc
	.constantFrom(-1, 9999, 10001, 10005, 10018, 14101, 14102, 14103, 14201, 401, 403, 404, 500, 503, undefined)
	.map((code) => {
		const status = code !== undefined && code > 0 && code < 600 ? code : 200;
		const answer = { statusCode: status, body: status === 200 ? JSON.stringify({ code, msg: '', data: null }) : '' };
		return new Happening(`missing(${code})`, (world) => (world.toMissing = code === undefined ? code : answer));
	});

const EVENT_NAMES: string[] = EVENTS.map(({ name }) => name);
/** It asks for a state, often; or for a change. */
const rule = fc.constantFrom(
	undefined,
	...[
		{ from: '', to: '0' },
		{ from: '', to: '0' },
	],
	...[
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

/** The usual platform, and with pages so small that what it makes of the order counts. */
const platformKind: fc.Arbitrary<Kind> = fc.oneof(
	fc.constant<Kind>({
		settings: {
			sorting: 'obeyed',
			missingValues: 'smallest',
			largestSize: 2000,
			largerSize: 'clamp',
			noDeviceCode: 10007,
		},
		pageSize: 1000,
		isUntouched: false,
	}),
	fc.record<Kind>({
		settings: fc.record<Kind['settings']>({
			sorting: fc.constantFrom('obeyed', 'obeyed', 'refused', 'ignored'),
			missingValues: fc.constantFrom('smallest', 'largest', 'first', 'last'),
			largestSize: fc.constantFrom(2000, 3),
			largerSize: fc.constant('clamp'),
			noDeviceCode: fc.constantFrom(10007, 14401, 0),
		}),
		pageSize: fc.integer({ min: 2, max: 5 }),
		isUntouched: fc.boolean(),
	}),
);

const happenings = fc
	.array(happening, { minLength: 1, maxLength: 3 })
	.map((several) => new Happening(several.join(', '), (world) => several.forEach((one) => one.happen(world))));
const poll = fc.nat({ max: 2 }).map((minutes) => new Poll(minutes));
const slowPoll = fc
	.tuple(
		fc.array(happening, { maxLength: 3 }),
		fc.constantFrom(0, 0, 1, 2, 10),
		fc.boolean(),
		fc.constantFrom('update' as const, 'leadershipChange' as const),
	)
	.map(([meanwhile, gap, abandoned, mode]) => new SlowPoll(meanwhile, gap, abandoned, mode));
const otherSetting = fc.oneof(
	fc.constantFrom<Partial<Setting>>({ holdMinutes: 0 }, { holdMinutes: 3 }),
	fc.constantFrom<Partial<Setting>>({ tag: 'a' }, { tag: undefined }),
	fc.subarray(EVENT_NAMES, { minLength: 1 }).map((events) => ({ events })),
	rule.map((other) => ({ rule: other })),
);

// What stands more than once comes more often.
const commands = fc.commands(
	[
		...[happenings, happenings, happenings, happenings],
		...[poll, poll, poll, poll],
		fc.integer({ min: 1, max: 3 }).map((failAt) => new Poll(1, failAt)),
		fc.constant(new Poll(1, undefined, true)),
		slowPoll,
		fc.constantFrom('init' as const, 'activate' as const, 'update' as const).map((mode) => new Restart(mode)),
		fc.constant(new OtherMain()),
		fc
			.tuple(
				position,
				fc.array(fc.nat({ max: 1 }), { minLength: 2, maxLength: 3 }),
				fc.constantFrom(1, 4),
				fc.boolean(),
			)
			.map(([at, values, minutes, restarts]) => new Flap(at, values, minutes, restarts)),
		toMissing,
		fc.nat({ max: 3 }).map((back) => new Rewind(back)),
		otherSetting.map((changes) => new Publish(changes)),
	],
	{ maxCommands: LONGEST, size: 'max' },
);

describe.each([
	['the default host, which keeps the state in memory', (options: HostOptions) => new InMemoryHost(options)],
	[
		'the durable scheduler, which reads the state afresh at each poll',
		(options: HostOptions) => new FreshHost(options),
	],
	['durable cursors, which keep every state', (options: HostOptions) => new CursorHost(options)],
])('%s', (_, kind) => {
	it('hands over what a perfect observer would tell', async () => {
		await fc.assert(
			fc.asyncProperty(setting, platformKind, commands, async (chosen, platform, sequence) => {
				const real = new Real(new World(chosen, platform), kind);
				const model = new Model();
				try {
					await register(real, model, 'activate');
					await fc.asyncModelRun(() => ({ model, real }), sequence);
					// At the latest now, what had to wait.
					real.world.toMissing = undefined;
					for (const minutes of [61, 61, 0]) await new Poll(minutes).run(model, real);
				} finally {
					real.putClockBack();
				}
			}),
			runs(500),
		);
	}, 600_000);
});
