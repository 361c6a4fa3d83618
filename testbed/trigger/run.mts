/**
 * The trigger on one of n8n's hosts, polled without n8n's engine. Random sequences are checked after each poll: what it handed to n8n
 * has to be what a perfect observer tells (observer.mts), who remembers what n8n lets the trigger remember, in sets instead of
 * watermarks and digests. What happens to the fleet is in world.mts.
 */
import { setImmediate } from 'node:timers/promises';

import type { IDataObject, INodeExecutionData, WorkflowActivateMode } from 'n8n-workflow';

import { forgetPolls, memoryOf, type NodeMemory } from '../../nodes/DeviceManagement/trigger/poll/memory.ts';
import { BareEngine } from '../engine/bareNode.mts';
import { held } from '../held.mts';
import { type HostLetter, Watch } from '../watch.mts';
import { type Change, look, type Memory, type Setting, type Told } from './observer.mts';
import { parametersFor } from './samples.mts';
import { MINUTE, type World } from './world.mts';

/** The trigger on a host, and what the observer remembers, and what n8n lets it remember. */
export class Run {
	readonly engine: BareEngine;
	readonly watching: Watch;
	readonly isInMemory: boolean;
	private readonly hasNoCursor: boolean;
	/** What the observer remembers, by the state that the trigger wrote then. */
	private readonly memories = new Map<string, Memory>();
	/** What polls saw since the last report, and the states that were handed out or written since then. */
	private carry: { met: ReadonlySet<string>; to: Memory } | undefined;
	/** What another main process remembers. */
	private other: { carry: Run['carry']; memory: Partial<NodeMemory> } = { carry: undefined, memory: {} };
	/** The id of each change that was told, and the change of each id. */
	private readonly ids = new Map<string, string>();

	constructor(
		host: HostLetter,
		public setting: Setting,
		readonly world: World,
		/** Whether an observer checks each poll. */
		private readonly isChecked: boolean,
	) {
		forgetPolls();
		this.engine = new BareEngine(world.platform);
		this.watching = new Watch({ engine: this.engine, apiKey: '1' }, {}, { host });
		this.isInMemory = host === 'A';
		this.hasNoCursor = host !== 'C';
	}

	/** Polls once, while nothing else happens. */
	async poll(minutes = 0, failAt?: number, isDiscarded = false): Promise<void> {
		const { world, watching } = this;
		world.now += minutes * MINUTE;
		world.failAt = failAt;
		const begun = this.begin();
		const tick = watching.tick();
		if (isDiscarded) tick.abandon();
		await tick.done.catch(() => {});
		const hasFailed = failAt !== undefined && (world.failAt ?? 0) < 1;
		world.failAt = undefined;
		if (!hasFailed) return this.follow({ ...begun, handedText: this.engine.handed }, (await tick.done) ?? []);
		expect(await tick.done.catch(() => null)).toBeNull();
		expect(watching.database.history).toHaveLength(begun.savedBefore);
	}

	/**
	 * A poll that waits for a response, while other things happen and another poll begins after so many minutes.
	 * @param failsLate whether its response is a failure, if the other poll took its turn
	 * @param abandonedBy how the registration begins that replaces it, if it is abandoned
	 */
	async slowPoll(
		meanwhile: ReadonlyArray<{ run(run: Run): Promise<void> }>,
		minutes: number,
		failsLate: boolean,
		abandonedBy: 'update' | 'leadershipChange' | undefined,
	): Promise<void> {
		const { world, watching } = this;
		const { database } = watching;
		world.now += MINUTE;
		const begun = this.begin();
		const { promise, resolve: release } = held();
		world.held = promise;
		const asked = world.platform.requests.length;
		const slow = watching.tick();
		while (world.platform.requests.length === asked) await setImmediate();
		const { handed: handedText } = this.engine;
		for (const step of meanwhile) await step.run(this);
		world.now += minutes * MINUTE;
		world.held = undefined;
		const countsAsLost = world.now - begun.startedAt >= (this.isInMemory ? 300_000 : 36_000) + 60_000;
		if (countsAsLost) await this.poll();
		else expect(await watching.tick().done).toBeNull();
		// The default host throws away what comes of the registration before. The first poll of the new one leaves it the work.
		if (abandonedBy !== undefined && !this.isInMemory) slow.abandon();
		else if (abandonedBy !== undefined) await this.register(abandonedBy, !countsAsLost);
		const savedMeanwhile = database.history.length;
		if (countsAsLost && failsLate) world.failAt = 1;
		release();
		const items = (await slow.done) ?? [];
		if (countsAsLost) {
			expect(items).toEqual([]);
			expect(database.history).toHaveLength(savedMeanwhile);
			return;
		}
		expect(savedMeanwhile).toBe(begun.savedBefore);
		this.follow({ ...begun, handedText }, items);
		// The new leader doesn't know what it saw.
		if (abandonedBy === 'leadershipChange' && this.isInMemory) this.carry = undefined;
	}

	/** Publishes the workflow, or n8n starts: what n8n keeps is loaded, and the trigger is polled unless a poll is under way. */
	async register(mode: WorkflowActivateMode, isUnderWay = false): Promise<void> {
		const { history, executions } = this.watching.database;
		const begun = this.begin(mode === 'leadershipChange');
		const told = executions.length;
		await this.watching.activate(mode);
		// The others are polled by their schedule alone, except for the first time.
		if (!this.isInMemory && begun.savedBefore > 0) return;
		if (isUnderWay) expect([history.length, executions.length]).toEqual([begun.savedBefore, told]);
		else this.follow({ ...begun, handedText: this.engine.handed }, executions.slice(told).flat());
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
		database.rewind(Math.max(0, database.history.length - 1 - back));
	}

	/** What is known when a poll begins. */
	private begin(isNewLeader = false) {
		const { events, tag, own, holdMinutes = 0, rule = [], firstPoll, limits = [] } = this.setting;
		const rules = [
			...[rule].flat().map((one) => ({ field: 'onlineStatus', ...one })),
			...(events.includes('attributeChanged') ? limits : []).map((to) => ({ ...OF_BATTERY, to: { ...to } })),
		];
		this.watching.parameters = {
			...parametersFor(events),
			// A value that has to last is the battery alone.
			...(limits.length > 0 && holdMinutes > 0 && { attributes: '' }),
			filters: { ...own, ...(tag !== undefined && { tags: tag }) },
			forAtLeast: holdMinutes,
			options: { maxRetries: 0, ...(firstPoll && { firstPoll }) },
			conditions: { rule: rules },
		};
		// What another process saw in quiet polls is lost.
		if (isNewLeader) this.carry = undefined;
		const isFresh = isNewLeader || memoryOf('watching', 'Watch').carry === undefined;
		const savedBefore = this.watching.database.history.length;
		return { startedAt: this.world.now, savedBefore, isFresh, carry: this.carry };
	}

	/** Checks what the trigger said, and remembers what it saw as n8n and the process do. */
	private follow(
		{ startedAt, handedText, isFresh, carry }: ReturnType<Run['begin']> & { handedText: string },
		items: readonly INodeExecutionData[],
	): void {
		const { world, setting } = this;
		if (!this.isChecked) return;
		const isCarried = this.hasNoCursor && carry?.met.has(handedText) === true;
		const { fleet, refusesMissing } = world;
		const one = { fleet, refusesMissing, setting, isFresh, now: Math.floor(startedAt / 1000) };
		const { changes, after } = look(one, isCarried ? carry.to : this.memories.get(handedText));
		this.check(changes, items);
		const { written } = this.engine;
		const earlier = isCarried ? [...carry.met].slice(0, 2) : [];
		this.carry = { met: new Set(items.length === 0 ? [...earlier, handedText, written] : [written]), to: after };
		this.memories.set(written, after);
	}

	/** All changes were told, and nothing else. The same change has the same id whenever it is told, and another one another. */
	private check(changes: readonly Change[], items: readonly INodeExecutionData[]): void {
		const due = changes.map(({ told, change }) => ({ text: JSON.stringify(told), change })).sort(byText);
		const told = items
			.map(({ json }) => ({ text: JSON.stringify(asTold(json)), id: `id ${json['eventId']}` }))
			.sort(byText);
		const [expected, came] = [due, told].map((list) => list.map(({ text }) => text));
		// Jest's expectations take time, even those that are met.
		if (`${expected}` !== `${came}`) expect(came).toEqual(expected);
		for (const [index, { change }] of due.entries()) {
			const { id = '' } = told[index] ?? {};
			const known = [this.ids.get(change) ?? id, this.ids.get(id) ?? change];
			if (known[0] !== id || known[1] !== change) expect(known).toEqual([id, change]);
			this.ids.set(change, id).set(id, change);
		}
	}
}

const OF_BATTERY = { field: 'attributes', attribute: 'battery' };

const byText = (one: { text: string }, other: { text: string }) => (one.text < other.text ? -1 : 1);

function asTold({ event, field, previous, current, device }: IDataObject): Told {
	const { sn } = device as IDataObject;
	const change = field === undefined ? {} : { field: String(field), previous, current };
	return { event: String(event), sn: String(sn), ...change };
}
