import { z } from 'zod/v4';

import type { FailureDetails } from '../../../nodes/DeviceManagement/core/failure.ts';
import { accountOf } from '../../../nodes/DeviceManagement/transport/account.ts';
import { type Credential, credentialOf } from '../../../nodes/DeviceManagement/transport/auth/credential.ts';
import { Session } from '../../../nodes/DeviceManagement/transport/auth/session.ts';
import { openPlatform } from '../../../nodes/DeviceManagement/transport/platform.ts';
import { FakeN8n, failureOf, responseOf, settled, SIGNED_OUT, useVirtualTime } from '../../../testbed/fakeN8n.mts';

/** Whatever becomes of the sign-ins of days, or of several processes, is in the tests beside this one. */

const virtual = useVirtualTime();
const until = async <T,>(promise: Promise<T>) => await virtual.time.until(promise);

const refusal = (details: Partial<FailureDetails>) => failureOf({ kind: 'refused', cause: 'credential', ...details });
const deadToken = () => refusal({ code: 14101, token: 'refused' });
const CANCELLED = { details: { kind: 'cancelled' } };
const account = () => accountOf(credentialOf(SIGNED_OUT));

type Send = (credential: Credential) => Promise<unknown>;

/** A platform, n8n's store and n8n's way of signing in, without any of them. */
class FakePlatform {
	signIns = 0;
	sent = 0;
	stored = SIGNED_OUT;
	refuseSignIn: Error | undefined;
	readonly stop = new AbortController();
	private issued = 0;
	/** The last token, unless it has expired. */
	private valid = '';

	/** @param expired what a request with an expired token gets */
	constructor(private readonly expired: () => Error = deadToken) {}

	/** Begins an execution, and returns a function that sends its requests. */
	open(): (send?: Send, keepsToken?: boolean) => Promise<unknown> {
		const load = async () => credentialOf({ ...this.stored });
		const session = new Session(credentialOf(this.stored), { load, signIn: this.signIn, end: this.stop.signal });
		return async (send = this.send, keepsToken = false) => await session.withToken(send, keepsToken);
	}

	/** Signs in as another process would, and stores the token. */
	signInElsewhere(): this {
		this.valid = `token ${++this.issued}`;
		this.stored = credentialOf(this.stored).withToken(this.valid).data;
		return this;
	}

	expireTokens(): void {
		this.valid = '';
	}

	readonly send: Send = async ({ token }) => {
		this.sent++;
		await Promise.resolve();
		if (token !== this.valid) throw this.expired();
		return token;
	};

	private readonly signIn = async (): Promise<void> => {
		this.signIns++;
		await Promise.resolve();
		if (this.refuseSignIn !== undefined) throw this.refuseSignIn;
		account().takeIssued(this.signInElsewhere().valid);
	};
}

const times = async <T,>(count: number, run: () => Promise<T>): Promise<T[]> =>
	await until(Promise.all(Array.from({ length: count }, run)));

describe('a refused token', () => {
	test('is replaced by the token that another process has stored, without a sign-in', async () => {
		const platform = new FakePlatform().signInElsewhere();
		const request = platform.open();
		platform.signInElsewhere();
		expect(await until(request())).toBe('token 2');
		expect([platform.signIns, virtual.time.now()]).toEqual([0, 250]);
	});

	test('fails the request after twelve tries and three sign-ins, each token after more tries, a second apart; others go on', async () => {
		const platform = new FakePlatform();
		const refused = async (credential: Credential) =>
			await platform.send(credential).then(() => Promise.reject(deadToken()));
		expect(await until(settled(platform.open()(refused)))).toMatchObject({ details: { code: 14101 } });
		expect({ ...platform, now: virtual.time.now() }).toMatchObject({
			signIns: 3,
			sent: 12,
			now: 3000 + 1000 + 3000 + 2000 + 3000,
		});
		expect(await until(platform.open()())).toBe('token 3');
	});

	test('is not replaced for a check that must not sign in', async () => {
		const platform = new FakePlatform().signInElsewhere();
		platform.expireTokens();
		expect(await until(settled(platform.open()(platform.send, true)))).toMatchObject({ details: { code: 14101 } });
		expect(platform.signIns).toBe(0);
	});

	test('is replaced by two sign-ins at most if the service behind the sign-in has trouble, however many requests wait', async () => {
		const platform = new FakePlatform();
		const request = platform.open();
		platform.refuseSignIn = refusal({ code: 10002, cause: 'platform', temporary: true, signInFailed: 'for now' });
		for (const signInFailed of ['for now', 'for good', 'for good']) {
			const outcomes = await times(8, async () => await settled(request()));
			for (const outcome of outcomes) expect(outcome).toMatchObject({ details: { code: 10002, signInFailed } });
		}
		expect(platform).toMatchObject({ signIns: 2, sent: 0 });
		platform.refuseSignIn = undefined;
		expect(await until(platform.open()())).toBe('token 1');
	});
});

describe('one sign-in', () => {
	test('waits for a pause that the platform has asked for', async () => {
		const told = failureOf({ httpStatus: 429, temporary: true, retryAfterMs: 60_000 });
		const once = { most: 0, costOf: () => 0, end: new AbortController().signal };
		await settled(account().traffic.send(async () => await Promise.reject(told), once));
		await until(new FakePlatform().open()());
		expect(virtual.time.now()).toBe(60_250);
	});

	test.each([
		['refused the request: the platform knew the token', refusal({ code: 14103 }), 250],
		['did not respond: the token may only need time', failureOf({ kind: 'timeout' }), 4000],
	])('follows a platform that %s', async (_, failure, now) => {
		const platform = new FakePlatform();
		const request = platform.open();
		await settled(request(async () => await Promise.reject(failure)));
		platform.expireTokens();
		await until(request());
		expect([platform.signIns, virtual.time.now()]).toEqual([2, now]);
	});

	test('is left to another execution if this one is stopped during the pause', async () => {
		const [stopped, other] = [new FakePlatform(), new FakePlatform()];
		const refused = { value: 'refused' };
		account().takeBack(refused);
		account().drop(refused);
		virtual.time.after(1, () => stopped.stop.abort());
		const [ended, continued] = await until(Promise.allSettled([stopped.open()(), other.open()()]));
		expect([ended, continued]).toMatchObject([{ reason: CANCELLED }, { value: 'token 1' }]);
		expect([stopped.signIns, other.signIns]).toEqual([0, 1]);
	});

	test.each([
		['a key', { authentication: 'apiKey', apiKey: 'k' }],
		['another password', { password: 'another' }],
		['another platform', { baseUrl: 'https://other.example' }],
	])('fails if the credential was changed to %s: no list holds the devices of two users', async (_what, changes) => {
		const platform = new FakePlatform();
		const request = platform.open();
		platform.stored = { ...SIGNED_OUT, ...changes };
		await expect(until(request())).rejects.toThrow('changed during the execution');
		expect(platform.signIns).toBe(0);
	});
});

describe('a response that may mean an expired token', () => {
	const told = (inDoubt = false) => failureOf({ kind: 'status', httpStatus: 403, token: 'doubted', inDoubt });
	const signedIn = (inDoubt = false) => new FakePlatform(() => told(inDoubt)).signInElsewhere();

	test('replaces it each time, once for all requests', async () => {
		const platform = signedIn();
		const request = platform.open();
		for (const signIns of [1, 2, 3]) {
			platform.expireTokens();
			await times(10, async () => await Promise.all([request(), platform.open()()]));
			expect(platform.signIns).toBe(signIns);
		}
	});

	test('costs one sign-in if that does not help', async () => {
		const platform = signedIn();
		const request = platform.open();
		for (let n = 0; n < 5; n++) {
			expect(await until(settled(request(async () => await Promise.reject(told()))))).toEqual(told());
		}
		expect(platform.signIns).toBe(1);
	});

	test('does not make the dead token come first if only a limit refuses the sign-in', async () => {
		const platform = signedIn();
		platform.expireTokens();
		platform.refuseSignIn = failureOf({ httpStatus: 429, temporary: true });
		expect(await until(settled(platform.open()()))).toBe(platform.refuseSignIn);
		platform.refuseSignIn = undefined;
		expect(await until(platform.open()())).toBe('token 2');
		expect(platform).toMatchObject({ sent: 2, signIns: 2 });
	});

	test.each<[what: string, signIn: Partial<FailureDetails>, thrown: object]>([
		['the response of the sign-in, too', { token: 'doubted' }, { httpStatus: 403 }],
		['not that of the sign-in', { code: 14201 }, { code: 14201 }],
	])('leaves the token as it is if it is %s', async (_, signIn, details) => {
		const platform = signedIn();
		platform.refuseSignIn = refusal({ ...signIn, signInFailed: 'for good' });
		const request = platform.open();
		const doubted = request(async () => await Promise.reject(told()));
		expect(await until(settled(doubted))).toMatchObject({ details });
		expect(await until(request())).toBe('token 1');
	});

	test('does not send a write again that may have been carried out, but signs in for the next one', async () => {
		const platform = signedIn(true);
		platform.expireTokens();
		const request = platform.open();
		expect(await until(settled(request()))).toEqual(told(true));
		expect(platform).toMatchObject({ sent: 1, signIns: 1 });
		expect(await until(request())).toBe('token 2');
	});

	test('counts as in vain if the execution is stopped before the next response', async () => {
		const platform = signedIn();
		let sent = 0;
		const stopped: Send = async () => {
			if (++sent === 1) throw told();
			platform.stop.abort();
			throw failureOf({ kind: 'cancelled' });
		};
		expect(await until(settled(platform.open()(stopped)))).toMatchObject(CANCELLED);
		await virtual.time.run(294_999);
		const { token = { value: 'none' } } = account();
		expect(account().mayHaveExpired(token)).toBe(false);
		// The response to another request doesn't show that it helped.
		await until(new FakePlatform().open()(async () => {}));
		expect(account().mayHaveExpired(token)).toBe(false);
		await virtual.time.run(1);
		expect(account().mayHaveExpired(token)).toBe(true);
	});

	test('passes on what is thrown but no failure', async () => {
		const bug = new TypeError('a bug');
		for (const thrown of [bug, told()]) {
			const platform = signedIn();
			platform.refuseSignIn = bug;
			expect(await until(settled(platform.open()(async () => await Promise.reject(thrown))))).toBe(bug);
		}
	});
});

test('a new token that others replaced and found refused, while n8n stored it, only costs another search', async () => {
	const lose = async () => {
		for (const value of ['', 'other']) {
			account().takeStored(value);
			account().drop(account().token ?? { value });
		}
	};
	const answer = async () => responseOf({ code: 0, data: 'token' });
	const platform = await openPlatform(new FakeN8n(answer, SIGNED_OUT, lose).context(), { parallelRequests: 1 });
	const settings = { timeoutMs: 1000, maxRetries: 0 };
	const request = { method: 'GET', path: '/api/version', words: 'apiRequest', schema: z.string(), settings } as const;
	expect(await until(platform.request(request))).toBe('token');
});
