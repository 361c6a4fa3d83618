import { Failure, type FailureDetails, timeInWords } from '../core/failure';
import { remember } from '../core/remember';
import type { Credential } from './auth/credential';
import { currentClock } from './waiting/clock';
import { Traffic } from './waiting/traffic';

export interface Token {
	readonly value: string;
	/** When the platform issued it to this process (`Clock.now`); undefined for a token from n8n's store. */
	readonly issuedAt?: number;
	worked?: boolean;
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

/** What this process knows about one account. All that use credentials of one account share it. */
export class Account {
	readonly traffic = new Traffic();
	token: Token | undefined;
	/** The last token that requests no longer use. */
	dropped: Token | undefined;
	/** When doubtful responses first and last replaced a token; undefined if another response followed. */
	inVain: { since: number; at: number } | undefined;
	refusal: { details: FailureDetails; until: number } | undefined;
	private signIns: number[] = [];
	private readonly running = new Map<string, Promise<void>>();

	/** Takes the token of n8n's store, if the account has none. Another process may have got it. */
	takeStored(value: string): void {
		if (value !== '' && value !== this.dropped?.value) this.token ??= { value };
	}

	takeIssued(value: string): void {
		const issuedAt = currentClock().now();
		this.signIns.push(issuedAt);
		[this.token, this.refusal] = [{ value, issuedAt }, undefined];
	}

	drop(token: Token): void {
		if (this.token === token) [this.token, this.dropped] = [undefined, token];
	}

	isJustIssued({ issuedAt = -Infinity }: Token): boolean {
		return currentClock().now() - issuedAt < NEW_MS;
	}

	/** Whether a token that doesn't work may only need time: a platform may not know a new one at once. */
	isYoung(token: Token): boolean {
		return token.worked !== true && this.isJustIssued(token);
	}

	/** Notes that a token was replaced by a doubt: in vain, until a response proves that it helped. A token that worked ends a row. */
	noteReplaced({ worked }: Token): void {
		const at = currentClock().now();
		this.inVain = { since: worked === true ? at : (this.inVain?.since ?? at), at };
	}

	/** Whether a response that may have another reason is a reason to replace the token. A stored one may have any age. */
	mayHaveExpired(token: Token): boolean {
		if (this.inVain === undefined || this.token !== token || token.issuedAt === undefined) return true;
		const { since, at } = this.inVain;
		const longestMs = token.worked === true ? IN_VAIN_MS : LONGEST_IN_VAIN_MS;
		const pauseMs = Math.max(IN_VAIN_MS, Math.min(at - since, longestMs));
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
		const now = currentClock().now();
		this.signIns = this.signIns.filter((at) => now - at < HOUR_MS);
		const [first = now] = this.signIns;
		if (this.signIns.length < MOST_SIGN_INS_PER_HOUR) return;
		throw new Failure({
			kind: 'status',
			cause: 'credential',
			message: `Too many sign-ins: ${MOST_SIGN_INS_PER_HOUR} in one hour`,
			remedy: `Create a platform user only for n8n: others may end its tokens. The next sign-in is in ${timeInWords(first + HOUR_MS - now)}.`,
			signInFailed: 'for good',
		});
	}
}

const MAX_ACCOUNTS = 1000;
const accounts = new Map<string, Account>();

/** The account is forgotten when the process ends, or after 1,000 other accounts were used. */
export function accountOf({ accountKey }: Pick<Credential, 'accountKey'>): Account {
	return remember(accounts, accountKey, accounts.get(accountKey) ?? new Account(), MAX_ACCOUNTS);
}

/** Forgets all accounts, as a restart of the process does. */
export function forgetAccounts(): void {
	accounts.clear();
}
