import { concernsSignIn, Failure } from '../core/failure';
import { currentClock } from '../transport/waiting/clock';
import { timeInWords } from '../transport/waiting/retry';
import type { Host } from './host';
import type { NodeMemory } from './memory';
import { decodeState } from './state';

/** Shorter than n8n's pause of half an hour, which n8n measures by the database's clock. */
const PAUSE_MS = 29 * 60_000;

/**
 * Notes a failed poll, and returns whether n8n gets its error: once per outage, for a failure that a person must fix also during
 * another outage, and after each pause of n8n.
 * @param cause n8n's class of the error
 */
export function noteOutage(host: Host, memory: NodeMemory, thrown: unknown, cause = ''): boolean {
	const level = needsPerson(thrown) ? 2 : 1;
	const { outage: reported = 0, thrown: before = { last: -Infinity, earlier: -Infinity } } = memory;
	const now = currentClock().now();
	const isDefault = host.isDefault(memory.keepsContext);
	// After these causes, n8n pauses, and takes the poll after the pause for a success unless it throws. If n8n doesn't pause, it
	// gets two errors in half an hour.
	const isAfterPause = !isDefault && host.hasCursor() && cause.endsWith('-invalid') && now - before.earlier >= PAUSE_MS;
	// A person is waiting for the activation.
	const isAwaited = host.isFirst && !host.isStart && isDefault;
	// At n8n's start, an error would only delay the activation, for up to a day.
	const delaysStart = level === 1 && host.isStart && decodeState(host.readState()) !== undefined;
	const isDue = isAwaited || isAfterPause || (level > reported && !delaysStart);
	memory.outage = isDue ? level : reported;
	if (isDue) memory.thrown = { last: now, earlier: before.last };
	return isDue;
}

/** Whether a person must act: the sign-in was refused or failed for good, or a field of the node or its credential is invalid. */
function needsPerson(thrown: unknown): boolean {
	if (!(thrown instanceof Failure)) return true;
	const { kind, signInFailed } = thrown.details;
	return kind === 'input' || signInFailed === 'for good' || concernsSignIn(thrown.details);
}

/** Returns the failure of a poll that ran out of time. It has no other fields of the rate limit: the poll isn't sent again. */
export function tooLate(budgetMs: number, rateLimit: Failure | undefined): Failure {
	const limit = `n8n's limit of ${timeInWords(budgetMs)}`;
	const { httpStatus, pauseMs } = rateLimit?.details ?? {};
	let message = `The poll did not end within ${limit}`;
	let todo = "Raise 'Page Size' or 'Parallel Requests' under 'Options', or watch fewer devices with 'Filters'.";
	if (rateLimit !== undefined) {
		message = `The poll waited for the platform's rate limit, and ${limit} ended it`;
		todo = 'Poll less often, or run other workflows of this account less often.';
	}
	const remedy = `${todo} No event is lost: the next poll starts from the same state.`;
	return new Failure({ kind: 'timeout', cause: 'platform', message, remedy, httpStatus, pauseMs });
}
