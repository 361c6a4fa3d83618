import { accountOf } from '../../../nodes/DeviceManagement/transport/account.ts';
import { Tokens } from '../../../nodes/DeviceManagement/transport/auth/tokens.ts';
import { useVirtualTime } from '../fakes.mts';

const now = 0;
let chance: number;
useVirtualTime(() => chance);
let tokens: Tokens;
beforeEach(() => {
	chance = 0;
	tokens = new Tokens();
});

describe('the token', () => {
	test('of another process is not given to requests whose token was refused', () => {
		tokens.use('new', now);
		expect([tokens.newToken('old'), tokens.newToken('new')]).toEqual(['new', undefined]);
		tokens.use('of another process');
		expect(tokens.newToken('old')).toBeUndefined();
	});

	test("of n8n's store is none of the last hundred that the account has had, unless the platform has just issued it again", () => {
		for (let n = 0; n <= 100; n++) tokens.use(`${n}`);
		for (const value of ['1', '99', '']) {
			tokens.use(value);
			expect(tokens.current).toMatchObject({ value: '100' });
		}
		tokens.use('0');
		expect(tokens.current).toMatchObject({ value: '0' });
		tokens.use('2', now);
		expect(tokens.current).toMatchObject({ value: '2' });
	});
});

describe('the pause before a sign-in', () => {
	test('doubles with each sign-in in vain, up to 1.6 seconds, and at most triples by chance', () => {
		const pauses = [0, 1, 2, 3, 4, 5, 6].map((n) => {
			const pause = [0, 1].map((by) => ((chance = by), tokens.pauseMs()));
			tokens.use(`token ${n}`, now);
			return pause;
		});
		expect(pauses).toEqual([0, 100, 200, 400, 800, 1600, 1600].map((ms) => [ms, 3 * ms]));
	});

	test('is at least as long as the last sign-in took, five seconds at most; an accepted token ends it', () => {
		tokens.use('late', now);
		const late = tokens.current;
		tokens.use('one', now);
		tokens.signInTook = 30_000;
		// A late response to an older token.
		tokens.accept(late, '/');
		expect(tokens.pauseMs()).toBe(5000);
		tokens.accept(tokens.current, '/');
		tokens.use('of another process');
		expect(tokens.pauseMs()).toBe(0);
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
