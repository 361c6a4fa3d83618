import type { KnownOrder, TimeField } from './newest';
import type { Outage } from './outage';

/**
 * What the process remembers of one trigger node between polls. It is help, not truth: all of it may be gone at any time,
 * and another process has its own.
 */
export interface NodeMemory {
	/**
	 * What a poll made of the state that n8n handed out, without anything to report. Some hosts keep no state of such a
	 * poll and hand out the same again.
	 */
	carry?: { readonly from: string | undefined; readonly to: string } | undefined;
	/** The poll under way. */
	turn?: Turn | undefined;
	outage?: Outage | undefined;
	/** What is known of the platform's orders, and since when, in milliseconds since the epoch. */
	readonly orders: Map<TimeField, KnownOrder & { readonly at: number }>;
	/** The times for which the last poll read the whole fleet, because it could not rely on the order. */
	slow: ReadonlySet<TimeField>;
	/** What the log said, and need not say again as long as it is so. */
	readonly said: Set<Remark>;
}

/** What the log says once: that the counts disagree; of a time, that no order can be relied on or no stock was taken yet. */
export type Remark = 'miscounted' | `${'unordered' | 'moving'} ${TimeField}`;

/** The right of one poll to change things. */
export interface Turn {
	/** Milliseconds since the epoch; a poll that is not back by then counts as lost. */
	readonly until: number;
}

/** Characters of states that are carried, over all nodes. */
const MOST_CARRIED = 200_000_000;
const MOST_NODES = 10_000;

const memories = new Map<string, NodeMemory>();

/** The memory of a node, by its workflow and its name: by these n8n keeps its state, too. */
export function memoryOf(workflowId: string, nodeName: string): NodeMemory {
	const key = JSON.stringify([workflowId, nodeName]);
	const memory = memories.get(key) ?? { orders: new Map(), slow: new Set<TimeField>(), said: new Set<Remark>() };
	// The one used last stands last.
	memories.delete(key);
	memories.set(key, memory);
	dropOldest();
	return memory;
}

/** Forgets everything, as a restart of the process does. */
export function forgetPolls(): void {
	memories.clear();
}

/**
 * Takes the turn of a node.
 * @returns undefined while another poll has it
 */
export function takeTurn(memory: NodeMemory, now: number, budgetMs: number): Turn | undefined {
	if (memory.turn !== undefined && now < memory.turn.until) return undefined;
	memory.turn = { until: now + budgetMs + GRACE_MS };
	return memory.turn;
}

/** Gives a turn back, unless another poll took it meanwhile. */
export function giveBack(memory: NodeMemory, turn: Turn): void {
	if (memory.turn === turn) memory.turn = undefined;
}

/** How long after its deadline a poll may need to end. */
const GRACE_MS = 60_000;

function dropOldest(): void {
	let carried = 0;
	for (const { carry } of memories.values()) carried += (carry?.from?.length ?? 0) + (carry?.to.length ?? 0);
	for (const [key, { carry }] of memories) {
		if (carried <= MOST_CARRIED && memories.size <= MOST_NODES) return;
		if (memories.size === 1) return;
		carried -= (carry?.from?.length ?? 0) + (carry?.to.length ?? 0);
		memories.delete(key);
	}
}
