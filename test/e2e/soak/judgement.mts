/**
 * What became of each change of the platform: reported once and in time, or lost, doubled, early or late, with the sentence of the
 * docs that says so, or as a fault. It knows the changes, what the platform was asked and what the receiver got. It shares no code
 * with the package.
 */

import { DOCS } from './docs.mts';

/** A change of a device's online status, as it was made. */
export interface Change {
	at: number;
	sn: string;
	value: string;
}

/** What the receiver got. */
export interface Report extends Change {
	eventId: string;
}

/** The first and the last request of a poll that read the whole fleet. */
export interface Poll {
	from: number;
	to: number;
}

export const DEVIATIONS = ['lost', 'lost in a poll', 'doubled', 'early', 'late'] as const;

/** `lost` is an event whose execution failed; `lost in a poll` is a change for which n8n started no execution. */
type Deviation = (typeof DEVIATIONS)[number];

/** A time in which something was done to n8n, its services or the platform, and for which the docs allow deviations. */
export interface Disturbance {
	name: string;
	from: number;
	/** When all was well again. n8n may need another interval to notice. */
	to: number;
	/** The sentences of the docs. */
	allows: Partial<Record<Deviation, string>>;
	/** Whether _For At Least (Minutes)_ may begin again. */
	restartsHolds?: boolean;
}

/** An execution that did not succeed. */
interface FailedExecution {
	/** When a poll started it. */
	at: number;
	/** The devices of its events; empty if n8n no longer has them, as when its worker was killed. */
	serialNumbers: readonly string[];
}

/** What is known of a trigger that polls every minute. */
export interface Watched {
	name: string;
	holdMs: number;
	reports: readonly Report[];
	polls: readonly Poll[];
	failed: readonly FailedExecution[];
}

export interface Verdict {
	trigger: string;
	/** What the change came after. */
	after: string;
	change: Change;
	/** `none due` came back too early to be an event, or was not seen by a poll; `pending` is not due yet. */
	outcome: 'reported' | 'none due' | 'pending' | Deviation;
	/** Beyond the wait and one interval. */
	lateMs: number;
	/** A sentence of the docs, or that it is a fault. */
	reason?: string | undefined;
}

export const FAULT = 'FAULT';
export const INTERVAL_MS = 60_000;
/** For the poll, the execution and its message on a machine that is busy. */
const SLACK_MS = 20_000;
/** n8n and the trigger count whole seconds. */
const SECOND_MS = 1000;

/** Returns what became of each change. The disturbances are in the order of their times. */
export function judge(
	journal: readonly Change[],
	triggers: readonly Watched[],
	disturbances: readonly Disturbance[],
	end: number,
): Verdict[] {
	const bySn = grouped(journal, ({ sn }) => sn);
	return triggers.flatMap((trigger) => [
		...[...bySn.values()].flatMap((changes) => judgeDevice(changes, trigger, disturbances, end)),
		...unknownReports(journal, trigger, disturbances),
	]);
}

/** A device goes offline and may come back; both are judged, and coming back only counts if going offline did. */
function judgeDevice(
	changes: readonly Change[],
	trigger: Watched,
	disturbances: readonly Disturbance[],
	end: number,
): Verdict[] {
	let base: Duty = 'due';
	return changes.map((change, at) => {
		const life = { trigger, change, until: changes[at + 1]?.at ?? Infinity, disturbances, end };
		const own = dutyOf(life);
		const duty: Duty = base === 'due' || own === 'none' ? own : base;
		const verdict = verdictOf(life, duty);
		base = baseAfter(verdict, duty, life);
		return verdict;
	});
}

/** Whether a change back is one: only if n8n took the change before as reported. A new baseline may have done so. */
function baseAfter({ outcome }: Verdict, duty: Duty, { change, until, disturbances }: Life): Duty {
	if (outcome === 'lost in a poll' || outcome === 'pending') return 'either';
	if (outcome !== 'none due') return 'due';
	const isRecorded = disturbances.some(
		({ from, to, restartsHolds }) => restartsHolds && to >= change.at && from <= until,
	);
	return isRecorded ? 'either' : duty;
}

/** Whether an event is due. `either`: it depends on the poll that disturbances may have ended. */
type Duty = 'due' | 'none' | 'either';

interface Life {
	trigger: Watched;
	change: Change;
	/** When the device changed again. */
	until: number;
	disturbances: readonly Disturbance[];
	end: number;
}

function dutyOf({ trigger: { polls, holdMs }, change, until, disturbances, end }: Life): Duty {
	const last = Math.min(until, end);
	const touching = polls.filter(({ from, to }) => to >= change.at - SECOND_MS && from <= last);
	if (touching.length === 0 || spanOf(touching) < holdMs - SECOND_MS) return until === Infinity ? 'due' : 'none';
	const sure = touching.filter(
		({ from, to }) =>
			from > change.at && to < last && !disturbances.some((each) => from < each.to + SLACK_MS && to > each.from),
	);
	const parts = grouped(sure, ({ from }) => disturbances.filter((each) => each.restartsHolds && each.to < from).length);
	const longest = Math.max(-1, ...[...parts.values()].map(spanOf));
	if (holdMs === 0 ? sure.length > 0 : longest > holdMs + SECOND_MS) return 'due';
	return until === Infinity ? 'due' : 'either';
}

function spanOf(polls: readonly Poll[]): number {
	return (polls.at(-1)?.from ?? 0) - (polls[0]?.from ?? 0);
}

function verdictOf(life: Life, duty: Duty): Verdict {
	const { trigger, change, disturbances, end } = life;
	const { at, sn, value } = change;
	const after = disturbances.findLast(({ from }) => from <= at)?.name ?? 'the start';
	const reports = trigger.reports.filter((report) => report.sn === sn && report.value === value && report.at >= at);
	const [first] = reports;
	const expected = at + trigger.holdMs + INTERVAL_MS;
	const verdict = { trigger: trigger.name, after, change, lateMs: Math.max(0, (first?.at ?? 0) - expected) };
	const latest = latestOf(life);
	/** The sentence for a deviation between the change and a time. */
	const reasonOf = (deviation: Deviation, to: number) => reasonIn(disturbances, deviation, at, to) ?? FAULT;
	if (first === undefined) {
		if (duty !== 'due') return { ...verdict, outcome: 'none due' };
		if (latest > end) return { ...verdict, outcome: 'pending' };
		const failed = trigger.failed.filter((each) => each.at >= at + trigger.holdMs - SECOND_MS && each.at <= latest);
		const lost = failed.find(({ serialNumbers }) => serialNumbers.length === 0 || serialNumbers.includes(sn));
		if (lost === undefined)
			return { ...verdict, outcome: 'lost in a poll', reason: reasonOf('lost in a poll', latest) };
		return {
			...verdict,
			outcome: 'lost',
			reason: reasonIn(disturbances, 'lost', lost.at, lost.at + INTERVAL_MS) ?? FAULT,
		};
	}
	if (duty === 'none' || first.at < at + trigger.holdMs - 2 * SECOND_MS) {
		return { ...verdict, outcome: 'early', reason: reasonOf('early', first.at) };
	}
	if (reports.length > 1) {
		const isSame = new Set(reports.map(({ eventId }) => eventId)).size === 1;
		const reason = isSame ? reasonOf('doubled', reports.at(-1)?.at ?? 0) : FAULT;
		return { ...verdict, outcome: 'doubled', reason };
	}
	if (verdict.lateMs <= SLACK_MS) return { ...verdict, outcome: 'reported' };
	const isCounted = trigger.holdMs > 0 && verdict.lateMs <= INTERVAL_MS + SLACK_MS;
	// It was seen up to an interval after it was made, and its wait ended up to an interval before a poll.
	if (isCounted) return { ...verdict, outcome: 'late', reason: DOCS.countedFromPoll };
	return { ...verdict, outcome: 'late', reason: first.at <= latest ? reasonOf('late', first.at) : FAULT };
}

/** When an event has to be there: disturbances put off the polls, and may let the wait begin again. */
function latestOf({ trigger: { holdMs }, change, disturbances }: Life): number {
	let seen = change.at + INTERVAL_MS;
	for (const { from, to } of disturbances)
		if (seen >= from && change.at < to) seen = Math.max(seen, to + 2 * INTERVAL_MS);
	let due = holdMs === 0 ? seen : seen + holdMs + INTERVAL_MS;
	for (const { from, to, restartsHolds = false } of disturbances) {
		if (due < from || change.at > to) continue;
		const restarted = restartsHolds && holdMs > 0 ? holdMs + INTERVAL_MS : 0;
		if (restarted > 0 || due < to + 2 * INTERVAL_MS) due = Math.max(due, to + 2 * INTERVAL_MS + restarted);
	}
	return due + SLACK_MS;
}

/** Events of no change: the platform's devices change only as the journal says. */
function unknownReports(
	journal: readonly Change[],
	{ name, reports }: Watched,
	disturbances: readonly Disturbance[],
): Verdict[] {
	return reports
		.filter(({ at, sn, value }) => !journal.some((one) => one.sn === sn && one.value === value && one.at <= at))
		.map((change) => {
			const after = disturbances.findLast(({ from }) => from <= change.at)?.name ?? 'the start';
			return { trigger: name, after, change, outcome: 'early' as const, lateMs: 0, reason: FAULT };
		});
}

/** A disturbance explains what happened from its beginning until an interval after its end. */
function reasonIn(
	disturbances: readonly Disturbance[],
	deviation: Deviation,
	from: number,
	to: number,
): string | undefined {
	const near = disturbances.filter((each) => each.from <= to && each.to + 2 * INTERVAL_MS >= from);
	return near.map(({ name, allows }) => allows[deviation] && `${allows[deviation]} (${name})`).find(Boolean);
}

/** `Map.groupBy`, which Node.js 20 doesn't have. */
export function grouped<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
	const groups = new Map<Key, Item[]>();
	for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
	return groups;
}
