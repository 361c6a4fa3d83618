import type { IPollFunctions } from 'n8n-workflow';

import { inputFailure } from '../../core/failure';
import { remember } from '../../core/remember';
import type { LastList } from '../fleet/newest';
import { decodeState, type State } from '../changes/state';
import { digestOf } from '../changes/values';

/** What a process remembers of a trigger node between polls. It may be lost at any time, so a poll must work without it. */
export interface NodeMemory {
	/** The state after quiet polls, `to`: without durable cursors, n8n then returns an older one, which is `known`. */
	carry?: { readonly known: readonly string[]; readonly to: string };
	/** The running poll, which may write the state. After `until` (`Clock.now`), another poll may take its turn. */
	turn?: { until: number } | undefined;
	/** The context of the newest activation. n8n may leave an older one running when a workflow is imported again and published. */
	activation?: IPollFunctions | undefined;
	/** When n8n got the last error of an outage and the one before (`Clock.now`); undefined if the last poll succeeded. */
	outage?: { readonly at: number; readonly before: number; readonly needsPerson: boolean } | undefined;
	/** The last state that was read from its text. Most polls change nothing, and the next one needs the same. */
	decoded?: { readonly text: string | undefined; readonly state: State | undefined };
	/** The saved parameters of the last poll, digests of their values by label, and the label of a value that an expression changed. */
	watched?: { saved: string; digests: ReadonlyMap<string, string>; moved: string | undefined };
	/** The remarks of the last poll, so that each is logged once. */
	remarks: readonly string[];
	lastList?: LastList | undefined;
}

/** Most nodes to remember: the node that polled longest ago is forgotten first. */
const MAX_NODES = 1000;

const memories = new Map<string, NodeMemory>();

/** Returns the memory of a node. A new leader keeps only the running turn: another process may have polled since. */
export function memoryOf(workflowId: string, nodeName: string, isNewLeader = false): NodeMemory {
	const key = JSON.stringify([workflowId, nodeName]);
	const known = memories.get(key);
	// n8n repeats an activation that failed, in a new context. It has reported that failure.
	const isStale = known === undefined || (isNewLeader && known.activation !== undefined);
	return remember(memories, key, isStale ? { turn: known?.turn, remarks: [] } : known, MAX_NODES);
}

/** Forgets everything, as a restart of the process does. */
export function forgetPolls(): void {
	memories.clear();
}

/** Returns the state to compare with: the carried one, unless n8n has another one, of another process or of before a lost report. */
export function carriedFrom({ carry }: NodeMemory, stored = ''): string {
	return carry?.known.includes(stored) === true ? carry.to : stored;
}

/** Returns the state of a text. In it, equal entries are one object. */
export function decodedIn(memory: NodeMemory, text: string | undefined): State | undefined {
	if (memory.decoded?.text !== text) memory.decoded = { text, state: decodeState(text) };
	return memory.decoded?.state;
}

/** Remembers the state that a poll wrote, `to`. If n8n doesn't take the items of a poll, the next one begins where n8n's state ends. */
export function carryOn(memory: NodeMemory, stored = '', to: string, isQuiet: boolean): void {
	const known = memory.carry?.known ?? [];
	// One of the first two is in n8n's database: n8n saves the state of an activation's first poll, and of each one with items.
	const earlier = known.includes(stored) ? known.slice(0, 2) : [];
	memory.carry = { known: isQuiet ? [...new Set([...earlier, stored, to])] : [to], to };
}

/**
 * Notes what a poll watches: the saved parameters, with expressions, and the values that decide about a baseline, by their labels.
 * @throws Failure `input` if an expression gave another value twice in a row: each poll would take a new baseline
 */
export function refuseUnstable(memory: NodeMemory, saved: string, watched: Readonly<Record<string, unknown>>): void {
	const { watched: last } = memory;
	const digests = new Map(Object.entries(watched).map(([label, value]) => [label, digestOf(value)]));
	const changed = [...digests].find(([label, digest]) => digest !== last?.digests.get(label));
	const moved = last?.saved === saved ? changed?.[0] : undefined;
	memory.watched = { saved, digests, moved };
	if (moved === undefined || last?.moved === undefined) return;
	throw inputFailure(
		`'${moved}' has a different value at each poll`,
		"Use a fixed value, or add n8n's Filter node after the trigger.",
	);
}
