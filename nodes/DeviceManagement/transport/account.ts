import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import { Failure } from '../core/failure';
import { Gate } from '../core/gate';
import { timeInWords } from '../core/retry';
import { beforeEnd } from './clock';
import type { Credential } from './credential';
import { Traffic } from './traffic';

/** What a login adds to the stored credential. */
export interface SessionFields {
	sessionToken: string;
	/** Which login the token belongs to. */
	sessionOwner: string;
}

/** Accounts that this process remembers; the one that was used longest ago goes first. */
const MOST_ACCOUNTS = 100;
/** Tokens of an account whose requests may still be under way. */
const MOST_TOKENS = 16;
/** How long a refused login is not tried again: at first, and at most. */
const FIRST_PAUSE_MS = 60_000;
const LONGEST_PAUSE_MS = 15 * 60_000;
/** A token that is so new is handed to whoever wants to sign in, unless it is the one they had. */
const BRAND_NEW_MS = 5_000;

/** A login that is under way on behalf of everyone who waits for its token. */
interface SignInUnderWay {
	/** The credential data that n8n was given for it. */
	readonly data: ICredentialDataDecryptedObject;
	readonly token: Promise<string>;
	readonly drop: AbortController;
	/** How many wait. Without any it is dropped. */
	waiting: number;
}

/**
 * What this process knows about one account on one platform: one login or one API key, whoever uses it (runs, dropdowns,
 * triggers, tools, n8n's HTTP Request node). It lives as long as the process, or until a hundred others were used after it.
 */
export class Account {
	/** Where all requests of the account pass. */
	readonly gate = new Gate();
	/** The newest token that this process was issued, or that was accepted from it. */
	token: string | undefined;
	/** The last one that it was issued, as long as nobody was refused with it. */
	private issued: { token: string; at: number } | undefined;
	private readonly traffic = new Map<string, Traffic>();
	private underWay: SignInUnderWay | undefined;
	/** A login that is on its way to the platform, and what ends it. */
	private asking: { fields: Promise<SessionFields>; drop: AbortSignal | undefined } | undefined;
	private refusal: { failure: Failure; until: number; pauseMs: number } | undefined;

	/** The requests of all executions that carry this token. */
	trafficOf(token: string): Traffic {
		const traffic = this.traffic.get(token) ?? new Traffic();
		this.traffic.set(token, traffic);
		const [oldest] = this.traffic.keys();
		if (this.traffic.size > MOST_TOKENS && oldest !== undefined) this.traffic.delete(oldest);
		return traffic;
	}

	/** A request with this token was accepted. If it was sent before another one was refused, that is no news. */
	accepted(token: string): void {
		if (this.traffic.get(token)?.lives !== false) this.token = token;
	}

	/** A request with this token was refused. */
	refused(token: string): void {
		if (this.token === token) this.token = undefined;
		if (this.issued?.token === token) this.issued = undefined;
	}

	/** Whether a login is under way. */
	get signsIn(): boolean {
		return this.underWay !== undefined || this.asking !== undefined;
	}

	/**
	 * Why nobody may sign in just now: the login was refused a short while ago, and asking again brings the account closer to
	 * its lock.
	 */
	remembersRefusal(now: number): Failure | undefined {
		const leftMs = (this.refusal?.until ?? now) - now;
		// A clock that was set back must not make a pause of it that nobody meant.
		return leftMs > 0 && leftMs <= LONGEST_PAUSE_MS ? this.refusal?.failure : undefined;
	}

	/** Somebody has signed in elsewhere: the next login may be tried at once. */
	endWait(now: number): void {
		if (this.refusal !== undefined) this.refusal.until = now;
	}

	/** A token that another request was issued a moment ago; undefined where there is none but `than`. */
	newerToken(than: unknown, now: number): string | undefined {
		if (this.issued === undefined || this.issued.token === than) return undefined;
		return now < this.issued.at + BRAND_NEW_MS ? this.issued.token : undefined;
	}

	/**
	 * Lets one caller have n8n sign in, and all others wait for its token.
	 * @param data what n8n signs in with
	 * @param lead has n8n sign in; returns the token once n8n has stored it
	 * @param end ends the waiting at once; the login goes on as long as somebody waits
	 * @returns the token, or undefined when `end` came first
	 * @throws what `lead` throws
	 */
	async obtainToken(
		data: ICredentialDataDecryptedObject,
		lead: (drop: AbortSignal) => Promise<string>,
		end: AbortSignal,
	): Promise<string | undefined> {
		this.underWay ??= this.begin(data, lead);
		const signingIn = this.underWay;
		signingIn.waiting++;
		try {
			return await beforeEnd(end, signingIn.token);
		} finally {
			if (--signingIn.waiting === 0) this.drop(signingIn);
		}
	}

	/**
	 * Asks the platform for a token, once for all who want one at the same time.
	 * @param data the credential data that n8n wants a token for
	 * @param ask sends the login; `drop` is aborted when nobody wants its token any more
	 * @param now milliseconds since the epoch
	 * @throws what `ask` throws; a refusal of the login with the time before which nobody asks again
	 */
	async signIn(
		data: ICredentialDataDecryptedObject,
		ask: (drop: AbortSignal | undefined) => Promise<SessionFields>,
		now: () => number,
	): Promise<SessionFields> {
		// n8n's own nodes wait for it, too, and can't say when they no longer do.
		if (this.underWay !== undefined && this.underWay.data !== data) this.underWay.waiting++;
		const drop = this.underWay?.drop.signal;
		const asking = this.asking ?? { fields: this.ask(ask, drop, now), drop };
		this.asking = asking;
		try {
			return await asking.fields;
		} finally {
			if (this.asking === asking) this.asking = undefined;
		}
	}

	private begin(data: ICredentialDataDecryptedObject, lead: (drop: AbortSignal) => Promise<string>): SignInUnderWay {
		const drop = new AbortController();
		const token = lead(drop.signal).finally(() => {
			if (this.underWay === signingIn) this.underWay = undefined;
		});
		// Nobody may be left to hear of it.
		token.catch(() => {});
		const signingIn: SignInUnderWay = { data, token, drop, waiting: 0 };
		return signingIn;
	}

	/** Ends a login that nobody waits for. It may have ended long ago; whoever comes next begins another one. */
	private drop(signingIn: SignInUnderWay): void {
		signingIn.drop.abort();
		if (this.underWay !== signingIn) return;
		this.underWay = undefined;
		// One that n8n's own node began goes on.
		if (this.asking?.drop === signingIn.drop.signal) this.asking = undefined;
	}

	private async ask(
		ask: (drop: AbortSignal | undefined) => Promise<SessionFields>,
		drop: AbortSignal | undefined,
		now: () => number,
	): Promise<SessionFields> {
		const fields = await ask(drop).catch((thrown: unknown) => {
			const refused = thrown instanceof Failure && thrown.details.loginRefused === true;
			throw refused ? this.remember(thrown, now()) : thrown;
		});
		this.token = fields.sessionToken;
		this.issued = { token: fields.sessionToken, at: now() };
		this.refusal = undefined;
		return fields;
	}

	private remember({ details }: Failure, now: number): Failure {
		const pauseMs = Math.min((this.refusal?.pauseMs ?? FIRST_PAUSE_MS / 2) * 2, LONGEST_PAUSE_MS);
		const until = now + pauseMs;
		const failure = new Failure({
			...details,
			message: `${details.message}. Only a changed login is tried before ${timeInWords(until)}`,
			remedy: `${details.remedy} A login that is changed counts at once, and a successful connection test of the credential ends the wait.`,
		});
		this.refusal = { failure, until, pauseMs };
		return failure;
	}
}

const accounts = new Map<string, Account>();

/** What this process knows about the account that a credential leads to. */
export function accountOf({ account: name }: Pick<Credential, 'account'>): Account {
	const account = accounts.get(name) ?? new Account();
	// The newest stands last.
	accounts.delete(name);
	accounts.set(name, account);
	for (const [other, { signsIn }] of accounts) {
		if (accounts.size <= MOST_ACCOUNTS) break;
		// Whoever asks for it has to find the login that is under way.
		if (!signsIn && other !== name) accounts.delete(other);
	}
	return account;
}

/** Forgets all accounts, as a restart of the process does. */
export function forgetAccounts(): void {
	accounts.clear();
}
