import type { INodeExecutionData, IPollFunctions } from 'n8n-workflow';

import { Failure } from '../core/failure';
import type { Clock } from '../core/retry';
import type { ReadParameter } from '../fields/values';
import { asNodeError } from '../nodeError';
import { currentClock } from '../transport/clock';
import { type Credential, CREDENTIAL_TYPE, readCredential } from '../transport/credential';
import { type Deadline, openPlatform, type Platform } from '../transport/platform';
import { compare, settleMissing } from './compare';
import type { Progress } from './fleet';
import { itemsOf } from './items';
import { giveBack, memoryOf, type NodeMemory, type Remark, takeTurn, type Turn } from './memory';
import { type KnownOrders, type Observation, observe } from './observe';
import { needsPerson, reportFailure } from './outage';
import { readTriggerParameters, type TriggerParameters } from './parameters';
import { lookForMissing } from './removal';
import { decodeState, differences, encodeState, type Fingerprint, fingerprintOf, type State } from './state';
import { fetchTestEvents } from './testEvent';

/** Where the state stands in what n8n keeps for the node. */
const STATE_KEY = 'state';
/** What a poll has where n8n does not say, and where n8n does not mean it. */
const USUAL_BUDGET_MS = 300_000;
/** How long what is known of an order holds. */
const ORDER_KNOWN_FOR_MS = 24 * 3_600_000;

/**
 * One poll of the trigger: reads what is watched, compares it with the state that n8n hands out, and returns what happened
 * in between. The state is written last, after the output was made, and only when it changed: docs/trigger.md.
 * @returns the items; null where there is nothing to report
 * @throws n8n's error; of an outage, as often as it is to be reported
 */
export async function pollDevices(context: IPollFunctions): Promise<INodeExecutionData[][] | null> {
	const clock = currentClock();
	const budgetMs = budgetOf(context);
	if (context.getMode() === 'manual') return await pollManually(context, clock, budgetMs);
	const isFirst = isFirstPollOf(context);
	const memory = memoryOf(context.getWorkflow().id ?? '', context.getNode().name);
	const turn = takeTurn(memory, clock.now(), budgetMs);
	if (turn === undefined) {
		context.logger.debug(`${nameInLog(context)} leaves this poll to the one before, which is still under way`);
		return null;
	}
	try {
		const output = await new Poll(context, memory, turn, clock, budgetMs).run();
		if (memory.turn === turn) memory.outage = undefined;
		return output;
	} catch (thrown) {
		// Another poll has taken over: it says what there is to say.
		if (memory.turn !== turn) return null;
		fail(context, memory, thrown, { now: clock.now(), isFirst, budgetMs });
		return null;
	} finally {
		giveBack(memory, turn);
	}
}

/** “Fetch Test Event”: the newest devices in the form of events. */
async function pollManually(
	context: IPollFunctions,
	clock: Clock,
	budgetMs: number,
): Promise<INodeExecutionData[][]> {
	try {
		const parameters = readTriggerParameters(readerOf(context));
		const platform = await open(context, parameters, clock, clock.now() + budgetMs, { read: 0, total: undefined });
		const events = await fetchTestEvents(platform, parameters).finally(() => platform.stop());
		return [itemsOf(events, parameters, clock.now()).map((json) => ({ json }))];
	} catch (thrown) {
		throw asNodeError(context.getNode(), thrown, undefined, false);
	}
}

/** A poll under way. */
class Poll {
	private readonly progress: Progress = { read: 0, total: undefined };

	constructor(
		private readonly context: IPollFunctions,
		private readonly memory: NodeMemory,
		private readonly turn: Turn,
		private readonly clock: Clock,
		private readonly budgetMs: number,
	) {}

	async run(): Promise<INodeExecutionData[][] | null> {
		const { context, clock } = this;
		const parameters = readTriggerParameters(readerOf(context));
		const credential = readCredential(await context.getCredentials(CREDENTIAL_TYPE));
		const fingerprint = fingerprintFor(context, parameters, credential);
		const handed = stateOf(context);
		const carried = this.carried(handed);
		const known = decodeState(carried.to);
		const before = this.comparable(carried.to, known, fingerprint);
		// It may be another platform.
		if (before === undefined) this.memory.orders.clear();
		const start = clock.now();
		const platform = await open(context, parameters, clock, start + this.budgetMs, this.progress);
		try {
			const now = Math.floor(start / 1000);
			const seen = await observe(platform, parameters, before, {
				now,
				progress: this.progress,
				orders: this.orders(start),
			});
			const firstNumber = Math.max(now, (known?.number ?? 0) + 1);
			const outcome = compare(before, seen, { parameters, fingerprint, now, firstNumber });
			const { state, events } = await this.withRemovals(platform, outcome, before, parameters);
			this.remark(seen, state);
			const items = itemsOf(events, parameters, clock.now()).map((json) => ({ json }));
			return this.commit(handed, carried, state === before ? carried.to : encodeState(state), items);
		} finally {
			platform.stop();
		}
	}

	/**
	 * What to compare with: what n8n hands out, or what quiet polls made of it where n8n did not keep that.
	 * @returns `from` as the quiet polls began with it, `to` as they left it
	 */
	private carried(handed: string | undefined): { from: string | undefined; to: string | undefined } {
		const { carry } = this.memory;
		return carry !== undefined && (handed === carry.from || handed === carry.to) ? carry : { from: handed, to: handed };
	}

	/** The state, where it belongs to what is watched now; otherwise the poll takes a baseline, and the log says why. */
	private comparable(
		text: string | undefined,
		known: State | undefined,
		fingerprint: Fingerprint,
	): State | undefined {
		if (text === undefined) return undefined;
		if (known === undefined) {
			this.warn('can not read the state that n8n kept and begins anew: what changed since the last poll is not reported');
			return undefined;
		}
		const changed = differences(known.fingerprint, fingerprint);
		if (changed.length === 0) return known;
		const words = { workflow: 'the workflow', events: "'Events' or 'Attributes'", filters: "'Filters'", account: 'the platform or the user' };
		this.warn(`begins anew, because ${changed.map((part) => words[part]).join(' and ')} changed`);
		return undefined;
	}

	private orders(now: number): KnownOrders {
		const { orders } = this.memory;
		const of: KnownOrders['of'] = (field) => {
			const known = orders.get(field);
			return known === undefined || now - known.at >= ORDER_KNOWN_FOR_MS ? { order: 'unknown' } : known;
		};
		return {
			of,
			note: (field, seen) => {
				// Proven again below its former top, it is as old as the first proof all the same.
				const at = of(field).order === seen.order ? orders.get(field)?.at : undefined;
				orders.set(field, { ...seen, at: at ?? now });
			},
		};
	}

	private async withRemovals(
		platform: Platform,
		outcome: ReturnType<typeof compare>,
		before: State | undefined,
		parameters: TriggerParameters,
	) {
		if (outcome.missing.length === 0) return outcome;
		if (!parameters.events.has('deviceRemoved')) {
			return settleMissing(outcome, new Map(outcome.missing.map((sn) => [sn, 'elsewhere'])), before, parameters);
		}
		const search = await lookForMissing(platform, outcome.missing, parameters.settings, () => this.clock.random());
		if (search.obstacle !== undefined) {
			this.warn(`could not make sure that devices are removed and tries again at the next poll: ${search.obstacle.message}`);
		}
		return settleMissing(outcome, search.whereabouts, before, parameters);
	}

	/** Says what makes the trigger slower, or blind for something: once as long as it is so. */
	private remark({ newest, unordered, list, miscounted }: Observation, { created, updated }: State): void {
		for (const [field, recent] of [['createTime', created], ['updateTime', updated]] as const) {
			if (newest[field] === undefined) continue;
			// Where nothing shows the order, once may be a fleet that changed at the wrong moment.
			const isSure = this.memory.orders.get(field)?.order === 'broken' || this.memory.slow.has(field);
			this.warnWhile(
				unordered.includes(field) && isSure,
				`unordered ${field}`,
				`reads the whole fleet at each poll, because it can not rely on the platform to list devices by '${field}', newest first`,
			);
			this.warnWhile(
				recent?.incomplete === true,
				`moving ${field}`,
				`has not taken stock by '${field}' yet, because the fleet changes while it is read: a device that is dated before the newest one is not reported until a list holds still`,
			);
		}
		this.memory.slow = new Set(unordered);
		if (miscounted === undefined && list?.complete !== true) return;
		this.warnWhile(
			miscounted !== undefined,
			'miscounted',
			`can not tell removed devices, because the platform reports ${miscounted?.total} devices and lists ${miscounted?.listed}`,
		);
	}

	/** Writes the state, last of all and only where it changed, or leaves everything to the next poll. */
	private commit(
		handed: string | undefined,
		carried: { from: string | undefined; to: string | undefined },
		text: string | undefined,
		items: INodeExecutionData[],
	): INodeExecutionData[][] | null {
		const { memory, context } = this;
		if (memory.turn !== this.turn || stateOf(context) !== handed) {
			this.warn('found that its state changed during the poll and leaves the work to the next one');
			return null;
		}
		// Of a poll that reports something only what came before it is carried: if n8n hands out that state again, it did not
		// take the items, and they have to come again.
		const to = items.length > 0 ? carried.to : text;
		memory.carry = to === undefined || to === carried.from ? undefined : { from: carried.from, to };
		if (text !== handed) context.getWorkflowStaticData('node')[STATE_KEY] = text;
		return items.length > 0 ? [items] : null;
	}

	private warn(words: string): void {
		this.context.logger.warn(`${nameInLog(this.context)} ${words}`, placeOf(this.context));
	}

	private warnWhile(isSo: boolean, remark: Remark, words: string): void {
		const { said } = this.memory;
		if (isSo && !said.has(remark)) this.warn(words);
		if (isSo) said.add(remark);
		else said.delete(remark);
	}
}

/**
 * Says in the log why a poll failed, and reports it where that is due.
 * @throws n8n's error
 */
function fail(
	context: IPollFunctions,
	memory: NodeMemory,
	thrown: unknown,
	{ now, isFirst, budgetMs }: { now: number; isFirst: boolean; budgetMs: number },
): void {
	const callsPerson = needsPerson(thrown);
	const mode = context.getActivationMode();
	// A workflow that was active has to become so again at n8n's start, whatever the platform's state is.
	const silent =
		isFirst &&
		!callsPerson &&
		(mode === 'init' || mode === 'leadershipChange') &&
		decodeState(stateOf(context)) !== undefined;
	// Somebody is waiting for the workflow to become active. A tick that n8n's scheduler runs has less time than this.
	const awaited = isFirst && (mode === 'activate' || (mode === 'update' && budgetMs >= USUAL_BUDGET_MS));
	const { report, outage } = reportFailure(awaited ? undefined : memory.outage, { now, callsPerson, silent });
	memory.outage = outage;
	const error = asNodeError(context.getNode(), thrown, undefined, false);
	context.logger.warn(`${nameInLog(context)} could not poll: ${error.message}`, placeOf(context));
	if (report) throw error;
}

/** Reads the parameters as they are for this poll. */
function readerOf(context: IPollFunctions): ReadParameter {
	return (name, fallback, options) => context.getNodeParameter(name, fallback, options);
}

function stateOf(context: IPollFunctions): string | undefined {
	const state = context.getWorkflowStaticData('node')[STATE_KEY];
	return typeof state === 'string' ? state : undefined;
}

/** What a state belongs to. With a key, whose owner nobody knows, another credential is another user. */
function fingerprintFor(
	context: IPollFunctions,
	{ events, attributes, criteria }: TriggerParameters,
	{ baseUrl, stored }: Credential,
): Fingerprint {
	const user =
		stored.authentication === 'login'
			? ['login', stored.loginName.trim()]
			: ['apiKey', context.getNode().credentials?.[CREDENTIAL_TYPE]?.id ?? null];
	return {
		workflow: fingerprintOf(context.getWorkflow().id ?? null),
		events: fingerprintOf([[...events].sort(), attributes]),
		filters: fingerprintOf([JSON.parse(criteria.body), criteria.query]),
		account: fingerprintOf([baseUrl.href, ...user]),
	};
}

async function open(
	context: IPollFunctions,
	{ settings }: TriggerParameters,
	clock: Clock,
	at: number,
	progress: Progress,
): Promise<Platform> {
	const start = clock.now();
	const deadline: Deadline = { at, failure: () => outOfTime(clock.now() - start, progress) };
	return await openPlatform(context, { parallelRequests: settings.parallelRequests, clock, deadline });
}

/** Says how long a poll would need that ran out of time, and what helps. */
function outOfTime(spentMs: number, { read, total }: Progress): Failure {
	const seconds = (ms: number) => Math.ceil(ms / 1000);
	const needed =
		read > 0 && total !== undefined && total > read
			? `: ${read} of ${total} devices were read, and all of them would take about ${seconds((spentMs * total) / read)} seconds`
			: '';
	return new Failure({
		kind: 'timeout',
		cause: 'platform',
		message: `The poll did not end within the ${seconds(spentMs)} seconds that n8n gives it${needed}`,
		remedy:
			"Raise 'Page Size' or 'Parallel Requests' under 'Options', or watch fewer devices with 'Filters'. Nothing is lost: the next poll begins where this one did.",
	});
}

function budgetOf(context: IPollFunctions): number {
	// n8n before 2.3x has no such function.
	const budget: unknown = Reflect.get(context, 'getPollBudgetMs');
	const given: unknown = typeof budget === 'function' ? budget.call(context) : undefined;
	return typeof given === 'number' && given > 0 ? given : USUAL_BUDGET_MS;
}

const polled = new WeakSet<IPollFunctions>();

function isFirstPollOf(context: IPollFunctions): boolean {
	const isFirst = !polled.has(context);
	polled.add(context);
	return isFirst;
}

function nameInLog(context: IPollFunctions): string {
	return `The trigger "${context.getNode().name}"`;
}

function placeOf(context: IPollFunctions): { workflowId: string | undefined; nodeName: string } {
	return { workflowId: context.getWorkflow().id, nodeName: context.getNode().name };
}
