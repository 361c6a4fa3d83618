/**
 * The trigger on one of n8n's hosts, polled without n8n's engine. After each poll, what it handed to n8n has to be what a perfect
 * observer tells (observer.mts), who remembers what n8n lets the trigger remember, in sets instead of watermarks and digests.
 * What happens to the fleet is in world.mts.
 */
import { setImmediate } from 'node:timers/promises';

import type { IDataObject, INodeExecutionData, WorkflowActivateMode } from 'n8n-workflow';

import { forgetPolls, memoryOf, type NodeMemory } from '../../nodes/DeviceManagement/trigger/memory.ts';
import { BareEngine } from '../../testbed/engine/bareNode.mts';
import type { TickEnd } from '../../testbed/engine/pollHosts.mts';
import { type HostLetter, Watch } from '../../testbed/watch.mts';
import { type LastTold, look, type Memory, type Setting, type Told } from './observer.mts';
import { parametersFor } from './samples.mts';
import { MINUTE, START, type World } from './world.mts';

/** The trigger on a host, and what the observer remembers, and what n8n lets it remember. */
export class Run {
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

	/** Minute of each item that n8n took, and previous and current value or event. */
	readonly told: string[] = [];

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
		meanwhile: ReadonlyArray<{ run(run: Run): Promise<void> }>,
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
		const minute = (world.now - START) / MINUTE;
		for (const { event, field, previous, current } of told)
			this.told.push(`${minute}: ${field === undefined ? event : `${previous} → ${current}`}`);
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
