import type { FailureDetails } from '../../../nodes/DeviceManagement/core/failure.ts';
import { Account, accountOf, forgetAccounts } from '../../../nodes/DeviceManagement/transport/auth/account.ts';

const MINUTE = 60_000;
let account: Account;
let now: number;
beforeEach(() => {
	forgetAccounts();
	account = new Account();
	now = 1_000_000;
});

const REFUSED: FailureDetails = { kind: 'refused', cause: 'credential', message: 'No', remedy: 'Change it.' };

describe('the token', () => {
	test('issued less than five seconds ago goes to requests that have another one', () => {
		account.signedIn('new', now);
		expect(account.token).toEqual({ value: 'new', issuedAt: now });
		expect(account.newToken('old', now)).toBe('new');
		expect(account.newToken(undefined, now + 4_999)).toBe('new');
		expect(account.newToken('old', now + 5_000)).toBeUndefined();
		expect(account.newToken('new', now)).toBeUndefined();
		account.use('of another process');
		expect(account.newToken('old', now)).toBeUndefined();
	});

	test('that was refused is never used again', () => {
		expect(account.newToken('any', now)).toBeUndefined();
		account.use('one');
		account.refuse('other');
		expect(account.token).toMatchObject({ value: 'one' });
		account.refuse('one');
		expect(account.token).toBeUndefined();
		account.use('one');
		account.use('');
		expect(account.token).toBeUndefined();
		account.use('two');
		expect(account.token).toMatchObject({ value: 'two' });
	});

	test('the last hundred refused ones are remembered', () => {
		for (let n = 0; n <= 100; n++) account.refuse(`${n}`);
		account.use('1');
		expect(account.token).toBeUndefined();
		account.use('0');
		expect(account.token).toMatchObject({ value: '0' });
	});
});

describe('the pause before a sign-in', () => {
	test('doubles with each sign-in in vain, up to 1.6 seconds, and at most triples by chance', () => {
		const pauses = [0, 1, 2, 3, 4, 5, 6].map((n) => {
			const pause = [account.pauseMs(0), account.pauseMs(0.5), account.pauseMs(1)];
			account.use(`token ${n}`, now);
			return pause;
		});
		expect(pauses).toEqual([
			[0, 0, 0],
			[100, 200, 300],
			[200, 400, 600],
			[400, 800, 1200],
			[800, 1600, 2400],
			[1600, 3200, 4800],
			[1600, 3200, 4800],
		]);
	});

	test('is at least as long as the last sign-in took, five seconds at most', () => {
		account.use('one', now);
		account.signInTook = 700;
		expect(account.pauseMs(0)).toBe(700);
		account.signInTook = 30_000;
		expect(account.pauseMs(0)).toBe(5000);
	});

	test('ends with an accepted token, also if it is found again', () => {
		account.use('one', now);
		account.accept('late');
		expect(account.pauseMs(1)).toBe(300);
		account.accept('one');
		account.use('one', now);
		account.use('of another process');
		expect(account.pauseMs(1)).toBe(0);
	});
});

describe('a refused login', () => {
	beforeEach(() => account.noteLoginRefusal(REFUSED, now));

	test('is remembered for five minutes, and says when it is tried again', () => {
		expect(account.recentLoginRefusal(now)).toMatchObject({
			message: 'No. The same login is tried again in 5 minutes',
			// The connection test shows both in one line, which ends with what to do.
			details: { remedy: expect.stringMatching(/connection test.* Change it\.$/) },
		});
		expect(account.recentLoginRefusal(now + 1.5 * MINUTE)?.message).toBe(
			'No. The same login is tried again in 4 minutes',
		);
		expect(account.recentLoginRefusal(now + 5 * MINUTE - 1)?.message).toBe(
			'No. The same login is tried again in 1 second',
		);
		expect(account.recentLoginRefusal(now + 5 * MINUTE)).toBeUndefined();
	});

	test('is forgotten after a sign-in', () => {
		account.signedIn('new', now);
		expect(account.recentLoginRefusal(now)).toBeUndefined();
	});
});

test('one caller finds a token for all at the same time, and the next one finds another one', async () => {
	let begun = 0;
	const find = async () => {
		begun++;
		await Promise.resolve();
		if (begun === 2) throw new Error('not found');
	};
	const all = [account.findOnce(find), account.findOnce(find)];
	expect(begun).toBe(1);
	await Promise.all(all);
	await expect(account.findOnce(find)).rejects.toThrow('not found');
	await account.findOnce(find);
	expect(begun).toBe(3);
});

test('1,000 accounts are remembered; the one that was used longest ago is forgotten', () => {
	const [first, second] = [accountOf({ accountDigest: '0' }), accountOf({ accountDigest: '1' })];
	for (let n = 2; n < 1000; n++) accountOf({ accountDigest: String(n) });
	expect(accountOf({ accountDigest: '0' })).toBe(first);
	accountOf({ accountDigest: '1000' });
	expect(accountOf({ accountDigest: '0' })).toBe(first);
	expect(accountOf({ accountDigest: '1' })).not.toBe(second);
});
