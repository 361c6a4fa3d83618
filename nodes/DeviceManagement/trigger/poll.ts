/**
 * One poll of the trigger. It reports each change since the last poll once: it reads the fleet, compares it with the state that n8n
 * has, and writes the new state. It doesn't decide what is read or what a change is: docs/maintainers/trigger.md.
 */
import type { IDataObject, INodeExecutionData, IPollFunctions } from 'n8n-workflow';

import { type Failure, inputFailure } from '../core/failure';
import { shapeDevice } from '../core/shape';
import { asNodeError, withoutAuthorization } from '../nodeError';
import { currentClock } from '../transport/waiting/clock';
import { type Credential, CREDENTIAL_TYPE } from '../transport/auth/credential';
import { loadCredential, openPlatform } from '../transport/platform';
import { compare, type State } from './compare/compare';
import type { DeviceEvent } from './compare/events';
import { carriedFrom, carryOn, memoryOf, type NodeMemory, refuseMoving, takeTurn } from './memory';
import { noteOutage, tooLate } from './outage';
import { observe } from './read/observe';
import { readTriggerParameters, type TriggerParameters } from './form';
import { wordsAboutFuture } from './compare/recent';
import { forgetAway } from './compare/snapshot';
import { decodeState, encodeState } from './state';
import { fetchTestEvents } from './read/testEvent';
import { digestOf } from './compare/kept';

/** Name of the state in the node's static data. */
const STATE_KEY = 'state';
/** Time for a poll if n8n doesn't say. */
const USUAL_BUDGET_MS = 300_000;
/** Largest state, in characters: two million serial numbers of 20. n8n loads and saves it with the workflow. */
const LARGEST_STATE = 50_000_000;

interface Poll {
	readonly open: typeof openPlatform;
	readonly context: IPollFunctions;
	readonly memory: NodeMemory;
	readonly turn: NonNullable<NodeMemory['turn']>;
	/** Time that n8n lets the poll take. */
	readonly budgetMs: number;
	readonly isFirstOfActivation: boolean;
	/** Number of the newest context before this one. */
	readonly replaced: number;
}

/** Contexts that polled before, numbered in their order. Each activation has its own context. */
const polled = new WeakMap<IPollFunctions, number>();
let contexts = 0;

/**
 * Runs one poll and returns its items; null if there is nothing to report.
 * @param open opens the platform; tests of many polls use one without HTTP
 * @throws n8n's error, once per outage
 */
export async function pollDevices(
	context: IPollFunctions,
	open = openPlatform,
): Promise<INodeExecutionData[][] | null> {
	const budgetMs = budgetOf(context) ?? USUAL_BUDGET_MS;
	if (context.getMode() === 'manual') return await pollManually(context, budgetMs);
	const isFirstOfActivation = !polled.has(context);
	const order = polled.get(context) ?? ++contexts;
	polled.set(context, order);
	const isNewLeader = isFirstOfActivation && context.getActivationMode() === 'leadershipChange';
	const memory = memoryOf(context.getWorkflow().id ?? '', context.getNode().name, isNewLeader);
	const { newest = 0 } = memory;
	// n8n may leave an activation running when the workflow is imported again and published. It would report everything again.
	if (order < newest) return null;
	memory.newest = order;
	if (!isFirstOfActivation) memory.keepsContext = true;
	const turn = takeTurn(memory, currentClock().now(), budgetMs);
	if (turn === undefined) {
		log(context, 'info', 'skips this poll, because the previous one is still running');
		return null;
	}
	const poll = { open, context, memory, turn, budgetMs, isFirstOfActivation, replaced: newest };
	try {
		return await pollOnce(poll);
	} catch (thrown) {
		// If another poll has taken over, it reports the failure.
		if (memory.turn === turn) reportFailure(poll, thrown);
		return null;
	} finally {
		turn.until = 0;
	}
}

/** Returns the items of “Fetch Test Event”: the newest devices as events. */
async function pollManually(context: IPollFunctions, budgetMs: number): Promise<INodeExecutionData[][]> {
	try {
		const parameters = readTriggerParameters(context);
		const platform = await openPlatform(context, platformOptions(parameters, budgetMs));
		const events = await fetchTestEvents(platform, parameters).finally(() => platform.stop());
		return [itemsOf(events, parameters, { sample: true })];
	} catch (thrown) {
		throw asNodeError(context.getNode(), thrown);
	}
}

async function pollOnce(poll: Poll): Promise<INodeExecutionData[][] | null> {
	const { open, context, memory, budgetMs } = poll;
	const parameters = readTriggerParameters(context);
	refuseMoving(memory, JSON.stringify(context.getNode().parameters), watchedBy(parameters));
	const credential = await loadCredential(context);
	const isFirstOfProcess = memory.carry === undefined;
	const now = Math.floor(currentClock().date() / 1000);
	const stored = stateOf(context);
	const base = carriedFrom(memory, stored);
	const before = stateBefore(poll, base, fingerprintOf(context, parameters, credential), now);
	const platform = await open(context, platformOptions(parameters, budgetMs), credential);
	const options = { ...parameters, now, orders: memory.orders, found: memory.found };
	const observation = await observe(platform, options, before).finally(() => platform.stop());
	const { state, untaken, events } = compare(before, observation, { ...parameters, now, isFirstOfProcess });
	const items = itemsOf(events, parameters);
	const writes = (state.writes ?? 0) + 1;
	// A poll that reports something raises the number, so its text is another one.
	const isSame = items.length === 0 && textOf(state) === base;
	const to = isSame ? base : textOf({ ...state, writes }, (words) => log(context, 'warn', words));
	// If n8n returns an older state later, it did not accept this poll's items, and the next poll must report them again.
	const carried = items.length === 0 ? to : textOf({ ...untaken, writes });
	if (!commit(poll, stored, to, carried)) return null;
	memory.orders = observation.orders;
	memory.found = observation.found;
	if (memory.outage !== undefined) log(context, 'info', 'can poll again');
	memory.outage = undefined;
	const remarks = [...observation.remarks, ...wordsAboutFuture(state.recent, observation.recent, now)];
	for (const words of remarks) if (!memory.remarks.includes(words)) log(context, 'warn', words);
	memory.remarks = remarks;
	return items.length > 0 ? [items] : null;
}

/**
 * Returns the state that a poll compares with. For a baseline, it is empty: then the log says why, and the orders are forgotten.
 * @param base the text of the last state
 */
function stateBefore(poll: Poll, base: string | undefined, fingerprint: string, now: number): State {
	const { context, memory } = poll;
	const last = decodeState(base);
	if (last?.fingerprint === fingerprint) {
		// What was held may have come back in a quiet poll before the start, which n8n's default host did not save. A missing
		// device may have come back, too: its hour starts again.
		const isFirstOfProcess = memory.carry === undefined;
		const startsHolds = isFirstOfProcess && isDefaultHost(poll);
		const snapshot = last.snapshot && forgetAway(last.snapshot, now, isFirstOfProcess);
		return { ...last, snapshot: snapshot && { ...snapshot, ...(startsHolds && { holds: [] }) } };
	}
	// It may be another platform now.
	memory.orders = new Map();
	const why =
		last === undefined
			? "it can't read the state that n8n kept"
			: "'Events', 'Attributes', 'Filters', the workflow, the platform or the user changed";
	const words = `takes a new baseline, because ${why}. It does not report what changed since the last poll`;
	if (base !== undefined) log(context, 'warn', words);
	const number = Math.max(now, (last?.number ?? 0) + 1);
	return { fingerprint, number, writes: undefined, recent: new Map(), snapshot: undefined };
}

/** Returns the text of a state; of one that is too large, without the devices that are no longer listed, and warns of that. */
function textOf(state: State, warn?: (words: string) => void): string {
	const text = encodeState(state);
	if (text.length <= LARGEST_STATE || state.snapshot === undefined || state.snapshot.away.size === 0) return text;
	warn?.('forgets the devices that are no longer listed, because its state would be too large');
	return encodeState({ ...state, snapshot: forgetAway(state.snapshot, Infinity) });
}

/**
 * Writes the state if it changed. After it, no step of a poll can fail.
 * @param stored the state that n8n returned at the beginning of the poll
 * @param carried the state that the next poll compares with if n8n returns an older one than `to`
 * @returns false if the poll must not report anything, because another poll has changed the state
 * @throws Failure `input` for a state that is too large
 */
function commit({ context, memory, turn }: Poll, stored: string | undefined, to: string, carried: string): boolean {
	if (memory.turn !== turn || stateOf(context) !== stored) {
		const why = 'its state changed during the poll. The next poll reports the changes';
		log(context, 'warn', `reports nothing, because ${why}`);
		return false;
	}
	if (to.length > LARGEST_STATE) {
		throw inputFailure(
			`The trigger would have to store ${megabytes(to.length)} MB, but it can store only ${megabytes(LARGEST_STATE)} MB`,
			"Watch fewer devices with 'Filters', or fewer keys in 'Attributes'.",
		);
	}
	carryOn(memory, stored, carried);
	if (to !== stored) context.getWorkflowStaticData('node')[STATE_KEY] = to;
	return true;
}

/** Logs why a poll failed, and throws n8n's error if it is due. */
function reportFailure(poll: Poll, thrown: unknown): void {
	const { context, memory, isFirstOfActivation, replaced } = poll;
	const error = asNodeError(context.getNode(), withoutAuthorization(thrown));
	log(context, 'warn', `could not poll: ${error.message}`);
	const isStart = ['init', 'leadershipChange'].includes(context.getActivationMode());
	const hasState = () => decodeState(stateOf(context)) !== undefined;
	if (!noteOutage(memory, thrown, { isFirstOfActivation, isStart, isDefaultHost: isDefaultHost(poll), hasState }))
		return;
	// n8n does not accept this activation, so that the one before goes on.
	if (isFirstOfActivation) memory.newest = replaced;
	throw error;
}

/** Whether n8n's default host polls. Each poll of n8n's scheduler has its own context, with mode `update` and less time. */
function isDefaultHost({ context, memory }: Pick<Poll, 'context' | 'memory'>): boolean {
	const isUpdate = context.getActivationMode() === 'update';
	return !isUpdate || memory.keepsContext === true || budgetOf(context) === USUAL_BUDGET_MS;
}

const megabytes = (characters: number) => Math.ceil(characters / 1_000_000);

/** Returns the fingerprint of a state. The user of an API key is unknown, so its credential's ID counts as the user. */
function fingerprintOf(context: IPollFunctions, parameters: TriggerParameters, credential: Credential): string {
	const { id = null } = context.getNode().credentials?.[CREDENTIAL_TYPE] ?? {};
	const user = credential.user.length > 1 ? credential.user : [...credential.user, id];
	const { Events, Attributes, Filters } = watchedBy(parameters);
	return digestOf([context.getWorkflow().id ?? null, [Events, Attributes, ...Filters], credential.baseUrl.href, user]);
}

/** Returns the values that decide about a baseline, by the labels of their fields. */
function watchedBy({ events, attributes, criteria }: TriggerParameters) {
	const Filters: unknown[] = [JSON.parse(criteria.body), criteria.query];
	return { Events: [...events].sort(), Attributes: attributes, Filters };
}

function platformOptions({ settings }: TriggerParameters, budgetMs: number) {
	const failure = (rateLimit: Failure | undefined) => tooLate(budgetMs, rateLimit);
	return { parallelRequests: settings.parallelRequests, deadline: { ms: budgetMs, failure } };
}

/** @param mark the last fields of each event */
function itemsOf(events: readonly DeviceEvent[], { output, emit }: TriggerParameters, mark = {}): INodeExecutionData[] {
	const detectedAt = new Date(currentClock().date()).toISOString();
	const shown = new Set<DeviceEvent['device']>();
	const items = events.map(({ event, eventId, device, ...change }): IDataObject => {
		// A workflow may change an item. That must not change another item.
		const own = shown.has(device) ? structuredClone(device) : device;
		shown.add(device);
		// A removed device has only the known values, so 'Output' doesn't apply.
		const shaped = event === 'deviceRemoved' ? own : shapeDevice(own, output);
		// The table in n8n's editor shows the first fields.
		return { event, ...change, device: shaped, eventId, detectedAt, ...mark };
	});
	const isOne = emit === 'perPoll' && items.length > 0;
	return (isOne ? [{ count: items.length, events: items }] : items).map((json) => ({ json }));
}

function stateOf(context: IPollFunctions): string | undefined {
	const state = context.getWorkflowStaticData('node')[STATE_KEY];
	return typeof state === 'string' ? state : undefined;
}

function budgetOf(context: IPollFunctions): number | undefined {
	// n8n before 2.38 has no such function.
	const budget: unknown = Reflect.get(context, 'getPollBudgetMs');
	const given: unknown = typeof budget === 'function' ? budget.call(context) : undefined;
	return typeof given === 'number' && given > 0 ? given : undefined;
}

function log(context: IPollFunctions, level: 'info' | 'warn', words: string): void {
	const { name: nodeName } = context.getNode();
	context.logger[level](`The trigger "${nodeName}" ${words}`, { workflowId: context.getWorkflow().id, nodeName });
}
