import { Failure, type FailureDetails, type Outcome, timeInWords } from '../core/failure';
import { remember } from '../core/remember';
import type { Credential } from './auth/credential';
import { currentClock } from './waiting/clock';
import { Traffic } from './waiting/traffic';

export interface Token {
	readonly value: string;
	/** When the platform issued it to this process (`Clock.now`); undefined for a token from n8n's store. */
	readonly issuedAt?: number;
}

const NEW_MS = 2_500;
/** After a refused login, another one might lock the account. Waits end before a poll that comes each minute. */
const REFUSAL_MS = 295_000;
const FIRST_REFUSAL_MS = 55_000;
/** Time after a token was replaced in vain. While new ones don't help, it grows, but stays below the life of most tokens. */
const IN_VAIN_MS = 295_000;
const LONGEST_IN_VAIN_MS = 1_495_000;
const MOST_SIGN_INS_PER_HOUR = 60;
const HOUR_MS = 3_600_000;

/** What this process knows about one account. All that use credentials of one account share it; only its methods change it. */
export class Account {
	readonly traffic = new Traffic();
	token: Token | undefined;
	/** The last token that requests no longer use. */
	dropped: Token | undefined;
	private readonly worked = new WeakSet<Token>();
	/** When doubtful responses first and last replaced a token; undefined if another response followed. */
	private inVain: { since: number; at: number } | undefined;
	private refusal: { details: FailureDetails; until: number } | undefined;
	private signIns: number[] = [];
	private readonly running = new Map<string, Promise<void>>();

	/** Takes the token of n8n's store, if the account has none. Another process may have got it. */
	takeStored(value: string): void {
		if (value !== '' && value !== this.dropped?.value) this.token ??= { value };
	}

	takeIssued(value: string): void {
		const issuedAt = currentClock().now();
		this.signIns = [...this.signIns, issuedAt].slice(-MOST_SIGN_INS_PER_HOUR);
		[this.token, this.refusal] = [{ value, issuedAt }, undefined];
	}

	drop(token: Token): void {
		if (this.token === token) [this.token, this.dropped] = [undefined, token];
	}

	/** Uses a dropped token again, unless there is another one. */
	takeBack(token: Token): void {
		this.token ??= token;
	}

	isJustIssued({ issuedAt = -Infinity }: Token): boolean {
		return currentClock().now() - issuedAt < NEW_MS;
	}

	/** Whether a token that doesn't work may only need time: a platform may not know a new one at once. */
	isYoung(token: Token): boolean {
		return !this.worked.has(token) && this.isJustIssued(token);
	}

	/** Notes that a token was replaced by a doubt: in vain, until a response proves that it helped. A token that worked ends a row. */
	noteReplaced(token: Token): void {
		const at = currentClock().now();
		this.inVain = { since: this.worked.has(token) ? at : (this.inVain?.since ?? at), at };
	}

	/** Notes a response. Unless it refuses or doubts the token, a token that replaced a doubted one has helped. */
	noteResponse(token: Token, { failure, details }: Outcome<unknown>, isAfterDoubt: boolean): void {
		if (details?.token !== undefined) return;
		// A refused request had a token that works.
		if (failure === undefined || details?.kind === 'refused') this.worked.add(token);
		if (isAfterDoubt) this.inVain = undefined;
	}

	/** Whether a response that may have another reason is a reason to replace the token. A stored one may have any age. */
	mayHaveExpired(token: Token): boolean {
		if (this.inVain === undefined || this.token !== token || token.issuedAt === undefined) return true;
		const { since, at } = this.inVain;
		const pauseMs = Math.max(IN_VAIN_MS, this.worked.has(token) ? 0 : Math.min(at - since, LONGEST_IN_VAIN_MS));
		return this.isYoung(token) || currentClock().now() - at >= pauseMs;
	}

	/** Runs one task of this name at a time, for all callers. */
	async once(name: 'search' | 'sign-in', run: () => Promise<void>): Promise<void> {
		const task = this.running.get(name) ?? run().finally(() => this.running.delete(name));
		this.running.set(name, task);
		await task;
	}

	/** Notes a refused login. The first of such refusals in a row may pass, if it is only the response of a proxy. */
	noteRefusedLogin(details: FailureDetails, mayPass: boolean): void {
		const waitMs = mayPass && this.refusal === undefined ? FIRST_REFUSAL_MS : REFUSAL_MS;
		this.refusal = { details, until: currentClock().now() + waitMs };
	}

	/** Ends the wait after a refused login. */
	forgetRefusal(): void {
		this.refusal = undefined;
	}

	/** Returns the last refusal during the wait after it. */
	recentRefusal(): Failure | undefined {
		const { details, until = 0 } = this.refusal ?? {};
		const leftMs = until - currentClock().now();
		if (details === undefined || leftMs <= 0) return undefined;
		const remedy = `${details.remedy} This login is retried in ${timeInWords(leftMs)}.`;
		return new Failure({ ...details, remedy });
	}

	/** Throws a Failure if this process signed in too often within an hour. */
	checkSignIns(): void {
		const first = this.signIns.at(-MOST_SIGN_INS_PER_HOUR) ?? -Infinity;
		const waitMs = first + HOUR_MS - currentClock().now();
		if (waitMs <= 0) return;
		const message = `Too many sign-ins: ${MOST_SIGN_INS_PER_HOUR} in one hour`;
		const remedy = `Create a platform user only for n8n: others may end its tokens. The next sign-in is in ${timeInWords(waitMs)}.`;
		throw new Failure({ kind: 'status', cause: 'credential', message, remedy, signInFailed: 'for good' });
	}
}

const MAX_ACCOUNTS = 1000;
const accounts = new Map<string, Account>();

/** Returns the account, to read and to tell it what happened. It is forgotten when the process ends, or after 1,000 other accounts were used. */
export function accountOf({ accountKey }: Pick<Credential, 'accountKey'>): Readonly<Account> {
	return remember(accounts, accountKey, accounts.get(accountKey) ?? new Account(), MAX_ACCOUNTS);
}

/** Forgets all accounts, as a restart of the process does. */
export function forgetAccounts(): void {
	accounts.clear();
}
