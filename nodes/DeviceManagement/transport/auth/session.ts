/**
 * Finds the token for an execution's requests with one account, and obeys the rules of step.ts. Without a token, all wait until a request of
 * any execution finds one in n8n's store or signs in. It doesn't retry other failures. docs/maintainers/sign-in.md shows the sequence.
 */
import { Failure, type FailureDetails, inputFailure } from '../../core/failure';
import { outcomeOf } from '../waiting/retry';
import { type Account, accountOf } from '../account';
import { beforeEnd, currentClock, whyEnded } from '../waiting/clock';
import type { Credential } from './credential';
import { stepAfter, verdictOf } from './step';
import type { Token } from './tokens';
import { isLimit } from '../waiting/rateLimit';

/** New tokens after which a request fails; the next requests of the session fail after fewer. */
const MAX_NEW_TOKENS = 5;
const MAX_NEW_TOKENS_LATER = 1;
/** Limits of sign-ins that replace a token until the request that waits for one fails. */
const MAX_LIMITS = 5;
/** Requests that fail this way and failed sign-ins, in a row, before the session ends. */
const MAX_FAILURES_IN_A_ROW = 20;

export class Session {
	private maxNewTokens = MAX_NEW_TOKENS;
	private failuresInARow = 0;
	private limits = 0;
	private ended: Failure | undefined;

	/**
	 * @param load loads the credential from n8n's store again: it may have changed, or another process may have signed in
	 * @param renewToken has n8n sign in with the credential and store the token; the account learns the outcome
	 * @param end aborted when the execution ends
	 */
	constructor(
		private credential: Credential,
		private readonly load: () => Promise<Credential>,
		private readonly renewToken: (credential: Credential) => Promise<void>,
		private readonly end: AbortSignal,
	) {
		this.account.tokens.use(credential.token);
	}

	/** Looked up on every use, because the process may have removed the account from its memory. */
	private get account(): Account {
		return accountOf(this.credential);
	}

	/**
	 * Sends a request within the session.
	 * @param send sends it once; throws a Failure with `tokenRefused` if the platform refuses the key or token
	 * @param path without serial numbers and IDs
	 * @param keepsToken whether to fail if the token is refused, instead of renewing it
	 * @throws what `send` throws, or the reason why the session ended
	 */
	async withToken<T>(
		send: (credential: Credential) => Promise<T>,
		path: string,
		isWrite: boolean,
		keepsToken = false,
	): Promise<T> {
		let first: Token | undefined;
		for (let newTokens = 0; ; ) {
			const { account, token, credential } = await this.ready();
			const { tokens } = account;
			const outcome = await outcomeOf(send(credential));
			const { failure, details } = outcome;
			const verdict = 'value' in outcome ? 'works' : verdictOf(details, isWrite);
			if (verdict === 'works') {
				this.failuresInARow = 0;
				tokens.accept(token, path);
			}
			if ('value' in outcome) return outcome.value;
			const isReplaced = tokens.current !== undefined && tokens.current !== token;
			// A token that another process got doesn't count, because that process may have ended it.
			const isOwn = first !== undefined && token?.issuedAt !== undefined;
			if (isOwn && !isReplaced) newTokens++;
			const step = stepAfter(keepsToken ? 'nothing' : verdict, {
				isReplaced,
				isSuccessor: isOwn && token?.number !== first?.number,
				isTooNew: tokens.isTooNew(token),
				mayRenew: token !== undefined && (newTokens > 0 || tokens.mayRenewFor(path)),
				isLast: token === undefined || newTokens >= this.maxNewTokens,
			});
			first ??= token;
			if (step === 'drop') tokens.refuse(token);
			// Otherwise an execution that ends during the tries, because the sign-in is slow, would cost one sign-in each time.
			const noteIfEnded = () => void (newTokens > 0 && this.end.aborted && tokens.noteInVain(path));
			const endsAfter = step === 'renew and end';
			if (endsAfter || step === 'renew') await this.renew(account, token, failure, endsAfter).finally(noteIfEnded);
			if (endsAfter || step === 'in vain') tokens.noteInVain(path);
			if (step === 'give up') {
				this.maxNewTokens = MAX_NEW_TOKENS_LATER;
				this.noteFailure(details);
			}
			if (!['send again', 'drop', 'renew'].includes(step)) throw failure;
		}
	}

	/**
	 * Finds another token than `old`, which may have expired. The old one stays if there is none.
	 * @throws `doubt` if the sign-in gets the same response, or if a write in doubt has to keep the words that say so
	 */
	private async renew(account: Account, old: Token | undefined, doubt: unknown, keepsWords: boolean): Promise<void> {
		const { failure, details } = await outcomeOf(this.search(account, old));
		const isEnded = this.ended !== undefined || this.end.aborted;
		if (failure === undefined && !isEnded) return;
		if (keepsWords || (!isEnded && details?.expiry !== undefined)) throw doubt;
		throw this.ended ?? (isEnded ? whyEnded(this.end) : failure);
	}

	/** Waits for a token and returns the credential for the next request. An API key has no token. */
	private async ready(): Promise<{ account: Account; token: Token | undefined; credential: Credential }> {
		for (;;) {
			if (this.ended !== undefined) throw this.ended;
			if (this.end.aborted) throw whyEnded(this.end);
			const { account, credential } = this;
			const token = account.tokens.current;
			if (credential.owner === '') return { account, token: undefined, credential };
			if (token !== undefined) return { account, token, credential: credential.withToken(token.value) };
			const { failure, details } = await outcomeOf(this.search(account));
			if (details?.signInFailed === 'for good') this.endWith(details);
			if (failure !== undefined) throw failure;
		}
	}

	/** Takes part in the account's search for a token other than `old`, until the execution ends. */
	private async search(account: Account, old?: Token): Promise<void> {
		const { tokens, rateLimit } = account;
		const search = async () => {
			// Again, because the execution that searches for all may be stopped before its sign-in.
			while (tokens.current === old && this.account === account && this.ended === undefined && !this.end.aborted) {
				// Before the search, because a connection test and n8n's other nodes join it, and don't wait for a pause.
				await rateLimit.waitForPause(this.end);
				if (tokens.current === old) await tokens.findOnce(async () => await this.findToken(account, old));
			}
		};
		await beforeEnd(this.end, search());
	}

	/** Finds a token for all callers, other than `old`. It finds none if this execution ends, or if its credential was changed to another user. */
	private async findToken(account: Account, old?: Token): Promise<void> {
		const { tokens, rateLimit } = account;
		const { now, sleep } = currentClock();
		const pauseMs = tokens.pauseMs();
		if (pauseMs > 0) await sleep(pauseMs, this.end);
		const credential = await this.load();
		if (userOf(credential) !== userOf(this.credential)) {
			const what = 'The credential was changed to another platform or user during the run';
			this.endWith(inputFailure(what, 'Run the workflow again.').details);
			return;
		}
		this.credential = credential;
		this.account.tokens.use(credential.token);
		if (this.account !== account || tokens.current !== old || tokens.tryAgain(old)) return;
		const refused = tokens.recentLoginRefusal();
		if (refused !== undefined) throw refused;
		const send = async () => {
			if (this.end.aborted) return;
			const began = now();
			await this.renewToken(credential.forSignIn());
			tokens.signInTook = now() - began;
		};
		const { failure, details } = await outcomeOf(rateLimit.afterPause(send, this.end));
		// If there is a token, only n8n's store failed.
		if (failure === undefined || tokens.current !== old) return;
		const hasLimit = details !== undefined && isLimit(details);
		// Otherwise the old token's request would come first again, and use up what a tight limit admits.
		if (old !== undefined && hasLimit && ++this.limits % MAX_LIMITS > 0) return;
		if (old === undefined && !hasLimit) this.noteFailure(details);
		throw failure;
	}

	private noteFailure(details: FailureDetails | undefined): void {
		if (++this.failuresInARow >= MAX_FAILURES_IN_A_ROW && details !== undefined) this.endWith(details);
	}

	private endWith(details: FailureDetails): void {
		this.ended ??= new Failure({ ...details, retryable: false });
	}
}

/** A changed password shows the same devices. */
const userOf = ({ baseUrl, user }: Credential) => JSON.stringify([baseUrl.href, user]);
