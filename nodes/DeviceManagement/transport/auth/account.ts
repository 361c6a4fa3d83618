/**
 * What this process knows about one account: its token, earlier tokens, a refused login, its rate limit and its lists. All that
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
	/** Counts the account's tokens. */
	readonly number: number;
}

/** The process remembers this many accounts, and this many tokens and paths of each. */
const MAX_ACCOUNTS = 1000;
const MAX_REMEMBERED = 100;
/** How often a new token is tried while the platform refuses it: it may not know the token yet. */
const MAX_TRIES = 4;
/** Wait after a new token didn't help a path. */
const IN_VAIN_MS = 295_000;
/** Wait after a refused sign-in: the first one may pass, unless it is clearly about the login. It ends before a poll that comes each minute. */
const FIRST_REFUSAL_MS = 55_000;
const REFUSAL_MS = 295_000;
/** Age up to which a token very likely works. */
const BRAND_NEW_MS = 5_000;
/** Pause before the next sign-in after a refused token; it doubles up to the longest step. */
const FIRST_STEP_MS = 100;
const LONGEST_STEP_MS = 1600;
const LONGEST_SIGN_IN_MS = 5000;

const NEVER = { workedWith: 0, inVainAt: -Infinity };

export class Account {
	readonly rateLimit = new RateLimit();
	/** When the platform last refused to sort a list by ID (`Clock.now`), alone or after other fields. Each reading may change it. */
	readonly idRefusedAt = { alone: -Infinity, last: -Infinity };
	token: Token | undefined;
	/** How long the last sign-in took until n8n had stored the token, in milliseconds. */
	signInTook = 0;
	/** How often a new token was tried since the platform last accepted one. */
	private triesInVain = 0;
	/** The token that was refused last. */
	private refused: Token | undefined;
	/** Tokens that the account has had. n8n's store may still hold one of them. */
	private readonly known = new Map<string, true>();
	private tokens = 0;
	/** The number of the token that a path last worked with, and when a new token last didn't help it. */
	private readonly paths = new Map<string, typeof NEVER>();
	/** When a new token last didn't help any path. */
	private inVainAt = -Infinity;
	private refusal: { details: FailureDetails; until: number } | undefined;
	private search: Promise<void> | undefined;

	/** Makes this the account's token, unless it comes from n8n's store and the account has had it already. */
	use(value: string, issuedAt?: number): void {
		if (value === '' || (issuedAt === undefined && this.known.has(value))) return;
		remember(this.known, value, true, MAX_REMEMBERED);
		this.token = { value, issuedAt, number: ++this.tokens };
		if (issuedAt !== undefined) this.triesInVain++;
	}

	/** Notes that the platform accepted a request with this token. A late response says nothing about a newer token. */
	accept(token: Token | undefined, path: string): void {
		if (token === undefined) return;
		const { inVainAt } = this.paths.get(path) ?? NEVER;
		remember(this.paths, path, { workedWith: token.number, inVainAt }, MAX_REMEMBERED);
		if (this.token?.value === token.value) this.triesInVain = 0;
	}

	/** Notes that the platform refused a request with this token. */
	refuse(token: Token | undefined): void {
		if (this.token === token) [this.token, this.refused] = [undefined, token];
	}

	/** Whether a token that doesn't work may only need time: this process got it, and the platform has never accepted it. */
	isTooNew(token: Token | undefined): boolean {
		return token?.issuedAt !== undefined && this.triesInVain % MAX_TRIES > 0;
	}

	/** Makes such a token the account's again. By default, it is the one that was refused last. */
	tryAgain(token = this.refused): boolean {
		if (token === undefined || !this.isTooNew(token)) return false;
		this.token = { ...token };
		this.triesInVain++;
		return true;
	}

	/** Whether a response of this path that may mean an expired token is a reason to sign in. */
	mayRenewFor(path: string): boolean {
		const { workedWith, inVainAt } = this.paths.get(path) ?? NEVER;
		const tokens = this.tokens - workedWith;
		const waits = Math.min(2 ** Math.max(0, tokens - 4), 16);
		// A path that worked with one of the last two tokens waits for no other path. Else, each of many paths without rights would cause a sign-in.
		const otherAt = tokens <= 1 ? -Infinity : this.inVainAt;
		return currentClock().now() >= Math.max(inVainAt + waits * IN_VAIN_MS, otherAt + IN_VAIN_MS);
	}

	/** Notes that a new token did not help this path, or that this is not known because a write is not sent again. */
	noteInVain(path: string): void {
		this.inVainAt = currentClock().now();
		const { workedWith } = this.paths.get(path) ?? NEVER;
		remember(this.paths, path, { workedWith, inVainAt: this.inVainAt }, MAX_REMEMBERED);
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
		this.use(token, currentClock().now());
	}

	/** Notes that the platform refused the login. The first of such refusals in a row may pass, unless it is clearly about the login. */
	noteLoginRefusal(details: FailureDetails, mayPass: boolean): void {
		const waitMs = mayPass && this.refusal === undefined ? FIRST_REFUSAL_MS : REFUSAL_MS;
		this.refusal = { details, until: currentClock().now() + waitMs };
	}

	/** Returns the last refusal during the wait after it: another sign-in now may block the account. */
	recentLoginRefusal(): Failure | undefined {
		const { details, until = 0 } = this.refusal ?? {};
		const leftMs = until - currentClock().now();
		if (details === undefined || leftMs <= 0) return undefined;
		return new Failure({
			...details,
			remedy: `${details.remedy} The same login is tried again in ${timeInWords(leftMs)}, a changed one at once. A successful connection test of the credential ends the wait.`,
		});
	}

	/**
	 * Returns the pause before the next sign-in, in milliseconds. If the platform allows one token per user, another process may
	 * have signed in. It needs that time to store its token, and chance keeps the processes apart.
	 */
	pauseMs(): number {
		if (this.triesInVain === 0) return 0;
		const step = Math.min(FIRST_STEP_MS * 2 ** (this.triesInVain - 1), LONGEST_STEP_MS);
		return Math.round(
			Math.max(step, Math.min(this.signInTook, LONGEST_SIGN_IN_MS)) * (1 + 2 * currentClock().random()),
		);
	}
}

const accounts = new Map<string, Account>();

export function accountOf({ accountDigest }: Pick<Credential, 'accountDigest'>): Account {
	return remember(accounts, accountDigest, accounts.get(accountDigest) ?? new Account(), MAX_ACCOUNTS);
}

/** Forgets all accounts, as a restart of the process does. */
export function forgetAccounts(): void {
	accounts.clear();
}

/** Sets a key, which comes last in the map, and forgets the one that was set longest ago if there are too many. Returns the value. */
function remember<Value>(map: Map<string, Value>, key: string, value: Value, most: number): Value {
	map.delete(key);
	map.set(key, value);
	const [oldest = ''] = map.keys();
	if (map.size > most) map.delete(oldest);
	return value;
}
