import { remember, Tokens } from './auth/tokens';
import type { Credential } from './auth/credential';
import { RateLimit } from './waiting/rateLimit';

const MAX_ACCOUNTS = 1000;

/**
 * What this process knows about one account. All that use credentials of one account share it (executions, dropdowns, triggers, n8n's
 * HTTP Request node). It is forgotten when the process ends, or after 1,000 other accounts were used.
 */
export class Account {
	readonly tokens = new Tokens();
	readonly rateLimit = new RateLimit();
	/** When the platform last refused to sort a list by ID (`Clock.now`), alone or after other fields. Each reading may change it. */
	readonly idRefusedAt = { alone: -Infinity, last: -Infinity };
}

const accounts = new Map<string, Account>();

export function accountOf({ accountDigest }: Pick<Credential, 'accountDigest'>): Account {
	return remember(accounts, accountDigest, accounts.get(accountDigest) ?? new Account(), MAX_ACCOUNTS);
}

/** Forgets all accounts, as a restart of the process does. */
export function forgetAccounts(): void {
	accounts.clear();
}
