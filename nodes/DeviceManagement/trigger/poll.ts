/**
 * One poll of the trigger. It reports each change since the last poll once: it reads the fleet, compares it with the state that n8n
 * has, and writes the new state. It doesn't decide what is read or what a change is: docs/maintainers/trigger.md.
 */
import type { INodeExecutionData, IPollFunctions } from 'n8n-workflow';

import { type Failure, inputFailure } from '../core/failure';
import { asNodeError, withoutAuthorization } from '../nodeError';
import { currentClock } from '../transport/waiting/clock';
import type { Credential } from '../transport/auth/credential';
import { loadCredential, openPlatform } from '../transport/platform';
import { compare, type State } from './compare/compare';
import { type Host, hostOf } from './host';
import { itemsOf } from './items';
import { carriedFrom, carryOn, memoryOf, refuseMoving } from './memory';
import { noteOutage, tooLate } from './outage';
import { observe } from './read/observe';
import { readTriggerParameters, type TriggerParameters } from './form';
import { refuseFarAhead } from './compare/recent';
import { forgetAway } from './compare/snapshot';
import { decodeState, encodeState } from './state';
import { fetchTestEvents } from './read/testEvent';
import { digestOf } from './compare/kept';

/** Largest state, in characters: two million serial numbers of 20. n8n loads and saves it with the workflow. */
const LARGEST_STATE = 50_000_000;
/** Time that a poll may need to end after its deadline. */
const GRACE_MS = 60_000;

/**
 * Runs one poll and returns its items; null if there is nothing to report.
 * @param open opens the platform; tests of many polls use one without HTTP
 * @throws n8n's error, once per outage
 */
export async function pollDevices(
	context: IPollFunctions,
	open = openPlatform,
): Promise<INodeExecutionData[][] | null> {
	const host = hostOf(context);
	if (context.getMode() === 'manual') return await pollManually(host);
	const poll = beginPoll(host);
	if (poll === undefined) return null;
	try {
		return await pollOnce(poll, open);
	} catch (thrown) {
		// If another poll has taken over, it reports the failure.
		if (poll.memory.turn === poll.turn) reportFailure(poll, thrown);
		return null;
	} finally {
		poll.turn.until = 0;
	}
}

type Poll = NonNullable<ReturnType<typeof beginPoll>>;

/** Returns what a poll needs; undefined if a newer activation polls instead, or the previous poll is still running. */
function beginPoll(host: Host) {
	const memory = memoryOf(host.workflowId ?? '', host.node.name, host.isNewLeader);
	const { newest: replaced = 0 } = memory;
	// n8n may leave an activation running when the workflow is imported again and published. It would report everything again.
	if (host.order < replaced) return undefined;
	memory.newest = host.order;
	if (!host.isFirst) memory.keepsContext = true;
	const now = currentClock().now();
	if (memory.turn !== undefined && now < memory.turn.until) {
		host.log('info', 'skips this poll, because the previous one is still running');
		return undefined;
	}
	const turn = { until: now + host.budgetMs + GRACE_MS };
	memory.turn = turn;
	return { host, memory, turn, isFirstOfProcess: memory.carry === undefined, replaced };
}

/** Returns the items of “Fetch Test Event”: the newest devices as events. */
async function pollManually({ context, node, budgetMs }: Host): Promise<INodeExecutionData[][]> {
	try {
		const parameters = readTriggerParameters(context);
		const platform = await openPlatform(context, platformOptions(parameters, budgetMs));
		const events = await fetchTestEvents(platform, parameters).finally(() => platform.stop());
		return [itemsOf(events, parameters, { sample: true })];
	} catch (thrown) {
		throw asNodeError(node, thrown);
	}
}

async function pollOnce(poll: Poll, open: typeof openPlatform): Promise<INodeExecutionData[][] | null> {
	const { host, memory, turn, isFirstOfProcess } = poll;
	const parameters = readTriggerParameters(host.context);
	refuseMoving(memory, JSON.stringify(host.node.parameters), watchedBy(parameters));
	const credential = await loadCredential(host.context);
	const now = Math.floor(currentClock().date() / 1000);
	const stored = host.readState();
	const base = carriedFrom(memory, stored);
	const before = stateBefore(poll, base, fingerprintOf(host, parameters, credential), now);
	const platform = await open(host.context, platformOptions(parameters, host.budgetMs), credential);
	const options = { ...parameters, now, orders: memory.orders, found: memory.found };
	const observation = await observe(platform, options, before).finally(() => platform.stop());
	const { state, untaken, events } = compare(before, observation, { ...parameters, now, isFirstOfProcess });
	const items = itemsOf(events, parameters);
	const writes = (state.writes ?? 0) + 1;
	// A poll that reports something raises the number, so its text is another one.
	const isSame = items.length === 0 && encodeState(state) === base;
	const to = isSame ? base : encodeState({ ...state, writes });
	// If n8n returns an older state later, it did not accept this poll's items, and the next poll must report them again.
	const carried = items.length === 0 ? to : encodeState({ ...untaken, writes });
	if (memory.turn !== turn || host.readState() !== stored) {
		const why = 'its state changed during the poll. The next poll reports the changes';
		host.log('warn', `reports nothing, because ${why}`);
		return null;
	}
	if (to.length > LARGEST_STATE) {
		throw inputFailure(
			`The trigger would have to store ${Math.ceil(to.length / 1_000_000)} MB, but it can store only ${LARGEST_STATE / 1_000_000} MB`,
			"Watch fewer devices with 'Filters', or fewer keys in 'Attributes'.",
		);
	}
	// From here on, no step can fail.
	carryOn(memory, stored, carried);
	if (to !== stored) host.writeState(to);
	memory.orders = observation.orders;
	memory.found = observation.found;
	if (memory.outage !== undefined) host.log('info', 'can poll again');
	memory.outage = undefined;
	for (const words of observation.remarks) if (!memory.remarks.includes(words)) host.log('warn', words);
	memory.remarks = observation.remarks;
	return items.length > 0 ? [items] : null;
}

/**
 * Returns the state that a poll compares with. For a baseline, it is empty: then the log says why, and the orders are forgotten.
 * @param base the text of the last state
 */
function stateBefore(poll: Poll, base: string | undefined, fingerprint: string, now: number): State {
	const { host, memory, isFirstOfProcess } = poll;
	const last = decodeState(base);
	if (last?.fingerprint === fingerprint) {
		refuseFarAhead(last.recent, now);
		// What was held may have come back in a quiet poll before the start, which n8n's default host did not save. A missing
		// device may have come back, too: its hour starts again.
		const startsHolds = isFirstOfProcess && host.isDefault(memory.keepsContext);
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
	if (base !== undefined) host.log('warn', words);
	const number = Math.max(now, (last?.number ?? 0) + 1);
	return { fingerprint, number, writes: undefined, recent: new Map(), snapshot: undefined };
}

/** Logs why a poll failed, and throws n8n's error if it is due. */
function reportFailure(poll: Poll, thrown: unknown): void {
	const { host, memory, replaced } = poll;
	const error = asNodeError(host.node, withoutAuthorization(thrown));
	host.log('warn', `could not poll: ${error.message}`);
	if (!noteOutage(host, memory, thrown, error.failure?.cause)) return;
	// n8n does not accept this activation, so that the one before goes on.
	if (host.isFirst) memory.newest = replaced;
	throw error;
}

/** Returns the fingerprint of a state. An API key doesn't name its user, so the ID of the credential counts as the user. */
function fingerprintOf(host: Host, parameters: TriggerParameters, credential: Credential): string {
	// The way to sign in comes first.
	const [way, ...names] = credential.user;
	const user = [way, ...(names.length > 0 ? names : [host.credentialId])];
	const { Events, Attributes, Filters } = watchedBy(parameters);
	return digestOf([host.workflowId ?? null, [Events, Attributes, ...Filters], credential.baseUrl.href, user]);
}

/** Returns the values that decide about a baseline, by the labels of their fields. */
function watchedBy({ events, attributes, criteria, own }: TriggerParameters) {
	const Filters: unknown[] = [JSON.parse(criteria.body), criteria.query, ...(own ? [own] : [])];
	return { Events: [...events].sort(), Attributes: attributes, Filters };
}

function platformOptions({ settings }: TriggerParameters, budgetMs: number) {
	const failure = (rateLimit: Failure | undefined) => tooLate(budgetMs, rateLimit);
	return { parallelRequests: settings.parallelRequests, deadline: { ms: budgetMs, failure } };
}
