import type { ICredentialDataDecryptedObject as CredentialData } from 'n8n-workflow';
import { setImmediate as everythingElse } from 'node:timers/promises';

import type { FailureDetails } from '../../../nodes/DeviceManagement/core/failure.ts';
import { type Account, accountOf, forgetAccounts } from '../../../nodes/DeviceManagement/transport/account.ts';
import { type Credential, credentialOf } from '../../../nodes/DeviceManagement/transport/auth/credential.ts';
import { Session } from '../../../nodes/DeviceManagement/transport/auth/session.ts';
import { replaceClock, systemClock } from '../../../nodes/DeviceManagement/transport/waiting/clock.ts';
import { failureOf, settled, SIGNED_OUT } from '../fakes.mts';

const KEY: CredentialData = { ...SIGNED_OUT, authentication: 'apiKey', apiKey: 'k' };
const SIGNED_IN: CredentialData = { ...SIGNED_OUT, sessionToken: 'any' };
const BEGIN = 1_000_000;
const withToken = (data: CredentialData, token: string): CredentialData => credentialOf(data).withToken(token).data;

/** Time passes in waits only, which end at once. */
let time: number;
let waits: number[];
let onWait: () => void;
let putBack: () => void;
beforeEach(() => {
	forgetAccounts();
	[time, waits, onWait] = [BEGIN, [], () => {}];
	const sleep = async (ms: number, end: AbortSignal) => {
		waits.push(ms);
		time += ms;
		onWait();
		if (!end.aborted) await everythingElse();
	};
	putBack = replaceClock({ ...systemClock, now: () => time, random: () => 0.5, sleep });
});
afterEach(() => putBack());

const refusal = (details: Partial<FailureDetails>) => failureOf({ kind: 'refused', cause: 'credential', ...details });
const deadToken = () => refusal({ code: 14101, token: 'refused' });
const REFUSED = { details: { code: 14101 } };
const CANCELLED = { details: { kind: 'cancelled' } };
const account = (): Account => accountOf(credentialOf(SIGNED_OUT));

type Send = (credential: Credential) => Promise<unknown>;

/** A platform whose tokens work for so many requests, n8n's store and n8n's way of signing in, without any of them. */
class FakePlatform {
	signIns = 0;
	sent = 0;
	stored: CredentialData;
	refuseSignIn: Error | undefined;
	/** Happens after the platform has issued a token, before n8n has stored it. */
	onIssue: () => Promise<unknown> | void = () => {};
	stop = new AbortController();
	/** What a request with an expired token gets. */
	expired: () => Error = deadToken;
	private issued = 0;
	private readonly valid = new Map<string, number>();

	constructor(
		public requestsPerToken = Infinity,
		data: CredentialData = SIGNED_OUT,
	) {
		this.stored = data;
		if (data['sessionToken'] !== '') this.signInElsewhere();
	}

	/** Begins an execution, and returns a function that sends its requests. */
	open(): (send?: Send) => Promise<unknown> {
		const load = async () => credentialOf({ ...this.stored });
		const host = { load, signIn: this.signIn, end: this.stop.signal };
		const session = new Session(credentialOf(this.stored), host);
		return async (send = this.send) => await session.withToken(send);
	}

	/** Signs in as another process would, stores the token and returns it. */
	signInElsewhere(): string {
		const token = this.issue();
		this.stored = withToken(this.stored, token);
		return token;
	}

	expireTokens(): void {
		this.valid.clear();
	}

	send: Send = async ({ data }) => {
		this.sent++;
		await Promise.resolve();
		if (data['authentication'] !== 'login') return 'by key';
		const token = String(data['sessionToken']);
		const left = this.valid.get(token) ?? 0;
		this.valid.set(token, left - 1);
		if (left <= 0) throw this.expired();
		return token;
	};

	/** An endpoint that refuses every token. */
	refuse: Send = async (credential) => {
		await this.send(credential);
		throw deadToken();
	};

	private signIn = async (): Promise<void> => {
		this.signIns++;
		await Promise.resolve();
		if (this.refuseSignIn !== undefined) throw this.refuseSignIn;
		const token = this.issue();
		account().takeIssued(token);
		await this.onIssue();
		this.stored = withToken(this.stored, token);
	};

	private issue(): string {
		const token = `token ${++this.issued}`;
		this.valid.set(token, this.requestsPerToken);
		return token;
	}
}

const times = async <T,>(count: number, run: (n: number) => Promise<T>): Promise<T[]> =>
	await Promise.all(Array.from({ length: count }, async (_, n) => await run(n)));

describe('a refused token', () => {
	test('is replaced by one sign-in for all requests of all executions, and each is sent again', async () => {
		const platform = new FakePlatform(Infinity, SIGNED_IN);
		platform.expireTokens();
		const outcomes = await times(10, async () => await Promise.all([platform.open()(), platform.open()()]));
		expect(new Set(outcomes.flat())).toEqual(new Set(['token 2']));
		expect(platform).toMatchObject({ signIns: 1, sent: 40 });
	});

	test('is replaced by the token that another process has stored, without a sign-in', async () => {
		const platform = new FakePlatform(Infinity, SIGNED_IN);
		const request = platform.open();
		platform.expireTokens();
		platform.signInElsewhere();
		await expect(request()).resolves.toBe('token 2');
		expect([platform.signIns, waits]).toEqual([0, [250]]);
	});

	test('is tried again after a second if it is new and never worked', async () => {
		const platform = new FakePlatform();
		let sent = 0;
		const late: Send = async ({ token }) => (++sent < 3 ? await Promise.reject(deadToken()) : token);
		await expect(platform.open()(late)).resolves.toBe('token 1');
		expect([platform.signIns, waits]).toEqual([1, [1000, 1000]]);
	});

	test('fails the request after six tries and two sign-ins; others go on', async () => {
		const platform = new FakePlatform();
		await expect(platform.open()(platform.refuse)).rejects.toMatchObject(REFUSED);
		expect(platform).toMatchObject({ signIns: 2, sent: 6 });
		await expect(platform.open()()).resolves.toBe('token 2');
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
		await expect(platform.open()()).resolves.toBe('token 1');
	});

	test.each([
		['the name of a key', KEY],
		['a check that must not sign in', SIGNED_IN],
	])('is not replaced for %s', async (what, data) => {
		const platform = new FakePlatform(Infinity, data);
		platform.expireTokens();
		const session = new Session(credentialOf(platform.stored), {
			load: async () => credentialOf(platform.stored),
			signIn: async () => await Promise.reject(new Error('no')),
			end: platform.stop.signal,
		});
		await expect(session.withToken(platform.refuse, what.startsWith('a check'))).rejects.toMatchObject(REFUSED);
	});
});

describe('one sign-in', () => {
	test('is enough although n8n could not store its token', async () => {
		const platform = new FakePlatform();
		await expect(platform.open()()).resolves.toBe('token 1');
		expect(platform.signIns).toBe(1);
	});

	test('that fails fails all that wait for it; the next request signs in again', async () => {
		const platform = new FakePlatform();
		platform.refuseSignIn = refusal({ code: 9999, signInFailed: 'for good' });
		const outcomes = await times(8, async () => await settled(platform.open()()));
		expect(outcomes).toMatchObject(Array.from({ length: 8 }, () => ({ details: { code: 9999 } })));
		expect(platform).toMatchObject({ signIns: 1, sent: 0 });
		platform.refuseSignIn = undefined;
		await expect(platform.open()()).resolves.toBe('token 1');
	});

	test('waits for a pause that the platform has asked for', async () => {
		const told = failureOf({ httpStatus: 429, temporary: true, retryAfterMs: 60_000 });
		const once = { most: 0, costOf: () => 0, end: new AbortController().signal };
		await settled(account().traffic.send(async () => await Promise.reject(told), once));
		await new FakePlatform().open()();
		expect(waits).toEqual([60_250]);
	});

	test('needs no pause after a token that the platform knew, although it refused the request', async () => {
		const platform = new FakePlatform();
		const request = platform.open();
		await settled(request(async () => await Promise.reject(refusal({ code: 14103 }))));
		platform.expireTokens();
		await request();
		expect([platform.signIns, waits]).toEqual([2, [250]]);
	});

	test('is left to another execution if this one is stopped during the pause', async () => {
		const [stopped, other] = [new FakePlatform(), new FakePlatform()];
		account().dropped = { value: 'refused' };
		onWait = () => stopped.stop.abort();
		const [ended, continued] = await Promise.allSettled([stopped.open()(), other.open()()]);
		expect([ended, continued]).toMatchObject([{ reason: CANCELLED }, { value: 'token 1' }]);
		expect([stopped.signIns, other.signIns]).toEqual([0, 1]);
	});

	test.each([
		['a key', KEY],
		['another password', { ...SIGNED_OUT, password: 'another' }],
		['another platform', { ...SIGNED_OUT, baseUrl: 'https://other.example' }],
	])('fails if the credential was changed to %s: no list holds the devices of two users', async (_what, data) => {
		const platform = new FakePlatform();
		const request = platform.open();
		platform.stored = data;
		await expect(request()).rejects.toThrow('changed during the execution');
		expect(platform.signIns).toBe(0);
	});
});

describe('a response that may mean an expired token', () => {
	const told = (inDoubt = false) => failureOf({ kind: 'status', httpStatus: 403, token: 'doubted', inDoubt });
	const signedIn = (inDoubt = false) => {
		const platform = new FakePlatform(Infinity, SIGNED_IN);
		platform.expired = () => told(inDoubt);
		return platform;
	};
	const never = async () => await Promise.reject(told());

	test('replaces it each time, once for all requests', async () => {
		const platform = signedIn();
		const request = platform.open();
		for (const signIns of [1, 2, 3]) {
			platform.expireTokens();
			await times(10, async () => await Promise.all([request(), platform.open()()]));
			expect(platform.signIns).toBe(signIns);
		}
	});

	test('costs one sign-in in five minutes if that does not help', async () => {
		const platform = signedIn();
		await platform.open()();
		for (let n = 0; n < 5; n++) await expect(platform.open()(never)).rejects.toEqual(told());
		expect(platform.signIns).toBe(1);
		time += 295_000;
		await expect(platform.open()(never)).rejects.toEqual(told());
		expect(platform.signIns).toBe(2);
		await expect(platform.open()()).resolves.toBe('token 3');
	});

	test('does not make the dead token come first if only a limit refuses the sign-in', async () => {
		const platform = signedIn();
		platform.expireTokens();
		platform.refuseSignIn = failureOf({ httpStatus: 429, temporary: true });
		await expect(platform.open()()).rejects.toBe(platform.refuseSignIn);
		platform.refuseSignIn = undefined;
		await expect(platform.open()()).resolves.toBe('token 2');
		expect(platform).toMatchObject({ sent: 2, signIns: 2 });
	});

	test.each<[what: string, signIn: Partial<FailureDetails>, thrown: object]>([
		['the response of the sign-in, too', { token: 'doubted' }, { httpStatus: 403 }],
		['not that of the sign-in', { code: 14201 }, { code: 14201 }],
	])('leaves the token as it is if it is %s', async (_, signIn, details) => {
		const platform = signedIn();
		platform.refuseSignIn = refusal({ ...signIn, signInFailed: 'for good' });
		const request = platform.open();
		await expect(request(never)).rejects.toMatchObject({ details });
		await expect(request()).resolves.toBe('token 1');
	});

	test('does not send a write again that may have been carried out, but signs in for the next one', async () => {
		const platform = signedIn(true);
		platform.expireTokens();
		const request = platform.open();
		await expect(request()).rejects.toEqual(told(true));
		expect(platform).toMatchObject({ sent: 1, signIns: 1 });
		await expect(request()).resolves.toBe('token 2');
	});

	test('counts as in vain if the execution is stopped before the next response', async () => {
		const platform = signedIn();
		let sent = 0;
		const stopped: Send = async () => {
			if (++sent === 1) throw told();
			platform.stop.abort();
			throw failureOf({ kind: 'cancelled' });
		};
		await expect(platform.open()(stopped)).rejects.toMatchObject(CANCELLED);
		expect(account().inVain).toEqual({ since: time, at: time });
	});

	test('keeps the failure of such a write if it is stopped then', async () => {
		const platform = signedIn(true);
		platform.expireTokens();
		onWait = () => platform.stop.abort();
		await expect(platform.open()()).rejects.toEqual(told(true));
		expect(platform).toMatchObject({ sent: 1, signIns: 0 });
	});
});
