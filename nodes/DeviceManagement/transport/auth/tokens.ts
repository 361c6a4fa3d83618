/**
 * What this process knows about the tokens and the login of one account. It doesn't decide when to sign in (step.ts and session.ts do), and
 * it sends nothing.
 */
import { Failure, type FailureDetails } from '../../core/failure';
import { currentClock } from '../waiting/clock';
import { timeInWords } from '../waiting/retry';

/** A token that may work. */
export interface Token {
	readonly value: string;
	/** When the platform issued it to this process (`Clock.now`); undefined for another process's token. */
	readonly issuedAt: number | undefined;
	/** Counts the account's tokens. */
	readonly number: number;
}

/** How often a new token is tried while the platform refuses it: it may not know the token yet. */
const MAX_TRIES = 4;
/** Wait after a new token didn't help a path. */
const IN_VAIN_MS = 295_000;
/** Wait after a refused sign-in: the first one may pass, unless it is clearly about the login. It ends before a poll that comes each minute. */
const FIRST_REFUSAL_MS = 55_000;
const REFUSAL_MS = 295_000;
/** Age up to which a token very likely works. */
const BRAND_NEW_MS = 5_000;

const NEVER = { workedWith: 0, inVainAt: -Infinity };

export class Tokens {
	current: Token | undefined;
	/** How long the last sign-in took until n8n had stored the token, in milliseconds. */
	signInTook = 0;
	/** How often a new token was tried since the platform last accepted one. */
	private triesInVain = 0;
	/** The token that was refused last. */
	private refused: Token | undefined;
	/** Tokens that the account has had, and how many. n8n's store may still hold one of them. */
	private readonly known = new Map<string, true>();
	private count = 0;
	/** The number of the token that a path last worked with, and when a new token last didn't help it. */
	private readonly paths = new Map<string, typeof NEVER>();
	private refusal: { details: FailureDetails; until: number } | undefined;
	private search: Promise<void> | undefined;

	/**
	 * Makes this the account's token, unless it comes from n8n's store and the account has had it already.
	 * @param issuedAt set if the platform has just accepted the login and issued it (`Clock.now`)
	 */
	use(value: string, issuedAt?: number): void {
		if (value === '' || (issuedAt === undefined && this.known.has(value))) return;
		remember(this.known, value, true);
		this.current = { value, issuedAt, number: ++this.count };
		if (issuedAt === undefined) return;
		this.refusal = undefined;
		this.triesInVain++;
	}

	/** Notes that the platform accepted a request with this token. A late response says nothing about a newer token. */
	accept(token: Token | undefined, path: string): void {
		if (token === undefined) return;
		const { inVainAt } = this.paths.get(path) ?? NEVER;
		remember(this.paths, path, { workedWith: token.number, inVainAt });
		if (this.current?.value === token.value) this.triesInVain = 0;
	}

	/** Notes that the platform refused a request with this token. */
	refuse(token: Token | undefined): void {
		if (this.current === token) [this.current, this.refused] = [undefined, token];
	}

	/** Whether a token that doesn't work may only need time: this process got it, and the platform has never accepted it. */
	isTooNew(token: Token | undefined): boolean {
		return token?.issuedAt !== undefined && this.triesInVain % MAX_TRIES > 0;
	}

	/** Makes such a token the account's again. By default, it is the one that was refused last. */
	tryAgain(token = this.refused): boolean {
		if (token === undefined || !this.isTooNew(token)) return false;
		this.current = { ...token };
		this.triesInVain++;
		return true;
	}

	/** Whether a response of this path that may mean an expired token is a reason to sign in. */
	mayRenewFor(path: string): boolean {
		const { workedWith, inVainAt } = this.paths.get(path) ?? NEVER;
		const missed = this.count - workedWith;
		const waits = Math.min(2 ** Math.max(0, missed - 4), 16);
		// Else, each of many paths without rights would cause a sign-in. But the last token may have been renewed for one of them.
		const others = missed <= 1 ? [] : [...this.paths.values()].map((other) => other.inVainAt + IN_VAIN_MS);
		return currentClock().now() >= Math.max(inVainAt + waits * IN_VAIN_MS, ...others);
	}

	/** Notes that a new token did not help this path, or that this is not known because a write is not sent again. */
	noteInVain(path: string): void {
		const { workedWith } = this.paths.get(path) ?? NEVER;
		remember(this.paths, path, { workedWith, inVainAt: currentClock().now() });
	}

	/** Returns a token that another request got in the last seconds; undefined if there is none other than `known`. */
	newToken(known: unknown): string | undefined {
		const { value, issuedAt = -Infinity } = this.current ?? {};
		return value === known || currentClock().now() >= issuedAt + BRAND_NEW_MS ? undefined : value;
	}

	/** Lets one caller at a time find a token; the others wait for it. All throw what its `find` throws. */
	async findOnce(find: () => Promise<void>): Promise<void> {
		this.search ??= find().finally(() => (this.search = undefined));
		await this.search;
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
	 * Returns the pause before the next sign-in, in milliseconds. It doubles with each new token in vain. If the platform allows one token per
	 * user, another process may have signed in. It needs that time to store its token, and chance keeps the processes apart.
	 */
	pauseMs(): number {
		if (this.triesInVain === 0) return 0;
		const step = Math.min(100 * 2 ** (this.triesInVain - 1), 1600);
		return Math.round(Math.max(step, Math.min(this.signInTook, 5000)) * (1 + 2 * currentClock().random()));
	}
}

/** Sets a key, which comes last in the map, and forgets the one that was set longest ago if there are too many. Returns the value. */
export function remember<Value>(map: Map<string, Value>, key: string, value: Value, most = 100): Value {
	map.delete(key);
	map.set(key, value);
	const [oldest = ''] = map.keys();
	if (map.size > most) map.delete(oldest);
	return value;
}
