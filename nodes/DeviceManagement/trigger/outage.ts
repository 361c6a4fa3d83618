import { Failure } from '../core/failure';

/** What is remembered of polls that keep failing. */
export interface Outage {
	/** When an error was last reported, in milliseconds since the epoch; undefined while none was. */
	readonly reportedAt: number | undefined;
	/** The same for what only a person can mend. */
	readonly personCalledAt: number | undefined;
}

/** How long an outage stays silent between two reports. */
const HOUR_MS = 3_600_000;

/**
 * Whether a failing poll has to be reported: the first one, and one an hour. What only a person can mend is reported at
 * once, also amid an outage of another kind.
 * @param outage undefined where the poll before did not fail
 * @param callsPerson see {@link needsPerson}
 * @param silent whether it must not be reported this time
 */
export function reportFailure(
	outage: Outage | undefined,
	{ now, callsPerson, silent }: { now: number; callsPerson: boolean; silent: boolean },
): { report: boolean; outage: Outage } {
	const due = (last: number | undefined) => last === undefined || now - last >= HOUR_MS || now < last;
	const report = !silent && (due(outage?.reportedAt) || (callsPerson && due(outage?.personCalledAt)));
	if (!report) return { report, outage: outage ?? { reportedAt: undefined, personCalledAt: undefined } };
	return { report, outage: { reportedAt: now, personCalledAt: callsPerson ? now : outage?.personCalledAt } };
}

/** Whether waiting does not help: the sign-in was refused, or the node or its credential is not filled in as it has to be. */
export function needsPerson(thrown: unknown): boolean {
	if (!(thrown instanceof Failure)) return true;
	const { kind, cause, tokenRefused, final } = thrown.details;
	return kind === 'input' || cause === 'credential' || tokenRefused === true || final === true;
}
