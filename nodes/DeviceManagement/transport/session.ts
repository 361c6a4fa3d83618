import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import { Failure } from '../core/failure';
import type { Clock } from '../core/retry';
import { type Account, accountOf } from './account';
import { beforeEnd, whyEnded } from './clock';
import { type Credential, readCredential, tokenIn, withToken } from './credential';
import { type TokenOutcome, Traffic } from './traffic';

/** The credential as n8n hands it out, decrypted. */
export type CredentialData = ICredentialDataDecryptedObject;

/** Sends one request with the given credential data, once. */
export type Send<T> = (data: CredentialData) => Promise<T>;

/** What a session needs from outside. */
export interface SessionSurroundings {
	/** Reads the credential afresh from n8n's store: another execution or process may have signed in meanwhile. */
	read(): Promise<CredentialData>;
	/**
	 * Has n8n sign in with this data and store the token; returns it.
	 * @param drop aborted when nobody wants the token any more
	 */
	signIn(data: CredentialData, drop: AbortSignal): Promise<string>;
	clock: Pick<Clock, 'now' | 'random' | 'sleep'>;
	/** Ends all waiting. */
	end: AbortSignal;
}

/** A token (or '' for an API key), the data that carries it, and the requests that do. */
interface Token {
	readonly value: string;
	readonly data: CredentialData;
	readonly traffic: Traffic;
}

/** With every other request in flight, each of them may use up a short-lived token before this one's turn comes. */
const MOST_REPLAYS = 100;
/** Logins in a row that could not be carried out (time-outs, 503), over all requests of the session. */
const MOST_FAILED_SIGN_INS = 10;
/** Further logins after one whose token nobody accepted: while nobody else is seen to sign in, and while somebody is. */
const ROUNDS_ALONE = 2;
const ROUNDS_AMONG_OTHERS = 8;
/**
 * Before such a round: at least as long as a login takes here, so that another process can have stored its token, and by
 * chance, so that two part.
 */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 1600;
const LONGEST_SIGN_IN_MS = 5000;
/** In a longer pause n8n's store is read so often. */
const LOOK_EVERY_MS = 1000;
/** After so long without a request from anybody, none will tell whether a token lives. */
const SILENCE_MS = 200;

/**
 * Keeps one account signed in for all requests of an execution. Four simple rules:
 *
 * 1. Without a token, one request has n8n sign in, for the whole process; all others wait for the token.
 * 2. A request whose token was refused is sent again with another one: one that this process holds, else one that n8n's store
 *    holds, else a new one. Where a platform lets one token per user live, whoever signs in ends everyone else's: so
 *    after a token that nobody accepted, a pause by chance comes before the store is read again and the next login made.
 * 3. When there are no more rounds, or when others are accepted with the very token, the request fails alone: it is its
 *    endpoint that refuses. Two different requests that fail so, with none accepted between them, end the session.
 * 4. A refused login ends the session: whoever asks later gets the same reason without a request.
 */
export class Session {
	private data: CredentialData;
	private credential: Credential;
	private token: Token | undefined;
	/** All requests of the session. */
	private readonly traffic = new Traffic();
	/** Values of tokens that were refused in this session. */
	private readonly refused = new Set<string>();
	private renewal: Promise<boolean> | undefined;
	private ended: Failure | undefined;
	private unacceptedLogins = 0;
	/** Milliseconds that the last login took until n8n had stored its token. */
	private signInTook = 0;
	private seenOthers = false;
	/** All rounds were used up and nobody else was seen: it is endpoints that refuse, and for the next one a login will do. */
	private foundAlone = false;
	private failedSignIns = 0;
	/** The request that failed alone since the last one was accepted. */
	private failedAlone: string | undefined;

	/**
	 * @param data the credential as read at the start of the execution
	 * @throws Failure `input` for a credential that can't be used
	 */
	constructor(
		data: CredentialData,
		private readonly surroundings: SessionSurroundings,
	) {
		this.data = data;
		this.credential = readCredential(data);
		this.begin();
	}

	/** Asked for each time: with more accounts in use than the process remembers, all have to find the same. */
	private get account(): Account {
		return accountOf(this.credential);
	}

	/**
	 * Sends a request within the session.
	 * @param name what tells the request from another one
	 * @param send throws a Failure with `tokenRefused` when the key or token was refused
	 * @throws what `send` throws, or the reason why the session ended
	 */
	async run<T>(name: string, send: Send<T>): Promise<T> {
		for (let replays = 0; ; replays++) {
			const token = await this.validToken();
			const [order, orderHere] = [token.traffic.begin(), this.traffic.begin()];
			const outcome = await attempt(send, token.data);
			const said = outcomeFor(outcome);
			token.traffic.settle(order, said);
			this.traffic.settle(orderHere, said);
			if (said === 'accepted') this.accept(token);
			if ('value' in outcome) return outcome.value;
			const { failure } = outcome;
			if (said !== 'refused') throw failure;
			if (replays < MOST_REPLAYS && (await this.findAnother(token, replays))) continue;
			if (this.ended !== undefined) throw this.ended;
			// Nobody was asked whether there is another token: there was no time.
			if (this.surroundings.end.aborted) throw whyEnded(this.surroundings.end);
			await this.failAlone(name, failure);
			throw failure;
		}
	}

	/** The first token of the session: n8n's store has it, or this process. */
	private begin(): void {
		if (!this.signsIn()) {
			this.token = { value: '', data: this.data, traffic: new Traffic() };
			return;
		}
		const value = tokenIn(this.data) || this.account.token || '';
		this.token = value === '' || this.refused.has(value) ? undefined : this.tokenOf(value);
	}

	private tokenOf(value: string): Token {
		return { value, data: withToken(this.data, value), traffic: this.account.trafficOf(value) };
	}

	private signsIn(): boolean {
		return this.credential.stored.authentication === 'login';
	}

	/** The token of the session; waits for it while there is none. */
	private async validToken(): Promise<Token> {
		const { end } = this.surroundings;
		for (;;) {
			if (this.ended !== undefined) throw this.ended;
			if (end.aborted) throw whyEnded(end);
			if (this.renewal === undefined && this.token !== undefined) return this.token;
			await beforeEnd(end, this.renewal ?? this.startRenewal(undefined));
		}
	}

	private accept(token: Token): void {
		this.failedAlone = undefined;
		this.failedSignIns = 0;
		// An answer that was late is no word about the token that came after, nor about one that was refused meanwhile.
		if (token !== this.token || token.traffic.lives === false) return;
		this.startCounting();
		this.refused.delete(token.value);
		if (token.value !== '') this.account.accepted(token.value);
	}

	private startCounting(): void {
		this.unacceptedLogins = 0;
		this.seenOthers = false;
	}

	/**
	 * After a refusal: whether there is another token to send the request with.
	 * @param replays how often this request was refused before
	 */
	private async findAnother(token: Token, replays: number): Promise<boolean> {
		if (token.value === '') return false;
		if (this.token !== token) return true;
		// It was issued after this very request had been refused, and others are accepted with it: do they go on to be?
		if (replays > 0 && token.traffic.accepted && (await this.livesOn(token))) return false;
		// Meanwhile another request may have had it renewed.
		if (this.token !== token) return true;
		return (await beforeEnd(this.surroundings.end, this.renewal ?? this.startRenewal(token))) === true;
	}

	private async livesOn(token: Token): Promise<boolean> {
		const verdict = token.traffic.verdict(async () => await this.sleep(SILENCE_MS));
		return (await beforeEnd(this.surroundings.end, verdict)) === 'accepted';
	}

	/** One renewal serves all who want another token at the same time. */
	private startRenewal(old: Token | undefined): Promise<boolean> {
		const renewal = this.renew(old).finally(() => {
			this.renewal = undefined;
		});
		// Whoever waits may be gone when it comes to nothing.
		renewal.catch(() => {});
		this.renewal = renewal;
		return renewal;
	}

	/** @returns whether there is another token now; false where none is to be had, and the old one stays */
	private async renew(old: Token | undefined): Promise<boolean> {
		if (old !== undefined) {
			this.refused.add(old.value);
			this.account.refused(old.value);
			// Whoever it was accepted from: signing in still helps.
			if (old.traffic.accepted) this.startCounting();
		}
		if (await this.takeFromOthers()) return true;
		if (this.surroundings.end.aborted) return false;
		if (this.unacceptedLogins <= this.rounds()) return await this.takeFromLogin();
		this.foundAlone = !this.seenOthers;
		return false;
	}

	private rounds(): number {
		if (this.seenOthers) return ROUNDS_AMONG_OTHERS;
		return this.foundAlone ? 0 : ROUNDS_ALONE;
	}

	/** What this process or n8n's store holds; after a token that nobody accepted, what comes within a pause. */
	private async takeFromOthers(): Promise<boolean> {
		if (this.takeFromProcess()) return true;
		let left = this.unacceptedLogins === 0 ? 0 : this.pauseOf(this.unacceptedLogins);
		do {
			await this.sleep(Math.min(left, LOOK_EVERY_MS));
			left -= LOOK_EVERY_MS;
			if (this.takeFromProcess() || (await this.takeFromStore())) return true;
		} while (left > 0 && !this.surroundings.end.aborted);
		return false;
	}

	private takeFromProcess(): boolean {
		const { token } = this.account;
		if (token === undefined || this.refused.has(token)) return false;
		this.token = this.tokenOf(token);
		return true;
	}

	/** What n8n's store holds now. The credential may have been changed there meanwhile, even to a key. */
	private async takeFromStore(): Promise<boolean> {
		const data = await this.surroundings.read();
		const credential = readCredential(data);
		this.data = data;
		if (credential.account !== this.credential.account) {
			this.credential = credential;
			this.startCounting();
			this.failedSignIns = 0;
			this.begin();
			return this.token !== undefined;
		}
		const value = tokenIn(data);
		if (value === '' || this.refused.has(value)) return false;
		this.seenOthers = true;
		this.foundAlone = false;
		this.account.endWait(this.surroundings.clock.now());
		this.token = this.tokenOf(value);
		return true;
	}

	private async takeFromLogin(): Promise<boolean> {
		const { account, surroundings } = this;
		const remembered = account.remembersRefusal(surroundings.clock.now());
		if (remembered !== undefined) {
			this.ended ??= remembered;
			return false;
		}
		const data = withToken(this.data, '');
		const lead = async (drop: AbortSignal) => await surroundings.signIn(data, drop);
		const began = surroundings.clock.now();
		const value = await account.obtainToken(data, lead, surroundings.end).catch((thrown: unknown) => {
			// It was issued, but n8n could not store it.
			if (this.takeFromProcess()) return this.token?.value;
			if (thrown instanceof Failure) this.learnFromSignIn(thrown);
			throw thrown;
		});
		if (value === undefined) return false;
		this.token = this.tokenOf(value);
		this.signInTook = Math.min(surroundings.clock.now() - began, LONGEST_SIGN_IN_MS);
		this.unacceptedLogins++;
		return true;
	}

	private learnFromSignIn(failure: Failure): void {
		if (failure.details.final !== true && ++this.failedSignIns < MOST_FAILED_SIGN_INS) return;
		this.ended ??= new Failure({ ...failure.details, retryable: false });
	}

	private pauseOf(round: number): number {
		const step = Math.max(Math.min(FIRST_PAUSE_MS * 2 ** (round - 1), LONGEST_PAUSE_MS), this.signInTook);
		return Math.round(step + 2 * step * this.surroundings.clock.random());
	}

	private async sleep(ms: number): Promise<void> {
		const { clock, end } = this.surroundings;
		if (ms > 0) await clock.sleep(ms, end);
	}

	/** One request's refusal is its own; after a second, different one nothing is left to hope for. */
	private async failAlone(name: string, failure: unknown): Promise<void> {
		const { failedAlone } = this;
		this.failedAlone = name;
		if (failedAlone === undefined || failedAlone === name) return;
		// Others may be on their way back with good news.
		await beforeEnd(this.surroundings.end, this.traffic.allSettled());
		if (this.failedAlone === undefined || !(failure instanceof Failure)) return;
		this.ended ??= new Failure({ ...failure.details, retryable: false });
	}
}

/** How one sending ended. */
type Outcome<T> = { value: T } | { failure: unknown };

/** What the end of one sending says about the key or token. */
function outcomeFor(outcome: Outcome<unknown>): TokenOutcome {
	if ('value' in outcome) return 'accepted';
	if (!(outcome.failure instanceof Failure)) return 'unanswered';
	const { tokenRefused, kind } = outcome.failure.details;
	if (tokenRefused === true) return 'refused';
	// The platform answered the request itself, so it accepted the key or token.
	return kind === 'refused' ? 'accepted' : 'unanswered';
}

async function attempt<T>(send: Send<T>, data: CredentialData): Promise<Outcome<T>> {
	return await send(data).then(
		(value) => ({ value }),
		(failure: unknown) => ({ failure }),
	);
}
