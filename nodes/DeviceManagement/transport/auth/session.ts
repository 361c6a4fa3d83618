/**
 * Finds the token for an execution's requests with one account. Without one, all wait until a request of any execution finds one in
 * n8n's store or signs in. A request whose token was refused drops the token and starts over. If new tokens are refused, too, it fails;
 * after 20 such failures and failed sign-ins in a row, all fail. A response that may mean an expired token renews it once. It doesn't retry
 * other failures. Tokens and waits are the account's.
 */
import { Failure, inputFailure } from '../../core/failure';
import { outcomeOf } from '../waiting/retry';
import { type Account, accountOf, type Token } from './account';
import { beforeEnd, type Clock, whyEnded } from '../waiting/clock';
import type { Credential } from './credential';
import { isLimit } from '../waiting/rateLimit';

export interface SessionDependencies {
	/** Loads the credential from n8n's store again: it may have changed, or another process may have signed in. */
	load(): Promise<Credential>;
	/** Has n8n sign in with the credential and store the token. The account learns the outcome. */
	renewToken(credential: Credential): Promise<void>;
	clock: Pick<Clock, 'now' | 'random' | 'sleep'>;
	/** Aborted when the execution ends. */
	end: AbortSignal;
}

/** New tokens after which a request fails; the next requests of the session fail after fewer. */
const MAX_NEW_TOKENS = 4;
const MAX_NEW_TOKENS_LATER = 1;
/** Requests that fail this way and failed sign-ins, in a row, before the session ends. */
const MAX_FAILURES_IN_A_ROW = 20;

export class Session {
	private maxNewTokens = MAX_NEW_TOKENS;
	private failuresInARow = 0;
	private ended: Failure | undefined;

	constructor(
		private credential: Credential,
		private readonly dependencies: SessionDependencies,
	) {
		this.account.use(credential.token);
	}

	/** Looked up on every use, because the process may have removed the account from its memory. */
	private get account(): Account {
		return accountOf(this.credential);
	}

	/**
	 * Sends a request within the session.
	 * @param send sends it once; throws a Failure with `tokenRefused` if the platform refuses the key or token
	 * @param keepsToken whether to throw that Failure instead of renewing the token
	 * @param target the path, without a serial number, and whether the request is a write
	 * @throws what `send` throws, or the reason why the session ended
	 */
	async withToken<T>(send: (credential: Credential) => Promise<T>, keepsToken = false, target?: Target): Promise<T> {
		for (let [sent, newTokens, renewed] = [0, 0, false]; ; sent++) {
			const { account, token, credential } = await this.ready();
			const outcome = await outcomeOf(send(credential));
			if (acceptsToken(outcome)) {
				this.failuresInARow = 0;
				account.accept(token?.value);
			}
			if ('value' in outcome) return outcome.value;
			const { failure } = outcome;
			if (token !== undefined && !keepsToken && target !== undefined && mayBeExpired(failure)) {
				if (!(await this.renewFor(target, failure, token, renewed))) throw failure;
				renewed = true;
				continue;
			}
			// Rules: another failure says nothing about the token. If the token was replaced, the request is sent again with its
			// successor. A token that another process got doesn't count, because that process may have ended it. A request fails
			// after four new tokens, and a later one of the session after one.
			if (!refusesToken(failure) || keepsToken) throw failure;
			if (account.token !== undefined && account.token !== token) continue;
			if (sent > 0 && token?.issuedAt !== undefined) newTokens++;
			if (token === undefined || newTokens >= this.maxNewTokens) {
				this.maxNewTokens = MAX_NEW_TOKENS_LATER;
				this.noteFailure(failure);
				throw failure;
			}
			account.refuse(token.value);
		}
	}

	/**
	 * Renews a token that may have expired, unless another request has done it. The old one stays if the sign-in is answered in the same way.
	 * @param wasRenewed whether the request was sent again already, with a new token
	 * @returns whether to send the request again
	 */
	private async renewFor(target: Target, failure: Failure, token: Token, wasRenewed: boolean): Promise<boolean> {
		const { account } = this;
		const { clock } = this.dependencies;
		const isUnclear = target.isWrite && failure.details.expiry === 'unclear';
		if (!wasRenewed && account.token === token) {
			if (!account.mayRenewFor(target.path, clock.now())) return false;
			await this.search(account, token).catch((thrown: unknown) => {
				if (mayBeExpired(thrown) || isUnclear) return;
				if (thrown instanceof Failure && thrown.details.loginRefused === true)
					account.noteInVain(target.path, clock.now());
				throw thrown;
			});
		}
		const hasHelped = !wasRenewed && (this.account !== account || account.token !== token);
		if (!hasHelped || isUnclear) account.noteInVain(target.path, clock.now());
		return hasHelped && !isUnclear;
	}

	/** Waits for a token and returns the credential for the next request. An API key has no token. */
	private async ready(): Promise<{ account: Account; token: Token | undefined; credential: Credential }> {
		const { end } = this.dependencies;
		for (;;) {
			if (this.ended !== undefined) throw this.ended;
			if (end.aborted) throw whyEnded(end);
			const { account, credential } = this;
			const { token } = account;
			if (credential.owner === '') return { account, token: undefined, credential };
			if (token !== undefined) return { account, token, credential: credential.withToken(token.value) };
			await this.search(account).catch((thrown: unknown) => {
				if (thrown instanceof Failure && thrown.details.signInFailed === 'for good') this.endWith(thrown);
				throw thrown;
			});
		}
	}

	/** Takes part in the account's search for a token other than `old`, until the execution ends. */
	private async search(account: Account, old?: Token): Promise<void> {
		const { clock, end } = this.dependencies;
		const search = async () => {
			// Before the search, because a connection test and n8n's other nodes join it, and don't wait for a pause.
			await account.rateLimit.waitForPause(clock, end);
			if (account.token === old) await account.findOnce(async () => await this.findToken(old));
		};
		await beforeEnd(end, search());
	}

	/** Finds a token for all callers, other than `old`. It finds none if this execution ends, or if its credential was changed to another user. */
	private readonly findToken = async (old?: Token): Promise<void> => {
		const { account } = this;
		const { clock, end, load, renewToken } = this.dependencies;
		const pauseMs = account.pauseMs(clock.random());
		if (pauseMs > 0) await clock.sleep(pauseMs, end);
		const credential = await load();
		if (userOf(credential) !== userOf(this.credential)) {
			const what = 'The credential was changed to another platform or user during the run';
			this.endWith(inputFailure(what, 'Run the workflow again.'));
			return;
		}
		this.credential = credential;
		this.account.use(credential.token);
		if (this.account !== account || account.token !== old) return;
		const refused = account.recentLoginRefusal(clock.now());
		if (refused !== undefined) throw refused;
		const send = async () => {
			if (end.aborted) return;
			const began = clock.now();
			await renewToken(credential.forSignIn());
			account.signInTook = clock.now() - began;
		};
		await account.rateLimit.afterPause(send, clock, end).catch((thrown: unknown) => {
			// If there is a token, only n8n's store failed.
			if (account.token !== old) return;
			if (!isLimit(thrown) && old === undefined) this.noteFailure(thrown);
			throw thrown;
		});
	};

	private noteFailure(failure: unknown): void {
		if (++this.failuresInARow >= MAX_FAILURES_IN_A_ROW && failure instanceof Failure) this.endWith(failure);
	}

	private endWith({ details }: Failure): void {
		this.ended ??= new Failure({ ...details, retryable: false });
	}
}

interface Target {
	readonly path: string;
	readonly isWrite: boolean;
}

const mayBeExpired = (failure: unknown): failure is Failure =>
	failure instanceof Failure && failure.details.expiry !== undefined;

const refusesToken = (failure: unknown) => failure instanceof Failure && failure.details.tokenRefused === true;

/** Whether the platform accepted the token: it carried out the request, or refused the request itself. */
function acceptsToken(outcome: { value: unknown } | { failure: unknown }): boolean {
	if ('value' in outcome) return true;
	const { failure } = outcome;
	return failure instanceof Failure && failure.details.kind === 'refused' && !refusesToken(failure);
}

/** A changed password shows the same devices. */
const userOf = ({ baseUrl, user }: Credential) => JSON.stringify([baseUrl.href, user]);
