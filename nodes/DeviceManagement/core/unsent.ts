import type { CauseClass } from './codes';
import { Failure } from './failure';
import type { Redact } from './redaction';

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
/** With these, nothing has left the machine. */
const NEVER_SENT: ReadonlySet<string> = new Set(['ECONNREFUSED', 'EAI_AGAIN']);
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ISSUER/;

/** Whether a system's code says that time ran out. */
export function meansTimedOut(code: string): boolean {
	return TIMED_OUT.has(code);
}

/**
 * An answer that did not come in time.
 * @param writes whether the request may change something on the platform
 */
export function timedOut(timeoutMs: number, writes: boolean): Failure {
	const words = {
		message: `The platform did not answer within ${timeoutMs} ms`,
		remedy: "Raise 'Timeout' under 'Options', or lower 'Page Size' there so that each answer is smaller.",
	};
	return new Failure({
		kind: 'timeout',
		cause: 'platform',
		...(writes ? inDoubt(words) : words),
		retryable: true,
	});
}

/** The words for a write that came to nothing on its way, when it may have come to something on the platform. */
export function inDoubt<W extends { message: string; remedy: string }>(words: W): W {
	return {
		...words,
		message: `${words.message}; the request may have been carried out all the same`,
		remedy: `Check on the platform whether the change was made before you send the request again. ${words.remedy}`,
	};
}

/**
 * Puts into words why a request could not be sent, or its answer not be read.
 * @param code the system's, like ECONNRESET; '' where there was none
 * @param said what was said beside it
 * @param writes whether the request may change something on the platform
 * @param redact removes secrets from `said` before it is shown
 * @returns a Failure `unreachable`
 */
export function explainUnsent(code: string, said: string, writes: boolean, redact: Redact): Failure {
	if (DROPPED.has(code) || /socket hang up|aborted|premature/i.test(said)) {
		const words = {
			message: `The connection to the platform was refused or dropped (${code === '' ? 'aborted' : code})`,
			remedy: "Check that the platform is running and that 'Base URL' in the credential has the right port.",
		};
		const { message, remedy } = writes && !NEVER_SENT.has(code) ? inDoubt(words) : words;
		return unreachable('platform', message, remedy, true);
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
