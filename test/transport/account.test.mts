import { Account, accountOf } from '../../nodes/DeviceManagement/transport/account.ts';
import { useVirtualTime } from '../../testbed/fakeN8n.mts';

const virtual = useVirtualTime();

/** Returns an account with a token that the platform has just issued. */
function withToken() {
	const account = new Account();
	account.takeIssued('issued');
	const token = account.token ?? { value: 'none' };
	return { account, token };
}

test.each([
	['for five minutes, if it was the first one', 0, true, 295_000],
	['for as long as that was in vain', 600_000, false, 600_000],
	['for 25 minutes at most, so that others find no token of half an hour expired', 7_200_000, false, 1_495_000],
	['for five minutes if it worked, because it may really have expired', 7_200_000, true, 295_000],
])('a doubt keeps a token that replaced others in vain %s', async (_for, inVainMs, worked, keptMs) => {
	const { account, token } = withToken();
	if (worked) account.noteResponse(token, { value: undefined }, false);
	expect(account.mayHaveExpired(token)).toBe(true);
	account.noteReplaced({ value: 'first' });
	await virtual.time.run(inVainMs);
	account.noteReplaced({ value: 'last' });
	await virtual.time.run(keptMs - 1);
	expect(account.mayHaveExpired(token)).toBe(false);
	// A request may have been sent with an earlier token, and a stored one may have any age.
	expect(account.mayHaveExpired({ ...token })).toBe(true);
	const stored = { value: 'stored' };
	account.drop(token);
	account.takeBack(stored);
	expect(account.mayHaveExpired(stored)).toBe(true);
	account.drop(stored);
	account.takeBack(token);
	await virtual.time.run(1);
	expect(account.mayHaveExpired(token)).toBe(true);
});

test("a token of n8n's store is taken if the account has none, but not the one that it has just dropped", () => {
	const { account, token } = withToken();
	account.takeStored('stored');
	expect(account.token).toBe(token);
	account.drop({ ...token });
	expect(account.token).toBe(token);
	account.drop(token);
	account.takeStored('issued');
	account.takeStored('');
	expect(account.token).toBeUndefined();
	account.takeStored('stored');
	expect(account.token).toEqual({ value: 'stored' });
});

test('1,000 accounts are remembered; the one that was used longest ago is forgotten', () => {
	const [first, second] = [accountOf({ accountKey: '0' }), accountOf({ accountKey: '1' })];
	for (let n = 2; n < 1000; n++) accountOf({ accountKey: String(n) });
	expect(accountOf({ accountKey: '0' })).toBe(first);
	accountOf({ accountKey: '1000' });
	expect(accountOf({ accountKey: '0' })).toBe(first);
	expect(accountOf({ accountKey: '1' })).not.toBe(second);
});
