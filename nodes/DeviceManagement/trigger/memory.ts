/**
 * What the process remembers of trigger nodes between polls, in the order in which they polled last. It is help, not truth: all
 * of it may be gone at any time, and another process has its own.
 */
import type { KnownOrders } from './newest';
import { digest } from './values';

export interface NodeMemory {
	/** What polls made of the state since the last report. Some hosts hand out an older state after a quiet poll. */
	carry?: Carry | undefined;
	/** The poll under way. */
	turn?: Turn | undefined;
	/** What was reported of an outage: 0 nothing yet, 1 that it is there, 2 that a person has to act. */
	outage?: 0 | 1 | 2 | undefined;
	readonly orders: KnownOrders;
	/** What the last poll found, so that the log says it once. */
	remarks: readonly string[];
}

interface Carry {
	/** Digests of the states that n8n handed out or that polls wrote since the last report; the newest are last. */
	readonly met: ReadonlySet<string>;
	/** The state that the quiet polls came to. */
	readonly to: string;
}

/** The right of one poll to change things. */
export interface Turn {
	/** Milliseconds since the epoch; a poll that is not back by then counts as lost. */
	readonly until: number;
}

/** Characters that the process keeps for all nodes, each of which counts as so many beside its state. */
const MOST_KEPT = 200_000_000;
const NODE_WEIGHT = 20_000;
/** States of one node that are told from others. */
const MOST_MET = 1000;
/** How long after its deadline a poll may need to end. */
const GRACE_MS = 60_000;

const memories = new Map<string, NodeMemory>();

/** The memory of a node, by its workflow and its name: by these n8n keeps its state, too. */
export function memoryOf(workflowId: string, nodeName: string): NodeMemory {
	const key = JSON.stringify([workflowId, nodeName]);
	const memory: NodeMemory = memories.get(key) ?? {
		orders: { kept: new Map(), avoided: new Map(), readWholeAt: new Map() },
		remarks: [],
	};
	// The one used last is last.
	memories.delete(key);
	memories.set(key, memory);
	dropOldest();
	return memory;
}

/** Forgets everything, as a restart of the process does. */
export function forgetPolls(): void {
	memories.clear();
}

/** Forgets what is known of a platform that may be another one now. */
export function forgetPlatform({ orders }: NodeMemory): void {
	for (const known of Object.values(orders)) known.clear();
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

/**
 * The state to compare with: what quiet polls made of the one that n8n hands out, which n8n may not have kept. A state that is
 * not known comes from another process and is taken as it is.
 */
export function carriedFrom({ carry }: NodeMemory, handed: string | undefined): string | undefined {
	return carry?.met.has(digest(handed ?? '')) === true ? carry.to : handed;
}

/**
 * Remembers what a poll came to.
 * @param to what a quiet poll wrote; of a poll that reports something, what it compared with
 */
export function carryOn(memory: NodeMemory, handed: string | undefined, to: string | undefined): void {
	const now = [handed, to].map((text) => digest(text ?? ''));
	const earlier = [...(memory.carry?.met ?? [])];
	const met = earlier.some((one) => one === now[0]) ? earlier.filter((one) => !now.includes(one)).slice(-MOST_MET) : [];
	memory.carry = to === undefined ? undefined : { met: new Set([...met, ...now]), to };
}

function dropOldest(): void {
	const weightOf = ({ carry }: NodeMemory) => NODE_WEIGHT + (carry?.to.length ?? 0);
	let weight = [...memories.values()].reduce((sum, memory) => sum + weightOf(memory), 0);
	for (const [key, memory] of memories) {
		if (memories.size === 1 || weight <= MOST_KEPT) return;
		weight -= weightOf(memory);
		memories.delete(key);
	}
}
