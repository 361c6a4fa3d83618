import { Failure } from '../../nodes/DeviceManagement/core/failure.ts';
import { Account, accountOf, forgetAccounts, type SessionFields } from '../../nodes/DeviceManagement/transport/account.ts';

const MINUTE = 60_000;
const data = { name: 'this' };
const forEver = new AbortController().signal;
let account: Account;
let now: number;
beforeEach(() => {
	forgetAccounts();
	account = new Account();
	now = 1_000_000;
});

function fieldsOf(token: string): SessionFields {
	return { sessionToken: token, sessionOwner: 'owner' };
}

/** A promise, and what settles it. */
function deferred<T>() {
	let resolve: (value: T) => void = () => {};
	let reject: (reason: unknown) => void = () => {};
	const promise = new Promise<T>((settle, fail) => {
		resolve = settle;
		reject = fail;
	});
	return { promise, resolve, reject };
}

/** Signs in as n8n does when it is asked to: not before it had something of its own to do. */
const byN8n = (ask: (drop: AbortSignal | undefined) => Promise<SessionFields>) => async () => {
	await Promise.resolve();
	return (await account.signIn(data, ask, () => now)).sessionToken;
};
const signIn = async (ask: () => Promise<SessionFields>) => await account.signIn(data, ask, () => now);
const refusal = (details: { loginRefused?: boolean } = { loginRefused: true }) =>
	new Failure({ kind: 'refused', cause: 'credential', message: 'No', remedy: 'Change it.', ...details });
const refused = async () => await signIn(async () => await Promise.reject(refusal())).catch((thrown: unknown) => thrown);

describe('a token that was just issued', () => {
	beforeEach(async () => {
		await signIn(async () => fieldsOf('new'));
	});

	test('is handed to whoever has another one, for five seconds', () => {
		expect(account.newerToken('old', now)).toBe('new');
		expect(account.newerToken(undefined, now + 4_999)).toBe('new');
		expect(account.newerToken('old', now + 5_000)).toBeUndefined();
		expect(account.newerToken('new', now)).toBeUndefined();
	});

	test('is handed to nobody once a request with it was refused', () => {
		account.refused('other');
		expect(account.token).toBe('new');
		expect(account.newerToken('old', now)).toBe('new');
		account.refused('new');
		expect(account.token).toBeUndefined();
		expect(account.newerToken('old', now)).toBeUndefined();
	});
});

describe('a refused login', () => {
	test('is remembered for a minute, then for twice as long each time, up to a quarter of an hour', async () => {
		for (const minutes of [1, 2, 4, 8, 15, 15]) {
			await refused();
			expect(account.remembersRefusal(now + minutes * MINUTE - 1)).toBeInstanceOf(Failure);
			expect(account.remembersRefusal(now + minutes * MINUTE)).toBeUndefined();
			now += minutes * MINUTE;
		}
	});

	test('begins anew with a minute after a login that was accepted', async () => {
		await refused();
		await refused();
		await signIn(async () => fieldsOf('new'));
		expect(account.remembersRefusal(now)).toBeUndefined();
		await refused();
		expect(account.remembersRefusal(now + MINUTE)).toBeUndefined();
	});

	test('is not remembered for longer than a quarter of an hour when the clock is set back', async () => {
		await refused();
		expect(account.remembersRefusal(now - 14 * MINUTE)).toBeInstanceOf(Failure);
		expect(account.remembersRefusal(now - 14 * MINUTE - 1)).toBeUndefined();
	});

	test('is remembered only where the platform refused it', async () => {
		for (const thrown of [refusal({}), refusal({ loginRefused: false }), new Error('no name'), { details: { loginRefused: true } }]) {
			await expect(signIn(async () => await Promise.reject(thrown))).rejects.toBe(thrown);
			expect(account.remembersRefusal(now)).toBeUndefined();
		}
	});

	test('is forgotten at once when somebody has signed in elsewhere', async () => {
		account.endWait(now);
		await refused();
		account.endWait(now);
		expect(account.remembersRefusal(now)).toBeUndefined();
	});
});

describe('a login under way', () => {
	test('is one for all who want a token, and is over with its end', async () => {
		const login = deferred<string>();
		let begun = 0;
		const lead = async () => {
			begun++;
			return await login.promise;
		};
		const waiting = [1, 2, 3].map(async () => await account.obtainToken(data, lead, forEver));
		expect({ begun, signsIn: account.signsIn }).toEqual({ begun: 1, signsIn: true });
		login.resolve('new');
		expect(await Promise.all(waiting)).toEqual(['new', 'new', 'new']);
		expect(account.signsIn).toBe(false);
		await account.obtainToken(data, async () => 'next', forEver);
		expect(begun).toBe(1);
	});

	test('is dropped by the last who waits, and the next one begins another', async () => {
		const drops: AbortSignal[] = [];
		const login = deferred<string>();
		const lead = async (drop: AbortSignal) => {
			drops.push(drop);
			return await login.promise;
		};
		const [one, other] = [new AbortController(), new AbortController()];
		const waiting = [one, other].map(async ({ signal }) => await account.obtainToken(data, lead, signal));
		one.abort();
		expect(await waiting[0]).toBeUndefined();
		expect(drops.map(({ aborted }) => aborted)).toEqual([false]);
		other.abort();
		expect(await waiting[1]).toBeUndefined();
		expect(drops.map(({ aborted }) => aborted)).toEqual([true]);
		expect(account.signsIn).toBe(false);

		// The end of the one that was dropped is not the end of the next one.
		const next = deferred<string>();
		const third = account.obtainToken(data, async () => await next.promise, forEver);
		login.resolve('late');
		await login.promise;
		await Promise.resolve();
		expect(account.signsIn).toBe(true);
		next.resolve('new');
		expect(await third).toBe('new');
	});

	test('asks the platform once, also for n8n nodes that want a token of their own', async () => {
		const answer = deferred<SessionFields>();
		let asked = 0;
		const ask = async () => {
			asked++;
			return await answer.promise;
		};
		const both = [signIn(ask), signIn(ask)];
		answer.resolve(fieldsOf('new'));
		expect(await Promise.all(both)).toEqual([fieldsOf('new'), fieldsOf('new')]);
		expect(asked).toBe(1);
		await signIn(ask);
		expect(asked).toBe(2);
	});

	test('goes on for an n8n node that waits for it when nobody else does', async () => {
		const stop = new AbortController();
		const answer = deferred<SessionFields>();
		const drops: Array<AbortSignal | undefined> = [];
		const ask = async (drop: AbortSignal | undefined) => {
			drops.push(drop);
			return await answer.promise;
		};
		const run = account.obtainToken(data, byN8n(ask), stop.signal);
		await Promise.resolve();
		const foreign = account.signIn({ name: 'of a node of n8n' }, ask, () => now);
		stop.abort();
		expect(await run).toBeUndefined();
		expect(drops.map((drop) => drop?.aborted)).toEqual([false]);
		answer.resolve(fieldsOf('new'));
		expect(await foreign).toEqual(fieldsOf('new'));
	});

	test('that was dropped answers nobody who comes later', async () => {
		const stop = new AbortController();
		const never = deferred<SessionFields>();
		const run = account.obtainToken(data, byN8n(async () => await never.promise), stop.signal);
		await Promise.resolve();
		stop.abort();
		expect(await run).toBeUndefined();
		expect(account.signsIn).toBe(false);
		expect(await signIn(async () => fieldsOf('new'))).toEqual(fieldsOf('new'));
	});
});

test('a hundred accounts are known, those under way and the one that is asked for always', () => {
	const first = accountOf({ account: '0' });
	first.token = 'kept';
	void first.obtainToken(data, async () => await new Promise<string>(() => {}), forEver);
	const second = accountOf({ account: '1' });
	for (let n = 2; n < 100; n++) accountOf({ account: String(n) });
	expect(accountOf({ account: '1' })).toBe(second);
	accountOf({ account: '100' });
	// The one used longest ago is forgotten, but for the one that signs in.
	expect(accountOf({ account: '0' })).toBe(first);
	expect(accountOf({ account: '1' })).toBe(second);
	const third = accountOf({ account: '3' });
	expect(accountOf({ account: '3' })).toBe(third);
});
