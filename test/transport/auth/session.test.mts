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
const deadToken = () => refusal({ code: 14101, tokenRefused: true, temporary: true });
const REFUSED = { details: { code: 14101 } };
const CANCELLED = { details: { kind: 'cancelled' } };
const account = (): Account => accountOf(credentialOf(SIGNED_OUT));

type Send = (credential: Credential) => Promise<unknown>;
const READ = { path: '/api/device/list', isWrite: false };

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
	open(): (send?: Send, target?: Partial<typeof READ>) => Promise<unknown> {
		const load = async () => credentialOf({ ...this.stored });
		const session = new Session(credentialOf(this.stored), load, this.renewToken, this.stop.signal);
		return async (send = this.send, target = {}) => {
			const { path, isWrite } = { ...READ, ...target };
			return await session.withToken(send, path, isWrite);
		};
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

	private renewToken = async (): Promise<void> => {
		this.signIns++;
		await Promise.resolve();
		if (this.refuseSignIn !== undefined) throw this.refuseSignIn;
		const token = this.issue();
		account().tokens.use(token, time);
		await this.onIssue();
		this.stored = withToken(this.stored, token);
	};

	private issue(): string {
		const token = `token ${++this.issued}`;
		this.valid.set(token, this.requestsPerToken);
		return token;
	}
}

/** The platform has just asked the account for a pause. */
async function askToWait(retryAfterMs: number): Promise<void> {
	const told = failureOf({ httpStatus: 429, temporary: true, retryAfterMs });
	await settled(account().rateLimit.afterPause(async () => await Promise.reject(told), new AbortController().signal));
}

const times = async <T,>(count: number, run: (n: number) => Promise<T>): Promise<T[]> =>
	await Promise.all(Array.from({ length: count }, async (_, n) => await run(n)));

describe('one sign-in', () => {
	test('is enough although n8n could not store its token', async () => {
		const platform = new FakePlatform();
		platform.onIssue = () => {
			throw failureOf({ kind: 'unreachable', message: 'the database is locked' });
		};
		await expect(platform.open()()).resolves.toBe('token 1');
		expect(platform.signIns).toBe(1);
	});

	test('that waits for Retry-After does not hold up a connection test or another node, and takes its token', async () => {
		const platform = new FakePlatform();
		await askToWait(60_000);
		const signIn = async () => account().tokens.use(platform.signInElsewhere(), time);
		onWait = () => void account().tokens.findOnce(signIn);
		await expect(platform.open()()).resolves.toBe('token 1');
		expect([platform.signIns, waits]).toEqual([0, [60_250]]);
	});

	test('that is told to wait delays the next one, and twenty of them do not end the session', async () => {
		const platform = new FakePlatform();
		const request = platform.open();
		platform.refuseSignIn = failureOf({ httpStatus: 429, temporary: true, retryAfterMs: 2000 });
		for (let n = 0; n < 20; n++) await settled(request());
		platform.refuseSignIn = undefined;
		await expect(request()).resolves.toBe('token 1');
		expect(waits).toEqual(Array.from({ length: 20 }, () => 2250));
	});
});

describe('fresh tokens that are refused, too', () => {
	test('are tried four times and replaced once, with a longer pause by chance each time', async () => {
		const platform = new FakePlatform(0);
		const request = platform.open();
		const outcomes = await times(16, async () => await settled(request()));
		expect(outcomes).toMatchObject(Array.from({ length: 16 }, () => REFUSED));
		expect([platform.signIns, platform.sent, waits]).toEqual([2, 96, [200, 400, 800, 1600, 3200]]);
	});

	test.each(['was replaced already', 'came from another process'])('do not count if the token %s', async (why) => {
		const platform = new FakePlatform(Infinity, SIGNED_IN);
		let sent = 0;
		const unlucky: Send = async () => {
			if (++sent === 12) return 'accepted';
			if (why !== 'was replaced already') platform.signInElsewhere();
			else if (sent < 11) account().tokens.use(`issued ${sent}`, BEGIN);
			throw deadToken();
		};
		await expect(platform.open()(unlucky)).resolves.toBe('accepted');
		expect(platform.signIns).toBe(0);
	});
});

test.each([
	['a login', SIGNED_IN, 2 + 4 + 5],
	['an API key', KEY, 0],
])('an always refused request fails alone with %s; the twentieth in a row ends the session', async (...row) => {
	const [, data, signIns] = row;
	const platform = new FakePlatform(Infinity, data);
	const request = platform.open();
	for (let n = 0; n < 19; n++) await expect(request(platform.refuse)).rejects.toMatchObject(REFUSED);
	await request();
	for (let n = 0; n < 20; n++) await settled(request(platform.refuse));
	expect(platform.signIns).toBe(signIns);
	const { sent } = platform;
	await expect(request()).rejects.toMatchObject({ details: { code: 14101, retryable: false } });
	expect(platform.sent).toBe(sent);
	await expect(platform.open()()).resolves.toMatch(/^token|^by key$/);
});

describe('a refused sign-in', () => {
	test('ends the session for all', async () => {
		const platform = new FakePlatform(1);
		platform.refuseSignIn = refusal({ code: 9999, signInFailed: 'for good' });
		const request = platform.open();
		await times(8, async () => await settled(request()));
		await expect(request()).rejects.toMatchObject({ details: { code: 9999, signInFailed: 'for good' } });
		expect(platform).toMatchObject({ signIns: 1, sent: 0 });
	});

	test('that the process remembers is not sent again, until another process has stored a token', async () => {
		const platform = new FakePlatform();
		account().tokens.noteLoginRefusal(refusal({ code: 14201, signInFailed: 'for good' }).details, false);
		await expect(platform.open()()).rejects.toMatchObject({ details: { code: 14201 } });
		expect(platform).toMatchObject({ signIns: 0, sent: 0 });
		platform.signInElsewhere();
		await expect(platform.open()()).resolves.toBe('token 1');
		expect(platform.signIns).toBe(0);
	});

	test('may be tried again if it could not be carried out, twenty times at most', async () => {
		const platform = new FakePlatform(1);
		const [request, doomed, late] = [platform.open(), platform.open(), failureOf({ kind: 'timeout', temporary: true })];
		platform.refuseSignIn = late;
		for (let n = 0; n < 19; n++) await expect(request()).rejects.toBe(late);
		platform.refuseSignIn = undefined;
		await expect(request()).resolves.toBe('token 1');

		platform.refuseSignIn = late;
		for (let n = 0; n < 20; n++) await settled(doomed());
		await expect(doomed()).rejects.toMatchObject({ details: { kind: 'timeout', retryable: false } });
		expect(platform.signIns).toBe(40);
	});
});

test('a failure of the network costs no sign-in, and does not accept the token', async () => {
	const platform = new FakePlatform(Infinity, SIGNED_IN);
	account().tokens.use('token 1', BEGIN);
	for (const [thrown, pauseMs] of [
		[failureOf({ kind: 'unreachable' }), 200],
		[refusal({ code: 14103 }), 0],
	] as const) {
		await expect(platform.open()(async () => await Promise.reject(thrown))).rejects.toBe(thrown);
		expect(account().tokens.pauseMs()).toBe(pauseMs);
	}
	expect(platform.signIns).toBe(0);
});

describe('a credential that is changed during the execution', () => {
	test.each([
		['a key', KEY],
		['another login', { ...SIGNED_OUT, loginName: 'berta' }],
		['another platform', { ...SIGNED_OUT, baseUrl: 'https://other.example' }],
	])('to %s ends the session, but not those of others: no list holds the devices of two users', async (...row) => {
		const [changing, other] = [new FakePlatform(), new FakePlatform()];
		const request = changing.open();
		[, changing.stored] = row;
		const [ended, continued] = await Promise.allSettled([request(), other.open()()]);
		const message = expect.stringContaining('was changed to another platform or user');
		const changed = { details: { kind: 'input', message } };
		expect([ended, continued]).toMatchObject([{ reason: changed }, { value: 'token 1' }]);
		await expect(request()).rejects.toMatchObject(changed);
	});

	test('to another password continues with it, and with a token that was stored for it', async () => {
		const platform = new FakePlatform(1);
		const request = platform.open();
		await request();
		platform.stored = { ...SIGNED_OUT, password: 'another' };
		await expect(request()).resolves.toBe('token 2');
		platform.stored = { ...SIGNED_OUT, password: 'a third one' };
		platform.signInElsewhere();
		await expect(request()).resolves.toBe('token 3');
		expect(platform.signIns).toBe(2);
	});
});

test.each(['the pause', 'Retry-After'])(
	'an execution that is stopped during %s sends no sign-in; another execution sends it',
	async (wait) => {
		const [stopped, other] = [new FakePlatform(), new FakePlatform()];
		if (wait === 'Retry-After') await askToWait(2000);
		else {
			account().tokens.use('not accepted', BEGIN);
			account().tokens.use('refused');
			account().tokens.refuse(account().tokens.current);
		}
		onWait = () => stopped.stop.abort();
		const [ended, continued] = await Promise.allSettled([stopped.open()(), other.open()()]);
		expect([ended, continued]).toMatchObject([{ reason: CANCELLED }, { value: 'token 1' }]);
		expect([stopped.signIns, other.signIns]).toEqual([0, 1]);
	},
);

describe('a response that may mean an expired token', () => {
	const told = (expiry: 'refused' | 'unclear') => failureOf({ kind: 'status', httpStatus: 403, expiry });
	const signedIn = (expiry: 'refused' | 'unclear' = 'refused') => {
		const platform = new FakePlatform(Infinity, SIGNED_IN);
		platform.expired = () => told(expiry);
		return platform;
	};
	const never = async () => await Promise.reject(told('refused'));

	test.each(['refused', 'unclear'] as const)('renews it each time, once for all requests: %s', async (expiry) => {
		const platform = signedIn(expiry);
		const request = platform.open();
		for (const signIns of [1, 2, 3]) {
			platform.expireTokens();
			await times(10, async () => await Promise.all([request(), platform.open()()]));
			// The token before was accepted, so that the sign-in needs no pause.
			expect([platform.signIns, waits]).toEqual([signIns, []]);
		}
	});

	test('costs none for another path in the next five minutes, unless that path has worked with this token or the one before', async () => {
		const platform = signedIn();
		await platform.open()();
		for (const path of ['/a', '/b', '/c']) await settled(platform.open()(never, { path }));
		expect(platform.signIns).toBe(1);
		platform.expireTokens();
		expect(await settled(platform.open()(platform.send, { path: '/d' }))).toEqual(told('refused'));
		await expect(platform.open()()).resolves.toBe('token 3');
		await expect(platform.open()(platform.send, { path: '/d' })).resolves.toBe('token 3');
	});

	test('searches again if only a limit refuses the sign-in, and does not send the dead token meanwhile', async () => {
		const platform = signedIn();
		platform.expireTokens();
		platform.refuseSignIn = failureOf({ httpStatus: 429, temporary: true });
		onWait = () => void (waits.length === 3 && (platform.refuseSignIn = undefined));
		await expect(platform.open()()).resolves.toBe('token 2');
		expect(platform).toMatchObject({ sent: 2, signIns: 4 });
		platform.expireTokens();
		[platform.sent, platform.signIns, platform.refuseSignIn] = [0, 0, failureOf({ httpStatus: 429, temporary: true })];
		await expect(platform.open()()).rejects.toMatchObject({ details: { httpStatus: 429 } });
		expect(platform).toMatchObject({ sent: 1, signIns: 5 });
	});

	test.each<[what: string, signIn: Partial<FailureDetails>, thrown: object]>([
		['the response of the sign-in, too', { expiry: 'refused' }, { httpStatus: 403 }],
		['not that of the sign-in', { code: 14201 }, { code: 14201 }],
	])('leaves the token and the session as they are if it is %s', async (_, signIn, details) => {
		const platform = signedIn();
		platform.refuseSignIn = refusal({ ...signIn, signInFailed: 'for good' });
		const request = platform.open();
		await expect(request(never)).rejects.toMatchObject({ details });
		await expect(request()).resolves.toBe('token 1');
		platform.refuseSignIn = undefined;
		platform.expireTokens();
		await expect(request()).resolves.toBe('token 2');
	});

	test.each([
		['sends a write again that was refused', 'refused', 2, undefined],
		['sends no other write again', 'unclear', 1, undefined],
		['sends no such write again if the sign-in may be retried', 'unclear', 1, failureOf({ signInFailed: 'for now' })],
	] as const)('%s', async (_, expiry, sent, signIn) => {
		const platform = signedIn(expiry);
		platform.expireTokens();
		platform.refuseSignIn = signIn;
		const written = await settled(platform.open()(platform.send, { path: '/api/group', isWrite: true }));
		expect(written).toEqual(sent === 2 ? 'token 2' : told('unclear'));
		expect(platform).toMatchObject({ sent, signIns: 1 });
		if (signIn === undefined) await expect(platform.open()()).resolves.toBe('token 2');
	});

	test('renews it for all before n8n has stored the new one, and does not take the expired one back from n8n', async () => {
		const platform = signedIn();
		platform.expireTokens();
		platform.onIssue = async () => void (await times(5, async () => await platform.open()()));
		await expect(platform.open()()).resolves.toBe('token 2');
		expect(platform.signIns).toBe(1);
	});

	test('ends no session whose token works, although the sign-in fails each time', async () => {
		const platform = signedIn();
		platform.refuseSignIn = failureOf({ kind: 'timeout', temporary: true, signInFailed: 'for now' });
		const request = platform.open();
		for (let n = 0; n < 25; n++) await settled(request(never));
		await expect(request()).resolves.toBe('token 1');
	});

	test('keeps the failure of a write that may have been carried out, if it is stopped then', async () => {
		const platform = signedIn('unclear');
		platform.expireTokens();
		await askToWait(2000);
		onWait = () => platform.stop.abort();
		expect(await settled(platform.open()(platform.send, { isWrite: true }))).toEqual(told('unclear'));
	});

	test('costs no sign-in with an API key', async () => {
		const platform = new FakePlatform(Infinity, KEY);
		await expect(platform.open()(never)).rejects.toMatchObject({ details: { httpStatus: 403 } });
		expect(platform.signIns).toBe(0);
	});
});
