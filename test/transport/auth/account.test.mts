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

	test('that was one of the last hundred refused ones is not used again', () => {
		account.use('100');
		account.refuse('0');
		expect(account.token).toMatchObject({ value: '100' });
		for (let n = 1; n <= 100; n++) account.refuse(`${n}`);
		for (const value of ['1', '100', '']) {
			account.use(value);
			expect(account.token).toBeUndefined();
		}
		account.use('0');
		expect(account.token).toMatchObject({ value: '0' });
		// The platform has just issued it again.
		account.use('1', now);
		account.use('0');
		account.use('1');
		expect(account.token).toMatchObject({ value: '1' });
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
		account.use('one', now);
		account.signInTook = 30_000;
		// A late response to an older token.
		account.accept('late');
		expect(account.pauseMs()).toBe(5000);
		account.accept('one');
		account.use('one', now);
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
