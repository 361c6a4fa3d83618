import type { IPollFunctions } from 'n8n-workflow';

import { inputFailure } from '../core/failure';
import { remember } from '../transport/account';
import type { LastList } from './newest';
import { digest } from './values';

/** What a process remembers of a trigger node between polls. It may be lost at any time, so a poll must work without it. */
export interface NodeMemory {
	/** The state after quiet polls, `to`: without durable cursors, n8n then returns an older one, whose digest is `known`. */
	carry?: { readonly known: readonly string[]; readonly to: string };
	/** The running poll, which may write the state. After `until` (`Clock.now`), another poll may take its turn. */
	turn?: { until: number } | undefined;
	/** The context of the newest activation. n8n may leave an older one running when a workflow is imported again and published. */
	activation?: IPollFunctions | undefined;
	/** The last error of an outage that n8n got, by `Clock.now`; undefined if the last poll succeeded. */
	outage?: { readonly at: number; readonly needsPerson: boolean } | undefined;
	/** The saved parameters of the last poll, their fingerprint, and whether only the latter had changed. */
	watched?: { readonly saved: string; readonly fingerprint: string; readonly hasMoved: boolean };
	/** The remarks of the last poll, so that each is logged once. */
	remarks: readonly string[];
	lastList?: LastList | undefined;
}

/** Most nodes to remember: the node that polled longest ago is forgotten first. */
const MAX_NODES = 1000;

const memories = new Map<string, NodeMemory>();

/** Returns the memory of a node, as n8n finds its state. Of a new leader, only the running turn: another process may have polled since. */
export function memoryOf(workflowId: string, nodeName: string, isNewLeader = false): NodeMemory {
	const key = JSON.stringify([workflowId, nodeName]);
	const known = memories.get(key);
	// n8n repeats an activation that failed, in a new context. It has reported that failure.
	const isStale = known === undefined || (isNewLeader && known.carry !== undefined);
	return remember(memories, key, isStale ? { turn: known?.turn, remarks: [] } : known, MAX_NODES);
}

/** Forgets everything, as a restart of the process does. */
export function forgetPolls(): void {
	memories.clear();
}

/** Returns the state to compare with: the carried one, unless n8n has another one, of another process or of before a lost report. */
export function carriedFrom({ carry }: NodeMemory, stored = ''): string {
	return carry?.known.includes(digest(stored)) === true ? carry.to : stored;
}

/** Remembers the state that a poll wrote, `to`. If n8n doesn't take the items of a poll, the next one begins where n8n's state ends. */
export function carryOn(
	{ carry }: NodeMemory,
	stored = '',
	to: string,
	isQuiet: boolean,
): Required<NodeMemory>['carry'] {
	const [handed, written] = [digest(stored), digest(to)];
	// One of the first two is in n8n's database: n8n saves the state of an activation's first poll, and of each one with items.
	const earlier = carry?.known.includes(handed) === true ? carry.known.slice(0, 2) : [];
	return { known: isQuiet ? [...earlier, handed, written] : [written], to };
}

/**
 * Notes what a poll watches: the saved parameters, with expressions, and the fingerprint of their values.
 * @throws Failure `input` if an expression gave another value twice in a row: each poll would take a new baseline
 */
export function refuseMoving(memory: NodeMemory, saved: string, fingerprint: string): void {
	const { watched: last } = memory;
	const hasMoved = last?.saved === saved && last.fingerprint !== fingerprint;
	memory.watched = { saved, fingerprint, hasMoved };
	if (!hasMoved || !last.hasMoved) return;
	throw inputFailure(
		"'Filters', 'Events' or 'Attributes' has another value at each poll, so n8n can't compare the polls",
		"Use fixed values. To select devices by a value that changes, put n8n's Filter node behind the trigger.",
	);
}
