import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import { Failure } from '../core/failure';
import { currentToken, readCredential } from './credential';

/** The credential data that requests are sent with. n8n writes a new token into the object it is given. */
export type SessionData = ICredentialDataDecryptedObject;

/** Sends one request with the given credential data, once. */
export type Send<T> = (data: SessionData) => Promise<T>;

/** With every other request in flight, each of them may use up a short-lived token before this one's turn comes. */
const MOST_REPLAYS = 100;
/** Logins in a row that could not be carried out (time-outs, 503), over all requests of the session. */
const MOST_FAILED_SIGN_INS = 10;

/** How one sending ended, and with which data. */
type Outcome<T> = ({ value: T } | { failure: unknown }) & { data: SessionData };

/**
 * Keeps one sign-in for all requests of an execution. Three simple rules:
 *
 * 1. Without a token, one request goes ahead: n8n signs in for it, stores the token and sends it. All others wait.
 * 2. A request whose token was refused is sent again with a new one, unless the refused token was itself new and had
 *    never been accepted: then another one would not be either.
 * 3. A refused login, or a key that was refused before it was ever accepted, ends the session: whoever asks later gets
 *    the same reason without a request.
 */
export class Session {
	private renewal: Promise<void> | undefined;
	private ended: Failure | undefined;
	private refusedToken = '';
	private failedSignIns = 0;
	/** Data whose token was issued in this session and not yet accepted by the platform. */
	private unproven: SessionData | undefined;
	/** Whether the platform accepted a key or token in this session. */
	private accepted = false;

	/**
	 * @param data the credential as read at the start of the execution
	 * @param read reads it afresh from n8n's store: another execution may have signed in meanwhile
	 * @throws Failure `input` for a credential that can't be used
	 */
	constructor(
		private data: SessionData,
		private readonly read: () => Promise<SessionData>,
	) {
		readCredential(data);
	}

	/**
	 * Sends a request within the session.
	 * @param send throws a Failure with `tokenRefused` when the key or token was refused, with `final` when the login was
	 * @throws what `send` throws, or the reason why the session ended
	 */
	async run<T>(send: Send<T>): Promise<T> {
		for (let replays = 0; ; replays++) {
			while (this.renewal !== undefined) await this.renewal;
			if (this.ended !== undefined) throw this.ended;
			const signInFirst = needsToken(this.data);
			const outcome = signInFirst ? await this.renew(send) : await attempt(send, this.data);
			if (outcome === 'signed in elsewhere') continue;
			if (!signInFirst) this.learnFrom(outcome);
			if ('value' in outcome) return outcome.value;
			const { failure } = outcome;
			const refused = failure instanceof Failure && failure.details.tokenRefused === true;
			if (!refused || !signsIn(outcome.data) || this.ended !== undefined || replays >= MOST_REPLAYS) {
				throw failure;
			}
		}
	}

	/** Lets n8n sign in for one request while all others wait. */
	private async renew<T>(send: Send<T>): Promise<Outcome<T> | 'signed in elsewhere'> {
		let release = () => {};
		this.renewal = new Promise((resolve) => {
			release = resolve;
		});
		try {
			const stored = await this.read();
			// Another execution has signed in meanwhile, or the credential was switched to a key.
			if (!needsToken(stored) && (!signsIn(stored) || tokenOf(stored) !== this.refusedToken)) {
				this.data = stored;
				return 'signed in elsewhere';
			}
			const data = { ...stored, sessionToken: '' };
			const outcome = await attempt(send, data);
			if (tokenOf(data) !== '') {
				this.data = data;
				this.unproven = data;
				this.failedSignIns = 0;
			} else if (++this.failedSignIns >= MOST_FAILED_SIGN_INS) {
				this.end(outcome);
			}
			// Before the others go on: they must not ask with what was refused just now.
			this.learnFrom(outcome);
			return outcome;
		} finally {
			this.renewal = undefined;
			release();
		}
	}

	/** What the end of one sending says about its token, and about the session. */
	private learnFrom(outcome: Outcome<unknown>): void {
		const { data } = outcome;
		const details =
			'failure' in outcome && outcome.failure instanceof Failure ? outcome.failure.details : undefined;
		if (details?.final === true) {
			this.end(outcome);
		} else if (details?.tokenRefused === true) {
			// A key that was good a moment ago is: it is this endpoint that does not take it.
			if (!signsIn(data)) {
				if (!this.accepted) this.end(outcome);
			} else if (data === this.unproven) {
				this.end(outcome);
			} else if (data === this.data) {
				this.retire(data);
			}
		} else if (details === undefined || details.kind === 'refused') {
			// The platform answered the request itself, so it accepted the key or token.
			this.accepted = true;
			if (data === this.unproven) this.unproven = undefined;
		}
	}

	private retire(data: SessionData): void {
		this.refusedToken = tokenOf(data);
		this.data = { ...data, sessionToken: '' };
	}

	/** Whoever asks after the end gets the reason at once: there is nothing to wait for. */
	private end(outcome: Outcome<unknown>): void {
		if (!('failure' in outcome) || !(outcome.failure instanceof Failure)) return;
		this.ended ??= new Failure({ ...outcome.failure.details, retryable: false });
	}
}

async function attempt<T>(send: Send<T>, data: SessionData): Promise<Outcome<T>> {
	return await send(data).then(
		(value) => ({ value, data }),
		(failure: unknown) => ({ failure, data }),
	);
}

function signsIn(data: SessionData): boolean {
	return readCredential(data).stored.authentication === 'login';
}

function needsToken(data: SessionData): boolean {
	return signsIn(data) && tokenOf(data) === '';
}

/** The token that requests with this data carry; '' where n8n has to sign in first. */
function tokenOf(data: SessionData): string {
	return currentToken(readCredential(data).stored);
}
