/** What a response means for the token that its request was sent with. These are rules only: the account knows, and the session acts. */
import type { FailureDetails } from '../../core/failure';

/** A token may have expired if it is doubted. A write in doubt, which may have been carried out, is not sent again. */
type Verdict = 'works' | 'refused' | 'doubted' | 'write in doubt' | 'nothing';

/** The first three send the request again, with the account's token, with any other one, or with a renewed one. The others end it. */
type Step = 'send again' | 'drop' | 'renew' | 'renew and end' | 'in vain' | 'give up' | 'end';

/**
 * Whether the account has another token by now; this process got the token, and the request had another one before; the token may
 * only need time; the doubt is a reason to sign in; and the request has tried all the tokens that it may.
 */
type Known = Record<'isReplaced' | 'isSuccessor' | 'isTooNew' | 'mayRenew' | 'isLast', boolean>;

export function verdictOf(details: FailureDetails | undefined, isWrite: boolean): Verdict {
	const { kind, tokenRefused, expiry } = details ?? {};
	if (expiry !== undefined) return isWrite && expiry === 'unclear' ? 'write in doubt' : 'doubted';
	if (tokenRefused === true) return 'refused';
	// The platform accepted the token if it refused the request itself.
	return kind === 'refused' ? 'works' : 'nothing';
}

export function stepAfter(verdict: Verdict, known: Known): Step {
	const { isReplaced, isSuccessor, isTooNew, mayRenew, isLast } = known;
	switch (verdict) {
		case 'refused':
			return isReplaced ? 'send again' : isLast ? 'give up' : 'drop';
		case 'doubted':
			if (isReplaced && !isLast) return 'send again';
			if (!mayRenew) return 'end';
			return !isLast && (isTooNew || !isSuccessor) ? 'renew' : 'in vain';
		case 'write in doubt':
			return mayRenew && !isReplaced ? 'renew and end' : 'end';
		default:
			return 'end';
	}
}
