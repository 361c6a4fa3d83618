import { concernsSignIn, Failure, timeInWords } from '../../core/failure';
import { currentClock } from '../../transport/waiting/clock';
import type { Host } from './host';
import { decodedIn, type NodeMemory } from './memory';

/** Shorter than n8n's pause of half an hour, by the database's clock. A quiet poll after the pause would look like a success. */
const PAUSE_MS = 29 * 60_000;

/**
 * Notes a failed poll, and returns whether n8n gets its error: once per outage, for a failure that a person must fix also during another
 * outage, and with durable cursors after each pause of n8n.
 */
export function noteOutage(host: Host, memory: NodeMemory, thrown: unknown): boolean {
	const at = currentClock().now();
	const { outage: reported } = memory;
	const needsPerson = isForPerson(thrown);
	const mayPause = !host.hasTimer && host.hasCursor();
	const isAfterPause = mayPause && reported !== undefined && at - reported.before >= PAUSE_MS;
	const isNews = reported === undefined || (needsPerson && (!reported.needsPerson || isAfterPause));
	// At n8n's start, an error would delay the activation, for up to a day.
	const delaysStart = host.isStart && !needsPerson && decodedIn(memory, host.readState()) !== undefined;
	const isDue = host.isAwaited || (isNews && !delaysStart);
	if (isDue) memory.outage = { at, before: reported?.at ?? -Infinity, needsPerson };
	return isDue;
}

/** Whether a person must act: the sign-in was refused or failed for good, or a field of the node or its credential is invalid. */
function isForPerson(thrown: unknown): boolean {
	if (!(thrown instanceof Failure)) return true;
	const { kind, signInFailed } = thrown.details;
	return kind === 'input' || signInFailed === 'for good' || concernsSignIn(thrown.details);
}

/** Returns the failure of a poll that ran out of time. It has no other fields of the rate limit: the poll isn't sent again. */
export function tooLate(budgetMs: number, rateLimit: Failure | undefined): Failure {
	const limit = `n8n's limit of ${timeInWords(budgetMs)}`;
	const { httpStatus, retryAfterMs } = rateLimit?.details ?? {};
	let message = `The poll didn't end within ${limit}`;
	let todo = "Raise 'Page Size' or 'Parallel Requests' under 'Options', or watch fewer devices with 'Filters'.";
	if (rateLimit !== undefined) {
		message = `The platform's rate limit delayed the poll beyond ${limit}`;
		todo = 'Poll less often, or run other workflows of this account less often.';
	}
	const remedy = `${todo} No event is lost.`;
	return new Failure({ kind: 'timeout', cause: 'platform', message, remedy, httpStatus, retryAfterMs });
}
