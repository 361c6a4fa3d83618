import { inputFailure } from '../core/failure';
import { remember } from '../transport/auth/tokens';
import type { KnownOrder } from './read/order';
import { digest, digestOf } from './compare/kept';
import type { TimeField } from './compare/watched';

/** What a process remembers of a trigger node between polls. It may be lost at any time, so a poll must work without it. */
export interface NodeMemory {
	/**
	 * The state after quiet polls, `to`: some hosts of n8n return an older state then. `known`: digests of the states that n8n returned or
	 * polls wrote since the last report, the newest last.
	 */
	carry?: { readonly known: ReadonlySet<string>; readonly to: string };
	/** The running poll, which may write the state. After `until` (`Clock.now`), another poll may take its turn. */
	turn?: { until: number } | undefined;
	/** Whether a context polled twice, as only n8n's default host does. */
	keepsContext?: boolean;
	/** The number of the newest context of this node whose activation did not fail. Older ones do not poll. */
	newest?: number;
	/** What was reported of an outage: 0 nothing, 1 the outage, 2 that a person has to act. */
	outage?: 0 | 1 | 2 | undefined;
	/** When n8n last got an error, and the one before (`Clock.now`). */
	thrown?: { readonly last: number; readonly earlier: number };
	orders: ReadonlyMap<TimeField, KnownOrder>;
	/** When requests last found devices that are no longer listed, by serial number, in seconds. Forgotten after an hour. */
	found: ReadonlyMap<string, number>;
	/** What the last poll watched by its form: the saved parameters, their values, and the label of one that an expression changed. */
	watched?: { saved: string; values: Readonly<Record<string, unknown>>; moved: string | undefined };
	/** The remarks of the last poll, so that each is logged once. */
	remarks: readonly string[];
}

/** Most nodes to remember: the node that polled longest ago is forgotten first. */
const MAX_NODES = 1000;
/** Most digests of states per node. */
const MAX_STATES = 1000;

const memories = new Map<string, NodeMemory>();

/** Returns the memory of a node, as n8n finds its state. Of a new leader, only the running turn: another process may have polled since. */
export function memoryOf(workflowId: string, nodeName: string, isNewLeader = false): NodeMemory {
	const key = JSON.stringify([workflowId, nodeName]);
	const known = memories.get(key);
	const empty = { turn: known?.turn, orders: new Map(), found: new Map(), remarks: [] };
	// n8n repeats an activation that failed, in a new context. It has reported that failure.
	const hasPolled = known?.carry !== undefined || known?.keepsContext === true;
	return remember(memories, key, isNewLeader && hasPolled ? empty : (known ?? empty), MAX_NODES);
}

/** Forgets everything, as a restart of the process does. */
export function forgetPolls(): void {
	memories.clear();
}

/**
 * Returns the state to compare with. n8n may not have kept the state of quiet polls: then it is the carried one. An unknown
 * state comes from another process and is used as it is.
 */
export function carriedFrom({ carry }: NodeMemory, stored: string | undefined): string | undefined {
	return carry?.known.has(digest(stored ?? '')) === true ? carry.to : stored;
}

/**
 * Remembers the state that the next poll compares with.
 * @param stored the state that n8n returned
 * @param to the state that a quiet poll wrote; for a poll that reports something, the state without what it reports
 */
export function carryOn(memory: NodeMemory, stored: string | undefined, to: string): void {
	const now = digest(stored ?? '');
	const earlier = memory.carry?.known.has(now) === true ? [...memory.carry.known] : [];
	// One of the first two is in n8n's database, on a host that saves no quiet polls.
	memory.carry = { known: new Set([...earlier.slice(0, 2), ...earlier.slice(-MAX_STATES), now, digest(to)]), to };
}

/**
 * Remembers what a poll watches: the parameters, with unresolved expressions, and the values that decide about a baseline, by their labels.
 * @throws Failure `input` if an expression gave another value twice in a row: each poll would take a new baseline
 */
export function refuseMoving(memory: NodeMemory, saved: string, values: Readonly<Record<string, unknown>>): void {
	const last = memory.watched;
	const changed = Object.keys(values).find((label) => digestOf(last?.values[label]) !== digestOf(values[label]));
	const moved = last?.saved === saved ? changed : undefined;
	memory.watched = { saved, values, moved };
	if (moved === undefined || last?.moved === undefined) return;
	throw inputFailure(
		`'${moved}' has another value at each poll, so n8n can't compare the polls`,
		"Use a fixed value. To select devices by a value that changes, put n8n's Filter node behind the trigger.",
	);
}
