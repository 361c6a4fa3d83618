/**
 * One poll of the trigger. It reports each change since the last poll once: it reads the fleet, compares each device with the state
 * that n8n has, and writes the new state last. What a change is: step.ts.
 */
import type { INodeExecutionData, IPollFunctions } from 'n8n-workflow';

import { type Failure, inputFailure } from '../../core/failure';
import { asNodeError, withoutAuthorization } from '../../nodeError';
import type { Credential } from '../../transport/auth/credential';
import { loadCredential, openPlatform } from '../../transport/platform';
import { currentClock } from '../../transport/waiting/clock';
import { observe } from '../fleet/fleet';
import { readTriggerParameters, type TriggerParameters } from '../form/form';
import { type Host, hostOf } from './host';
import { itemsOf } from './items';
import { carriedFrom, carryOn, decodedIn, memoryOf, type NodeMemory, refuseUnstable } from './memory';
import { noteOutage, tooLate } from './outage';
import { encodeState, type State } from '../changes/state';
import { fetchTestEvents } from './testEvent';
import { digestOf } from '../changes/values';

type Output = INodeExecutionData[][] | null;

/** Largest state, in characters: two million serial numbers of 20. n8n loads and saves it with the workflow. */
const LARGEST_STATE = 50_000_000;
const GRACE_MS = 60_000;

/**
 * Runs one poll and returns its items; null if there is nothing to report.
 * @param open opens the platform; tests of many polls use one without HTTP
 * @throws n8n's error, once per outage
 */
export async function pollDevices(context: IPollFunctions, open = openPlatform): Promise<Output> {
	const host = hostOf(context);
	if (context.getMode() === 'manual') return await pollManually(host);
	const memory = memoryOf(host.workflowId ?? '', host.node.name, host.isNewLeader);
	// An older activation would report everything again.
	if (!host.isFirst && (memory.activation ?? context) !== context) return null;
	memory.activation = context;
	const now = currentClock().now();
	if (memory.turn !== undefined && now < memory.turn.until) {
		host.log('info', 'skips this poll, because the previous one is still running');
		return null;
	}
	const turn = { until: now + host.budgetMs + GRACE_MS };
	memory.turn = turn;
	try {
		return await pollOnce(host, memory, open);
	} catch (thrown) {
		const error = asNodeError(host.node, withoutAuthorization(thrown));
		// If another poll has taken over, it reports the failure.
		if (memory.turn !== turn) return null;
		host.log('warn', `couldn't poll: ${error.message}`);
		if (!noteOutage(host, memory, thrown)) return null;
		// n8n doesn't accept this activation, so that the one before goes on.
		if (host.isFirst) memory.activation = undefined;
		throw error;
	} finally {
		turn.until = 0;
	}
}

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

async function pollOnce(host: Host, memory: NodeMemory, open: typeof openPlatform): Promise<Output> {
	const { turn } = memory;
	const parameters = readTriggerParameters(host.context);
	const credential = await loadCredential(host.context);
	const now = Math.floor(currentClock().date() / 1000);
	const stored = host.readState();
	const last = host.hasCursor() ? stored : carriedFrom(memory, stored);
	refuseUnstable(memory, JSON.stringify(host.node.parameters), watchedBy(parameters));
	const fields = parameters.fields.map(({ name }) => name);
	const fingerprint = fingerprintOf(host, parameters, credential);
	const before = stateBefore(host, decodedIn(memory, last), now, fingerprint, fields);
	const platform = await open(host.context, platformOptions(parameters, host.budgetMs), credential);
	const { carry, remarks, lastList } = memory;
	const options = { ...parameters, now, isFirstOfProcess: carry === undefined, lastList };
	const { events, found, ...seen } = await observe(platform, before, options).finally(() => platform.stop());
	const items = itemsOf(events, parameters);
	const after: State = { ...before, ...seen, number: before.number + (events.length > 0 ? 1 : 0) };
	// To write a large state takes time, and most polls change nothing.
	const isSame = Object.entries(before).every(([name, value]) => value === after[name as keyof State]);
	const to = isSame && last !== undefined ? last : encodeState(after);
	refuseTooLarge(to);
	if (memory.turn !== turn || host.readState() !== stored) {
		host.log('warn', 'skips this poll, because its state changed. The next poll reports the changes');
		return null;
	}
	// From here on, no step can fail.
	carryOn(memory, stored, to, items.length === 0);
	if (to !== stored) host.writeState(to);
	if (memory.outage !== undefined) host.log('info', 'can poll again');
	for (const words of found.remarks ?? []) if (!remarks.includes(words)) host.log('warn', words);
	Object.assign(memory, { ...found, outage: undefined });
	return items.length > 0 ? [items] : null;
}

/** Returns the state that a poll compares with. For a baseline, it is empty, and the log says why. */
function stateBefore(host: Host, last: State | undefined, now: number, fingerprint: string, fields: string[]): State {
	if (last?.fingerprint === fingerprint) return last;
	const why =
		last === undefined
			? "it can't read its saved state"
			: "'Events', 'Attributes', 'Filters', the workflow, the platform, or the user changed";
	const words = `starts over, because ${why}. Changes since the last poll aren't reported`;
	if (host.readState() !== undefined) host.log('warn', words);
	const number = Math.max(now, (last?.number ?? 0) + 1);
	return { fingerprint, number, since: undefined, newest: '', fields, devices: new Map() };
}

function refuseTooLarge({ length }: string): void {
	if (length <= LARGEST_STATE) return;
	throw inputFailure(
		`The trigger needs ${Math.ceil(length / 1_000_000)} MB, but can store only ${LARGEST_STATE / 1_000_000} MB`,
		"Watch fewer devices with 'Filters', or fewer 'Attributes'.",
	);
}

/** Returns the fingerprint of a state. An API key doesn't name its user, so the ID of the credential counts as the user. */
function fingerprintOf(host: Host, parameters: TriggerParameters, credential: Credential): string {
	const { authentication, loginName } = credential.stored;
	const user = [authentication, credential.signsIn ? loginName : host.credentialId];
	return digestOf([host.workflowId ?? null, watchedBy(parameters), credential.baseUrl.href, user]);
}

function watchedBy({ events, attributes, criteria, own }: TriggerParameters) {
	const Filters = [JSON.parse(criteria.body), criteria.query, own];
	return { Events: [...events].sort(), Attributes: attributes, Filters };
}

function platformOptions({ settings }: TriggerParameters, budgetMs: number) {
	const deadline = { ms: budgetMs, failure: (rateLimit?: Failure) => tooLate(budgetMs, rateLimit) };
	return { parallelRequests: settings.parallelRequests, deadline };
}
