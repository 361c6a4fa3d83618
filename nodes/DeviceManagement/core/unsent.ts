import type { CauseClass } from './codes';
import { Failure } from './failure';
import type { Purpose } from './purpose';
import type { Redact } from './redaction';

/** How far a request came, as far as its error tells. */
export type Progress = 'not connected' | 'unknown' | 'answered';

const TIMED_OUT: ReadonlySet<string> = new Set(['ERR_CANCELED', 'ECONNABORTED', 'ETIMEDOUT', 'ESOCKETTIMEDOUT']);
const DROPPED: ReadonlySet<string> = new Set([
	'ECONNREFUSED',
	'ECONNRESET',
	'EPIPE',
	'EAI_AGAIN',
	'ENETUNREACH',
	'EHOSTUNREACH',
	'ENETDOWN',
	'ERR_STREAM_PREMATURE_CLOSE',
]);
/** With these, there was no connection that a request could have been sent on. */
const NEVER_SENT: ReadonlySet<string> = new Set(['ECONNREFUSED', 'EAI_AGAIN']);
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ISSUER/;
/** What parsers of HTTP and of compressed bodies say of an answer. */
const UNREADABLE = /^(HPE|Z)_|^ERR_BAD_RESPONSE$/;

/** Whether a system's code says that time ran out. */
export function meansTimedOut(code: string): boolean {
	return TIMED_OUT.has(code);
}

/** What to do about an answer that takes too long, and about one that is too large. */
interface Remedies {
	readonly tooSlow: string;
	readonly tooLarge: string;
}

const OF_A_LIST: Remedies = {
	tooSlow: "Raise 'Timeout' under 'Options', or lower 'Page Size' there so that each answer is smaller.",
	tooLarge: "Lower 'Page Size' under 'Options', or use 'Filters' to ask for less.",
};
const ANOTHER_SERVICE = "Check 'Base URL' in the credential: another service may answer at this address.";
const OF_ONE_RECORD: Remedies = { tooSlow: "Raise 'Timeout' under 'Options'.", tooLarge: ANOTHER_SERVICE };
const OF_ANY_PATH: Remedies = {
	tooSlow: OF_ONE_RECORD.tooSlow,
	tooLarge: "Ask for less, by 'Query Parameters' or another 'Path'.",
};
const REMEDIES: Readonly<Record<Purpose, Remedies>> = {
	list: OF_A_LIST,
	watch: OF_A_LIST,
	count: OF_ONE_RECORD,
	device: OF_ONE_RECORD,
	read: OF_ANY_PATH,
	write: OF_ANY_PATH,
	dropdown: {
		tooSlow: "Try again later, or enter a serial number 'By SN'.",
		tooLarge: "Enter a serial number 'By SN'.",
	},
	login: {
		tooSlow: "Try again later. If it keeps happening, check 'Login Path' in the credential, or ask who administers the platform.",
		tooLarge: ANOTHER_SERVICE,
	},
	test: { tooSlow: 'Try again later.', tooLarge: ANOTHER_SERVICE },
};

/** An answer that did not come in time. */
export function timedOut(timeoutMs: number, purpose: Purpose): Failure {
	const words = {
		message: `The platform did not answer within ${timeoutMs} ms`,
		remedy: REMEDIES[purpose].tooSlow,
	};
	return new Failure({
		kind: 'timeout',
		cause: 'platform',
		...inDoubtIfWrite(words, purpose),
		retryable: true,
	});
}

/** An answer that is larger than what is read. */
export function tooLarge(mostMegabytes: number, purpose: Purpose): Failure {
	const words = { message: `The answer is larger than ${mostMegabytes} MB`, remedy: REMEDIES[purpose].tooLarge };
	return new Failure({ kind: 'answer', cause: 'platform', ...inDoubtIfWrite(words, purpose) });
}

/**
 * Words for a request that was sent, and of which nobody said what became of it: a write may have come to something on the
 * platform.
 * @returns the same words for anything but a write
 */
export function inDoubtIfWrite<W extends { message: string; remedy: string }>(words: W, purpose: Purpose): W {
	if (purpose !== 'write') return words;
	return {
		...words,
		message: `${words.message}; the request may have been carried out all the same`,
		remedy: `Check on the platform whether the change was made before you send the request again. If it was not: ${words.remedy}`,
	};
}

/**
 * Puts into words why a request could not be sent, or its answer not be read.
 * @param code the system's, like ECONNRESET; '' where there was none
 * @param said what was said beside it
 * @param redact removes secrets from `said` before it is shown
 * @returns a Failure `unreachable`
 */
export function explainUnsent(
	code: string,
	said: string,
	purpose: Purpose,
	redact: Redact,
	progress: Progress = 'unknown',
): Failure {
	if (DROPPED.has(code) || /socket hang up|aborted|premature/i.test(said)) {
		const words = {
			message: `The connection to the platform was refused or dropped (${code === '' ? 'aborted' : code})`,
			remedy: "Check that the platform is running and that 'Base URL' in the credential has the right port.",
		};
		const isNeverSent = progress === 'not connected' || NEVER_SENT.has(code);
		const { message, remedy } = isNeverSent ? words : inDoubtIfWrite(words, purpose);
		return unreachable('platform', message, remedy, true);
	}
	if (progress === 'answered' || UNREADABLE.test(code)) {
		const words = {
			message: `The answer could not be read${code === '' ? '' : ` (${code})`}: ${redact(said)}`,
			remedy:
				"Check the port in 'Base URL' in the credential, and whether a proxy in front of the platform changes its answers.",
		};
		const { message, remedy } = inDoubtIfWrite(words, purpose);
		return unreachable('platform', message, remedy, false);
	}
	if (code === 'ENOTFOUND') {
		return unreachable(
			'unknown',
			'The host in the base URL is not known (ENOTFOUND)',
			"Check 'Base URL' in the credential for a typing slip.",
			false,
		);
	}
	if (CERTIFICATE.test(code)) {
		return unreachable(
			'input',
			`The platform's TLS certificate is not trusted (${code})`,
			"Have a certificate installed that n8n trusts. On a network you control, 'Ignore SSL Issues (Insecure)' in the credential skips the check.",
			false,
		);
	}
	if (code === 'EPROTO' || code.startsWith('ERR_SSL')) {
		return unreachable(
			'input',
			`The server does not speak TLS as expected (${code})`,
			"Check whether 'Base URL' in the credential needs http:// instead of https://, and its port.",
			false,
		);
	}
	return unreachable(
		'input',
		`n8n could not send the request${code === '' ? '' : ` (${code})`}: ${redact(said)}`,
		"Check 'Base URL' in the credential, and whether this n8n may reach that address.",
		false,
	);
}

function unreachable(cause: CauseClass, message: string, remedy: string, retryable: boolean): Failure {
	return new Failure({ kind: 'unreachable', cause, message, remedy, retryable });
}
