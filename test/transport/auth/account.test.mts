import { Account, accountOf } from '../../../nodes/DeviceManagement/transport/auth/account.ts';
import { useVirtualTime } from '../fakes.mts';

const now = 0;
let chance: number;
useVirtualTime(() => chance);
let account: Account;
beforeEach(() => {
	chance = 0;
	account = new Account();
});

describe('the token', () => {
	test('of another process is not given to requests whose token was refused', () => {
		account.signedIn('new');
		expect([account.newToken('old'), account.newToken('new')]).toEqual(['new', undefined]);
		account.use('of another process');
		expect(account.newToken('old')).toBeUndefined();
	});

	test("of n8n's store is none of the last hundred that the account has had, unless the platform has just issued it again", () => {
		for (let n = 0; n <= 100; n++) account.use(`${n}`);
		for (const value of ['1', '99', '']) {
			account.use(value);
			expect(account.token).toMatchObject({ value: '100' });
		}
		account.use('0');
		expect(account.token).toMatchObject({ value: '0' });
		account.use('2', now);
		expect(account.token).toMatchObject({ value: '2' });
	});
});

describe('the pause before a sign-in', () => {
	test('doubles with each sign-in in vain, up to 1.6 seconds, and at most triples by chance', () => {
		const pauses = [0, 1, 2, 3, 4, 5, 6].map((n) => {
			const pause = [0, 1].map((by) => ((chance = by), account.pauseMs()));
			account.use(`token ${n}`, now);
			return pause;
		});
		expect(pauses).toEqual([0, 100, 200, 400, 800, 1600, 1600].map((ms) => [ms, 3 * ms]));
	});

	test('is at least as long as the last sign-in took, five seconds at most; an accepted token ends it', () => {
		const accept = (token = account.token) => token && account.accept(token, '/');
		account.use('late', now);
		const { token: late } = account;
		account.use('one', now);
		account.signInTook = 30_000;
		// A late response to an older token.
		accept(late);
		expect(account.pauseMs()).toBe(5000);
		accept();
		account.use('of another process');
		expect(account.pauseMs()).toBe(0);
	});
});

test('1,000 accounts are remembered; the one that was used longest ago is forgotten', () => {
	const [first, second] = [accountOf({ accountDigest: '0' }), accountOf({ accountDigest: '1' })];
	for (let n = 2; n < 1000; n++) accountOf({ accountDigest: String(n) });
	expect(accountOf({ accountDigest: '0' })).toBe(first);
	accountOf({ accountDigest: '1000' });
	expect(accountOf({ accountDigest: '0' })).toBe(first);
	expect(accountOf({ accountDigest: '1' })).not.toBe(second);
});
