/**
 * One poll of the trigger: each change since the last one is reported once. It reads what is watched, compares it with the state
 * that n8n hands out, and writes the new state last, after the output was made. It does not know how n8n keeps it: docs/maintainers/trigger.md.
 */
import { deepCopy, type IDataObject, type INodeExecutionData, type IPollFunctions } from 'n8n-workflow';

import { Failure, inputFailure } from '../core/failure';
import { shapeDevice } from '../core/output';
import type { Clock } from '../core/retry';
import type { ReadParameter } from '../fields/values';
import { asNodeError } from '../nodeError';
import { currentClock } from '../transport/clock';
import { type Credential, CREDENTIAL_TYPE, readCredential } from '../transport/credential';
import { openPlatform, type Platform } from '../transport/platform';
import { compare, type Outcome, settleMissing } from './compare';
import type { DeviceEvent } from './events';
import { carriedFrom, carryOn, forgetPlatform, memoryOf, type NodeMemory, takeTurn, type Turn } from './memory';
import { observe } from './observe';
import { readTriggerParameters, type TriggerParameters } from './parameters';
import { lookForMissing } from './removal';
import { decodeState, encodeState, type State } from './state';
import { fetchTestEvents } from './testEvent';
import { canonicalJson, digest } from './values';

/** The name of the state in what n8n keeps for the node. */
const STATE_KEY = 'state';
/** What a poll has where n8n does not say. */
const USUAL_BUDGET_MS = 300_000;
/** Largest state, in characters: n8n loads and saves it with the workflow. */
const LARGEST_STATE = 20_000_000;

interface Tick {
	readonly reach: typeof openPlatform;
	readonly context: IPollFunctions;
	readonly memory: NodeMemory;
	readonly turn: Turn;
	readonly clock: Clock;
	readonly budgetMs: number;
}

/** The contexts of n8n that were polled before: each activation has its own. */
const polled = new WeakSet<IPollFunctions>();

/**
 * Polls once.
 * @param reach opens the platform; tests of many polls have one without HTTP
 * @returns the items; null where there is nothing to report
 * @throws n8n's error; of an outage, once
 */
export async function pollDevices(
	context: IPollFunctions,
	reach = openPlatform,
): Promise<INodeExecutionData[][] | null> {
	const clock = currentClock();
	const budgetMs = budgetOf(context);
	if (context.getMode() === 'manual') return await pollManually(context, clock, budgetMs);
	const isFirst = !polled.has(context);
	polled.add(context);
	const memory = memoryOf(context.getWorkflow().id ?? '', context.getNode().name);
	const turn = takeTurn(memory, clock.now(), budgetMs);
	if (turn === undefined) {
		log(context, 'info', 'skips this poll, because the one before is still under way');
		return null;
	}
	try {
		const output = await pollOnce({ reach, context, memory, turn, clock, budgetMs });
		if (memory.turn !== turn) return output;
		if (memory.outage !== undefined) log(context, 'info', 'can poll again');
		memory.outage = undefined;
		return output;
	} catch (thrown) {
		// Another poll has taken over, and reports what there is.
		if (memory.turn === turn) fail(context, memory, thrown, { isFirst, budgetMs });
		return null;
	} finally {
		if (memory.turn === turn) memory.turn = undefined;
	}
}

/** “Fetch Test Event”: the newest devices in the form of events. */
async function pollManually(context: IPollFunctions, clock: Clock, budgetMs: number): Promise<INodeExecutionData[][]> {
	try {
		const parameters = readTriggerParameters(readerOf(context));
		const platform = await openPlatform(context, platformOptions(parameters, clock, budgetMs));
		const events = await fetchTestEvents(platform, parameters).finally(() => platform.stop());
		return [itemsOf(events, parameters, clock.now())];
	} catch (thrown) {
		throw asNodeError(context.getNode(), thrown, undefined, false);
	}
}

async function pollOnce(tick: Tick): Promise<INodeExecutionData[][] | null> {
	const { context, memory, clock, budgetMs } = tick;
	const parameters = readTriggerParameters(readerOf(context));
	const credential = readCredential(await context.getCredentials(CREDENTIAL_TYPE));
	const fingerprint = fingerprintOf(context, parameters, credential);
	const handed = stateOf(context);
	const from = carriedFrom(memory, handed);
	const known = decodeState(from);
	const before = known?.fingerprint === fingerprint ? known : undefined;
	if (before === undefined) announceBaseline(tick, from, known);
	const start = clock.now();
	const platform = await tick.reach(context, platformOptions(parameters, clock, budgetMs));
	try {
		const seen = await observe(platform, parameters, before, { now: start, orders: memory.orders });
		const now = Math.floor(start / 1000);
		const firstNumber = Math.max(now, (known?.number ?? 0) + 1);
		const outcome = compare(before, seen, { ...parameters, fingerprint, now, firstNumber });
		const { state, events } = await askForMissing(tick, platform, outcome, before, parameters);
		const items = itemsOf(events, parameters, clock.now());
		if (!commit(tick, { handed, from, to: encodeState(state), isQuiet: items.length === 0 })) return null;
		for (const words of seen.remarks) if (!memory.remarks.includes(words)) log(context, 'warn', words);
		memory.remarks = seen.remarks;
		return items.length > 0 ? [items] : null;
	} finally {
		platform.stop();
	}
}

/** Says in the log why a trigger that knew a state takes a baseline, and forgets a platform that may be another one. */
function announceBaseline({ context, memory }: Tick, from: string | undefined, known: State | undefined): void {
	forgetPlatform(memory);
	if (from === undefined) return;
	const why =
		known === undefined
			? "it can't read the state that n8n kept"
			: "'Events', 'Attributes', 'Filters', the workflow, the platform or the user changed";
	log(context, 'warn', `takes a new baseline, because ${why}. It does not report what changed since the last poll`);
}

/** Asks the platform for devices that are no longer listed, and adds those that are removed. */
async function askForMissing(
	{ context, clock }: Tick,
	platform: Platform,
	outcome: Outcome,
	before: State | undefined,
	{ events, fields, settings }: TriggerParameters,
): Promise<Pick<Outcome, 'state' | 'events'>> {
	const { missing } = outcome;
	if (!events.has('deviceRemoved')) return settleMissing(outcome, { removed: [], elsewhere: missing }, before, fields);
	const search = await lookForMissing(platform, missing, settings, () => clock.random());
	const why = search.obstacle?.message;
	if (why !== undefined)
		log(context, 'warn', `could not ask for devices that may be removed, and tries again at the next poll: ${why}`);
	return settleMissing(outcome, search, before, fields);
}

/**
 * Writes the state, last of all and only where it changed.
 * @returns false where everything is left to the next poll
 * @throws Failure `input` for a state that is too large
 */
function commit(
	{ context, memory, turn }: Tick,
	{ handed, from, to, isQuiet }: { handed: string | undefined; from: string | undefined; to: string; isQuiet: boolean },
): boolean {
	if (memory.turn !== turn || stateOf(context) !== handed) {
		log(context, 'warn', 'found that its state changed during the poll, and leaves the work to the next poll');
		return false;
	}
	if (to.length > LARGEST_STATE) {
		throw inputFailure(
			`The trigger would have to remember ${megabytes(to.length)} MB, and can remember ${megabytes(LARGEST_STATE)} MB`,
			"Watch fewer devices with 'Filters', or fewer keys in 'Attributes'.",
		);
	}
	// If n8n hands out an older state again, it did not take the items of this poll: they have to come again.
	carryOn(memory, handed, isQuiet ? to : from);
	if (to !== handed) context.getWorkflowStaticData('node')[STATE_KEY] = to;
	return true;
}

/**
 * Says in the log why a poll failed, and reports it once in an outage; what a person has to mend also during another outage.
 * @throws n8n's error
 */
function fail(
	context: IPollFunctions,
	memory: NodeMemory,
	thrown: unknown,
	{ isFirst, budgetMs }: { isFirst: boolean; budgetMs: number },
): void {
	const callsPerson = needsPerson(thrown);
	const mode = context.getActivationMode();
	// At n8n's start an error would put off the activation of a workflow that was active, for up to a day.
	const isStart = isFirst && (mode === 'init' || mode === 'leadershipChange');
	const isSilent = isStart && !callsPerson && decodeState(stateOf(context)) !== undefined;
	// Somebody is waiting for the workflow to become active. A tick that n8n's scheduler runs has less time than this.
	const isAwaited = isFirst && (mode === 'activate' || (mode === 'update' && budgetMs >= USUAL_BUDGET_MS));
	const level = callsPerson ? 2 : 1;
	const reported = isAwaited ? 0 : (memory.outage ?? 0);
	const isDue = !isSilent && level > reported;
	memory.outage = isDue ? level : reported;
	const error = asNodeError(context.getNode(), thrown, undefined, false);
	log(context, 'warn', `could not poll: ${error.message}`);
	if (isDue) throw error;
}

/** Whether waiting does not help: the sign-in was refused, or the node or its credential is not filled in as it has to be. */
function needsPerson(thrown: unknown): boolean {
	if (!(thrown instanceof Failure)) return true;
	const { kind, cause, tokenRefused, final } = thrown.details;
	return kind === 'input' || cause === 'credential' || tokenRefused === true || final === true;
}

const megabytes = (characters: number) => Math.ceil(characters / 1_000_000);

/** A digest of what a state belongs to. With a key, whose owner is not known, another credential is another user. */
function fingerprintOf(
	context: IPollFunctions,
	{ events, attributes, criteria }: TriggerParameters,
	{ baseUrl, stored }: Credential,
): string {
	const user =
		stored.authentication === 'login'
			? ['login', stored.loginName.trim()]
			: ['apiKey', context.getNode().credentials?.[CREDENTIAL_TYPE]?.id ?? null];
	const watched = [[...events].sort(), attributes, JSON.parse(criteria.body), criteria.query];
	return digest(canonicalJson([context.getWorkflow().id ?? null, watched, baseUrl.href, user]));
}

function platformOptions({ settings }: TriggerParameters, clock: Clock, budgetMs: number) {
	const failure = () =>
		new Failure({
			kind: 'timeout',
			cause: 'platform',
			message: `The poll did not end within the ${Math.ceil(budgetMs / 1000)} seconds that n8n gives it`,
			remedy:
				"Raise 'Page Size' or 'Parallel Requests' under 'Options', or watch fewer devices with 'Filters'. Nothing is lost: the next poll begins where this one did.",
		});
	return { parallelRequests: settings.parallelRequests, clock, deadline: { at: clock.now() + budgetMs, failure } };
}

/** Makes the workflow's items of a poll's events. */
function itemsOf(
	events: readonly DeviceEvent[],
	{ output, emit }: TriggerParameters,
	now: number,
): INodeExecutionData[] {
	const detectedAt = new Date(now).toISOString();
	const shown = new Set<DeviceEvent['device']>();
	const items = events.map(({ event, eventId, device, ...change }): IDataObject => {
		// A workflow may write into an item; it must not find itself in another one.
		const own = shown.has(device) ? deepCopy(device) : device;
		shown.add(device);
		// What is known of a removed device is not the platform's record.
		const shaped = event === 'deviceRemoved' ? own : shapeDevice(own, output);
		return { event, eventId, detectedAt, ...change, device: shaped };
	});
	const isOne = emit === 'perPoll' && items.length > 0;
	return (isOne ? [{ count: items.length, events: items }] : items).map((json) => ({ json }));
}

/** Reads the parameters as they are for this poll. */
function readerOf(context: IPollFunctions): ReadParameter {
	return (name, fallback, options) => context.getNodeParameter(name, fallback, options);
}

function stateOf(context: IPollFunctions): string | undefined {
	const state = context.getWorkflowStaticData('node')[STATE_KEY];
	return typeof state === 'string' ? state : undefined;
}

function budgetOf(context: IPollFunctions): number {
	// n8n before 2.38 has no such function.
	const budget: unknown = Reflect.get(context, 'getPollBudgetMs');
	const given: unknown = typeof budget === 'function' ? budget.call(context) : undefined;
	return typeof given === 'number' && given > 0 ? given : USUAL_BUDGET_MS;
}

function log(context: IPollFunctions, level: 'info' | 'warn', words: string): void {
	const { name: nodeName } = context.getNode();
	context.logger[level](`The trigger "${nodeName}" ${words}`, { workflowId: context.getWorkflow().id, nodeName });
}
