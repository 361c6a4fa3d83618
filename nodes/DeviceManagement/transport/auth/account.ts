/**
 * What this process knows about one account: its token, refused tokens, a refused login, its rate limit and its lists. All that
 * use credentials of one account share it (executions, dropdowns, triggers, n8n's HTTP Request node). It is forgotten when the process
 * ends, or after 1,000 other accounts were used. It doesn't decide when to sign in, and it doesn't send requests.
 */
import { Failure, type FailureDetails } from '../../core/failure';
import { currentClock } from '../waiting/clock';
import { timeInWords } from '../waiting/retry';
import type { Credential } from './credential';
import { RateLimit } from '../waiting/rateLimit';

/** A token that may work. */
export interface Token {
	readonly value: string;
	/** When the platform issued it to this process (`Clock.now`); undefined for another process's token. */
	readonly issuedAt: number | undefined;
}

/** The process remembers this many accounts, and this many refused tokens of each. */
const MAX_ACCOUNTS = 1000;
const MAX_REFUSED_TOKENS = 100;
/** How long a new token that didn't help is remembered, and for how many paths: then no other path causes a sign-in. */
const IN_VAIN_MS = 3_600_000;
const MAX_PATHS_IN_VAIN = 3;
/** Wait after a refused sign-in. */
const REFUSAL_MS = 5 * 60_000;
/** Age up to which a token very likely works. */
const BRAND_NEW_MS = 5_000;
/** Pause before the next sign-in after a refused token; it doubles up to the longest step. */
const FIRST_STEP_MS = 100;
const LONGEST_STEP_MS = 1600;
const LONGEST_SIGN_IN_MS = 5000;

export class Account {
	readonly rateLimit = new RateLimit();
	/** When the platform last refused to sort a list by ID (`Clock.now`), alone or after other fields. Each reading may change it. */
	readonly idRefusedAt = { alone: -Infinity, last: -Infinity };
	token: Token | undefined;
	/** How long the last sign-in took until n8n had stored the token, in milliseconds. */
	signInTook = 0;
	/** Tokens that the platform issued since it last accepted one. */
	private tokensInVain = 0;
	private readonly refusedTokens = new Set<string>();
	/** Until when responses of these paths are no sign of an expired token. */
	private readonly inVain = new Map<string, number>();
	private refusal: { details: FailureDetails; until: number } | undefined;
	private search: Promise<void> | undefined;

	/** Makes this the account's token. Ignores a refused token unless the platform has just issued it again. */
	use(value: string, issuedAt?: number): void {
		if (value === '' || this.token?.value === value) return;
		if (issuedAt === undefined && this.refusedTokens.has(value)) return;
		this.refusedTokens.delete(value);
		this.token = { value, issuedAt };
		if (issuedAt !== undefined) this.tokensInVain++;
	}

	/** Notes that the platform accepted a request with this token. A late response says nothing about a newer token. */
	accept(value: string | undefined): void {
		if (this.token?.value === value) this.tokensInVain = 0;
	}

	/** Notes that the platform refused a request with this token. */
	refuse(value: string): void {
		this.refusedTokens.add(value);
		const [oldest = ''] = this.refusedTokens;
		if (this.refusedTokens.size > MAX_REFUSED_TOKENS) this.refusedTokens.delete(oldest);
		if (this.token?.value === value) this.token = undefined;
	}

	/** Whether a response of this path that may mean an expired token is a reason to sign in. */
	mayRenewFor(path: string): boolean {
		const now = currentClock().now();
		for (const [known, until] of this.inVain) if (until <= now) this.inVain.delete(known);
		return !this.inVain.has(path) && this.inVain.size < MAX_PATHS_IN_VAIN;
	}

	/** Notes that a new token did not help for this path, or that this is not known because a write is not sent again. */
	noteInVain(path: string): void {
		if (this.mayRenewFor(path)) this.inVain.set(path, currentClock().now() + IN_VAIN_MS);
	}

	/** Returns a token that another request got in the last seconds; undefined if there is none other than `known`. */
	newToken(known: unknown): string | undefined {
		const { value, issuedAt = -Infinity } = this.token ?? {};
		return value === known || currentClock().now() >= issuedAt + BRAND_NEW_MS ? undefined : value;
	}

	/** Lets one caller at a time find a token; the others wait for it. All throw what its `find` throws. */
	async findOnce(find: () => Promise<void>): Promise<void> {
		this.search ??= find().finally(() => (this.search = undefined));
		await this.search;
	}

	/** Notes that the platform accepted the login and issued this token. */
	signedIn(token: string): void {
		this.refusal = undefined;
		// n8n's store may hold it until it has stored the new one.
		if (this.token !== undefined) this.refuse(this.token.value);
		this.use(token, currentClock().now());
	}

	noteLoginRefusal(details: FailureDetails): void {
		this.refusal = { details, until: currentClock().now() + REFUSAL_MS };
	}

	/** Returns the refusal of the last five minutes, if any: another sign-in now may block the account. */
	recentLoginRefusal(): Failure | undefined {
		const { details, until = 0 } = this.refusal ?? {};
		const leftMs = until - currentClock().now();
		if (details === undefined || leftMs <= 0) return undefined;
		return new Failure({
			...details,
			message: `${details.message}. The same login is tried again in ${timeInWords(leftMs)}`,
			remedy: `A changed login is tried at once. A successful connection test of the credential ends the wait. ${details.remedy}`,
		});
	}

	/**
	 * Returns the pause before the next sign-in, in milliseconds. If the platform allows one token per user, another process may
	 * have signed in. It needs that time to store its token, and chance keeps the processes apart.
	 */
	pauseMs(): number {
		if (this.tokensInVain === 0) return 0;
		const step = Math.min(FIRST_STEP_MS * 2 ** (this.tokensInVain - 1), LONGEST_STEP_MS);
		return Math.round(
			Math.max(step, Math.min(this.signInTook, LONGEST_SIGN_IN_MS)) * (1 + 2 * currentClock().random()),
		);
	}
}

const accounts = new Map<string, Account>();

export function accountOf({ accountDigest }: Pick<Credential, 'accountDigest'>): Account {
	const account = accounts.get(accountDigest) ?? new Account();
	// The account that was used last comes last in the map.
	accounts.delete(accountDigest);
	accounts.set(accountDigest, account);
	const [oldest = ''] = accounts.keys();
	if (accounts.size > MAX_ACCOUNTS) accounts.delete(oldest);
	return account;
}

/** Forgets all accounts, as a restart of the process does. */
export function forgetAccounts(): void {
	accounts.clear();
}
