/**
 * Sends an execution's requests with a token that works. If the platform refuses the token, all wait until one of them has found another
 * token in n8n's store or has signed in; each is then sent again. docs/maintainers/sign-in.md has the table of what follows a response.
 */
import { Failure, inputFailure, isLimit, outcomeOf } from '../../core/failure';
import { type Account, accountOf, type Token } from '../account';
import { beforeEnd, currentClock, whyEnded } from '../waiting/clock';
import type { Credential } from './credential';

/** How often a request is sent, each time with another token or after a pause. */
const MAX_TRIES = 12;
/** Pause before a new token that is refused is tried again. */
const YOUNG_PAUSE_MS = 1000;
/**
 * Longest pause before a token is replaced, for each time that its request was sent. Several processes may have to replace one at the same
 * time; the first one does. Where a user can have only one token, they end each other's, until a longer pause lets one store its token.
 */
const SPREAD_MS = 500;

export interface Host {
	/** Loads the credential from n8n's store again: another process may have signed in. */
	load(): Promise<Credential>;
	/** Has n8n sign in and store the token. The account learns the outcome. Throws a Failure without a token. */
	signIn(credential: Credential): Promise<void>;
	end: AbortSignal;
}

export class Session {
	/** Why this session can't find a token. Others of the account may. */
	private ended: Failure | undefined;
	/** Whether a sign-in has failed with code 10002, which may pass. Many retries might lock the account. */
	private hasFailed = false;

	constructor(
		private readonly credential: Credential,
		private readonly host: Host,
	) {
		this.account.takeStored(credential.token);
	}

	/** Looked up on every use, because the process may have removed the account from its memory. */
	private get account(): Readonly<Account> {
		return accountOf(this.credential);
	}

	/**
	 * Sends a request, again if its token is refused.
	 * @param send sends it once; throws a Failure whose `token` says whether the platform refuses the key or token
	 * @param keepsToken whether to fail if the token is refused
	 */
	async withToken<T>(send: (credential: Credential) => Promise<T>, keepsToken = false): Promise<T> {
		if (!this.credential.signsIn) return await send(this.credential);
		let isDoubted = false;
		for (let tries = 1; ; tries++) {
			const token = await this.token(tries - 1);
			const outcome = await outcomeOf(send(this.credential.withToken(token.value)));
			this.account.noteResponse(token, outcome, isDoubted && !this.host.end.aborted);
			if ('value' in outcome) return outcome.value;
			const { failure, details } = outcome;
			if (details?.token === undefined || keepsToken || tries === MAX_TRIES) throw failure;
			isDoubted = details.token === 'doubted';
			if (details.inDoubt === true) {
				// A write that may have been carried out isn't sent again, but the next request needs another token.
				await outcomeOf(this.replaceDoubted(token, failure));
				throw failure;
			}
			if (isDoubted) await this.replaceDoubted(token, failure);
			else this.account.drop(token);
		}
	}

	/** Replaces a token that may have expired. Throws the reason for the doubt if that can't be, or if it isn't the token. */
	private async replaceDoubted(token: Token, doubt: unknown): Promise<void> {
		const { account } = this;
		if (!account.mayHaveExpired(token)) throw doubt;
		account.drop(token);
		const { failure, details } = await outcomeOf(this.token());
		if (failure === undefined) return account.noteReplaced(token);
		// After a limit, the old token must not be sent before the next sign-in.
		if (details === undefined || !isLimit(details)) account.takeBack(token);
		throw details?.token === 'doubted' ? doubt : failure;
	}

	/** @param sent how often the request was sent */
	private async token(sent = 0): Promise<Token> {
		for (;;) {
			const { account, host } = this;
			if (host.end.aborted) throw whyEnded(host.end);
			if (this.ended !== undefined) throw this.ended;
			if (account.token !== undefined) return account.token;
			const search = async () => await this.findToken(sent);
			await beforeEnd(host.end, account.once('search', search));
		}
	}

	/** Finds a token for all that wait. It finds none if this execution or session ends: another one then searches. */
	private async findToken(sent: number): Promise<void> {
		const { account, credential, host } = this;
		const { sleep, random } = currentClock();
		const { dropped } = account;
		const isYoung = dropped !== undefined && account.isYoung(dropped);
		if (dropped !== undefined)
			await sleep(isYoung ? YOUNG_PAUSE_MS : random() * Math.max(1, sent) * SPREAD_MS, host.end);
		const loaded = await host.load();
		if (loaded.accountKey !== credential.accountKey) {
			// The others that wait may have another credential of the account, which wasn't changed.
			this.ended = inputFailure('The credential changed during the execution', 'Run the workflow again.');
			return;
		}
		account.takeStored(loaded.token);
		if (isYoung) account.takeBack(dropped);
		if (account.token !== undefined) return;
		await account.traffic.waitForPause(host.end);
		if (host.end.aborted) return;
		const { failure, details } = await outcomeOf(host.signIn(loaded));
		if (details?.code === 10002) {
			if (this.hasFailed) this.ended = new Failure({ ...details, signInFailed: 'for good' });
			this.hasFailed = true;
		}
		if (failure !== undefined) throw this.ended ?? failure;
	}
}
