import type { ICredentialDataDecryptedObject as CredentialData } from 'n8n-workflow';

import { Failure, type FailureDetails } from '../../../nodes/DeviceManagement/core/failure.ts';
import { type Account, accountOf, forgetAccounts } from '../../../nodes/DeviceManagement/transport/auth/account.ts';
import { type Credential, credentialOf } from '../../../nodes/DeviceManagement/transport/auth/credential.ts';
import { Session } from '../../../nodes/DeviceManagement/transport/auth/session.ts';

const LOGIN: CredentialData = {
	baseUrl: 'https://platform.example',
	authentication: 'login',
	loginName: 'anna',
	password: 'secret',
	sessionToken: '',
};
const KEY: CredentialData = { ...LOGIN, authentication: 'apiKey', apiKey: 'k' };
const SIGNED_IN: CredentialData = { ...LOGIN, sessionToken: 'any' };
const BEGIN = 1_000_000;
/** More than any test sends. */
const MOST_REQUESTS = 3000;
const withToken = (data: CredentialData, token: string): CredentialData => credentialOf(data).withToken(token).data;

beforeEach(() => forgetAccounts());

function failureWith(details: Partial<FailureDetails>): Failure {
	return new Failure({ kind: 'refused', cause: 'credential', message: 'refused', remedy: '', ...details });
}
const REFUSED = { details: { code: 14101 } };

/** A platform whose tokens work for so many requests, n8n's store and n8n's way of signing in, without any of them. */
class FakePlatform {
	signIns = 0;
	sent = 0;
	reads = 0;
	stored: CredentialData;
	waits: number[] = [];
	refuseSignIn: Failure | undefined;
	/** Whether every sign-in brings the same token. */
	issuesTheSame = false;
	signInTakes = 0;
	/** Happens after the platform has issued a token, before n8n has stored it. */
	onIssue: () => Promise<unknown> | void = () => {};
	onRead: () => Promise<unknown> | void = () => {};
	onWait: () => void = () => {};
	readonly stop = new AbortController();
	private time = BEGIN;
	private issued = 0;
	private readonly valid = new Map<string, number>();

	constructor(
		private requestsPerToken: number,
		data: CredentialData = LOGIN,
		private readonly oneTokenPerUser = false,
	) {
		this.stored = data;
		if (data['sessionToken'] !== '') this.stored = withToken(data, this.issue());
	}

	/** @param end ends the execution; default: `stop` */
	open(end = this.stop.signal): Session {
		return new Session(credentialOf(this.stored), {
			load: async () => {
				this.reads++;
				await this.onRead();
				return credentialOf({ ...this.stored });
			},
			renewToken: async () => await this.renewToken(),
			clock: {
				now: () => this.time,
				random: () => 0.5,
				sleep: async (ms, ends) => {
					if (ms > 0) this.waits.push(ms);
					this.time += ms;
					if (ms > 0) this.onWait();
					if (ends?.aborted !== true) for (let turn = 0; turn < 10; turn++) await Promise.resolve();
				},
			},
			end,
		});
	}

	/** Signs in as another process would, and stores the token. */
	signInElsewhere(): void {
		this.stored = withToken(this.stored, this.issue());
	}

	expireTokens(): void {
		this.valid.clear();
	}

	/** From now on tokens work. */
	mend(): void {
		this.requestsPerToken = Infinity;
	}

	send = async ({ data }: Pick<Credential, 'data'>): Promise<string> => {
		// Ends a loop that jest's time limit can't interrupt, because it never leaves the microtasks.
		if (++this.sent > MOST_REQUESTS) throw new Error('The session sends requests endlessly');
		await Promise.resolve();
		if (data['authentication'] !== 'login') return 'by key';
		const token = String(data['sessionToken']);
		const left = this.valid.get(token) ?? 0;
		this.valid.set(token, left - 1);
		if (left <= 0) throw failureWith({ code: 14101, tokenRefused: true, temporary: true });
		return token;
	};

	/** An endpoint that refuses every token. */
	refuse = async (credential: Credential): Promise<string> => {
		await this.send(credential);
		throw failureWith({ code: 14101, tokenRefused: true, temporary: true });
	};

	private async renewToken(): Promise<void> {
		this.signIns++;
		this.time += this.signInTakes;
		await Promise.resolve();
		if (this.refuseSignIn !== undefined) throw this.refuseSignIn;
		const token = this.issue();
		account().signedIn(token, this.time);
		await this.onIssue();
		this.stored = withToken(this.stored, token);
	}

	private issue(): string {
		const token = `token ${this.issuesTheSame ? 1 : ++this.issued}`;
		if (this.oneTokenPerUser) this.valid.clear();
		this.valid.set(token, this.requestsPerToken);
		return token;
	}
}

const account = (): Account => accountOf(credentialOf(LOGIN));

/** As after a sign-in that the platform refused a moment ago. */
function rememberRefusal(): void {
	account().noteLoginRefusal(failureWith({ code: 14201, final: true, loginRefused: true }).details, BEGIN);
}

const turns = async (count = 20) => {
	for (let turn = 0; turn < count; turn++) await Promise.resolve();
};
const times = async <T,>(count: number, run: (n: number) => Promise<T>): Promise<T[]> =>
	await Promise.all(Array.from({ length: count }, async (_, n) => await run(n)));

/** A request that is answered when the test says so. */
function slowRequest(session: Session) {
	let answer = () => {};
	let refuse = () => {};
	const response = session.run(
		async () =>
			await new Promise<string>((resolve, reject) => {
				answer = () => resolve('late');
				refuse = () => reject(failureWith({ code: 14101, tokenRefused: true }));
			}),
	);
	return { response, answer: () => answer(), refuse: () => refuse() };
}

describe('one sign-in', () => {
	test('serves sixteen executions with sixteen requests each that begin without a token', async () => {
		const platform = new FakePlatform(Infinity);
		await times(16, async () => {
			const session = platform.open();
			await times(16, async () => await session.run(platform.send));
		});
		expect(platform).toMatchObject({ signIns: 1, sent: 256 });
	});

	test.each([
		[1, 1],
		[1, 4],
		[4, 16],
		[5, 16],
		[16, 16],
	])('replaces each token that worked for %i requests, with %i requests at once', async (life, parallel) => {
		const platform = new FakePlatform(life);
		const session = platform.open();
		await times(parallel, async () => {
			for (let n = 0; n < 6; n++) await session.run(platform.send);
		});
		expect(platform.signIns).toBe(Math.ceil((parallel * 6) / life));
	});

	test('is not needed for a token that another execution stored', async () => {
		const platform = new FakePlatform(2, SIGNED_IN);
		const session = platform.open();
		await session.run(platform.send);
		await session.run(platform.send);
		platform.signInElsewhere();
		await expect(session.run(platform.send)).resolves.toBe('token 2');
		expect(platform).toMatchObject({ signIns: 0, reads: 1, waits: [] });
	});

	test('is not needed for a token that this process got, and the store is not read for it', async () => {
		const platform = new FakePlatform(Infinity, SIGNED_IN);
		const [one, other] = [platform.open(), platform.open()];
		platform.expireTokens();
		await expect(one.run(platform.send)).resolves.toBe('token 2');
		platform.stored = LOGIN;
		await expect(other.run(platform.send)).resolves.toBe('token 2');
		await expect(platform.open().run(platform.send)).resolves.toBe('token 2');
		expect(platform).toMatchObject({ signIns: 1, reads: 1 });
	});

	test.each([
		['has no owner', { ...LOGIN, sessionToken: 'token of nobody' }],
		['belongs to another password', { ...withToken(LOGIN, 'old'), password: 'changed' }],
	])('is made where the stored token %s', async (_name, stored) => {
		const platform = new FakePlatform(Infinity);
		platform.stored = stored;
		await expect(platform.open().run(platform.send)).resolves.toBe('token 1');
		expect(platform).toMatchObject({ signIns: 1, sent: 1 });
	});

	test('is shared before n8n has stored its token', async () => {
		const platform = new FakePlatform(Infinity);
		let store = () => {};
		platform.onIssue = async () => await new Promise<void>((resolve) => (store = resolve));
		const first = platform.open().run(platform.send);
		await turns();
		await expect(platform.open().run(platform.send)).resolves.toBe('token 1');
		store();
		await expect(first).resolves.toBe('token 1');
		// It was accepted before it was stored, so that the next sign-in needs no pause.
		platform.expireTokens();
		platform.onIssue = () => {};
		await platform.open().run(platform.send);
		expect(platform).toMatchObject({ signIns: 2, waits: [] });
	});

	test('is enough although n8n could not store its token', async () => {
		const platform = new FakePlatform(Infinity);
		platform.onIssue = () => {
			throw failureWith({ kind: 'unreachable', message: 'the database is locked' });
		};
		await expect(platform.open().run(platform.send)).resolves.toBe('token 1');
		expect(platform.signIns).toBe(1);
	});

	test('waits for Retry-After, but not for a place in the window', async () => {
		const platform = new FakePlatform(Infinity);
		const { rateLimit } = account();
		const told = failureWith({ kind: 'status', httpStatus: 429, temporary: true, retryAfterMs: 2000 });
		const clock = {
			now: () => BEGIN,
			date: () => BEGIN,
			random: () => 0.5,
			sleep: async () => {},
			timeout: () => new AbortController().signal,
		};
		const busy = async () => await new Promise<void>(() => {});
		await rateLimit.pass(async () => await Promise.reject(told), clock, platform.stop.signal).catch(() => {});
		clock.now = () => BEGIN + 2000;
		for (let n = 0; n < 20; n++) void rateLimit.pass(busy, clock, platform.stop.signal);
		await expect(platform.open().run(platform.send)).resolves.toBe('token 1');
		expect(platform.waits).toEqual([2000]);
	});

	test('that waits for Retry-After does not hold up a connection test or another node', async () => {
		const platform = new FakePlatform(Infinity);
		const { signal } = platform.stop;
		const told = failureWith({ kind: 'status', httpStatus: 429, temporary: true, retryAfterMs: 60_000 });
		const clock = { now: () => BEGIN, sleep: async () => {} };
		await account()
			.rateLimit.afterPause(async () => await Promise.reject(told), clock, signal)
			.catch(() => {});
		let searches = 0;
		platform.onWait = () => void account().findOnce(async () => void searches++);
		await expect(platform.open().run(platform.send)).resolves.toBe('token 1');
		expect(searches).toBe(1);
		expect(platform.waits).toEqual([60_000]);
	});
});

test('sixteen requests refused late with an old token make one sign-in, although it brings the same text again', async () => {
	const platform = new FakePlatform(Infinity, SIGNED_IN);
	platform.issuesTheSame = true;
	const session = platform.open();
	const late = Array.from({ length: 16 }, () => slowRequest(platform.open()));
	await turns();
	platform.expireTokens();
	await session.run(platform.send);
	for (const { refuse, answer } of late) {
		refuse();
		await turns(100);
		answer();
	}
	await Promise.all(late.map(async ({ response }) => await response));
	expect(platform.signIns).toBe(1);
});

describe('fresh tokens that are refused, too', () => {
	test('fail the requests after four, with a longer pause by chance before each sign-in', async () => {
		const platform = new FakePlatform(0);
		const session = platform.open();
		const outcomes = await Promise.allSettled(Array.from({ length: 16 }, async () => await session.run(platform.send)));
		expect(outcomes.map(({ status }) => status)).toEqual(Array.from({ length: 16 }, () => 'rejected'));
		expect(platform).toMatchObject({ signIns: 5, sent: 80, waits: [200, 400, 800, 1600] });
	});

	test('fail the next requests of the execution after one, and leave it in place', async () => {
		const platform = new FakePlatform(Infinity);
		const session = platform.open();
		await expect(session.run(platform.refuse)).rejects.toMatchObject(REFUSED);
		expect(platform.signIns).toBe(5);
		for (let n = 1; n <= 4; n++) {
			await expect(session.run(platform.refuse)).rejects.toMatchObject(REFUSED);
			expect(platform.signIns).toBe(5 + n);
		}
		await expect(session.run(platform.send)).resolves.toBe('token 9');
		await expect(platform.open().run(platform.refuse)).rejects.toMatchObject(REFUSED);
		expect(platform.signIns).toBe(13);
	});

	test('pause no longer once a token was accepted', async () => {
		const platform = new FakePlatform(Infinity);
		const session = platform.open();
		await expect(session.run(platform.refuse)).rejects.toMatchObject(REFUSED);
		await session.run(platform.send);
		platform.waits = [];
		await expect(session.run(platform.refuse)).rejects.toMatchObject(REFUSED);
		expect(platform.waits).toEqual([]);
	});

	test('pause at least as long as a sign-in takes, and take what the store holds then', async () => {
		const platform = new FakePlatform(Infinity, LOGIN, true);
		platform.signInTakes = 4000;
		const session = platform.open();
		platform.onIssue = () => void (platform.signIns === 1 && platform.expireTokens());
		platform.onWait = () => platform.signInElsewhere();
		await expect(session.run(platform.send)).resolves.toBe('token 2');
		expect(platform).toMatchObject({ signIns: 1, waits: [8000] });
	});

	test.each(['was replaced already', 'came from another process'])('do not count if the token %s', async (why) => {
		const platform = new FakePlatform(Infinity, SIGNED_IN);
		let sent = 0;
		const unlucky = async ({ data }: Credential) => {
			if (++sent === 12) return 'accepted';
			if (why === 'was replaced already') {
				account().refuse(String(data['sessionToken']));
				account().use(`issued ${sent}`, BEGIN);
			} else platform.signInElsewhere();
			return await platform.send({ data: { ...data, sessionToken: 'expired' } });
		};
		await expect(platform.open().run(unlucky)).resolves.toBe('accepted');
		expect(platform.signIns).toBe(0);
	});
});

describe('a request that is always refused', () => {
	test('fails after four sign-ins that bring the refused token again', async () => {
		const platform = new FakePlatform(Infinity, SIGNED_IN);
		platform.issuesTheSame = true;
		const session = platform.open();
		await expect(session.run(platform.refuse)).rejects.toMatchObject(REFUSED);
		expect(platform.signIns).toBe(4);
		expect(await session.run(platform.send)).toBe('token 1');
	});

	test.each([
		['a login', SIGNED_IN],
		['an API key', KEY],
	])('fails alone with %s: the requests before and after it succeed', async (_name, data) => {
		const platform = new FakePlatform(Infinity, data);
		const session = platform.open();
		for (let n = 0; n < 30; n++) {
			await expect(session.run(platform.refuse)).rejects.toMatchObject(REFUSED);
			await session.run(platform.send);
		}
		expect(platform.signIns).toBe(data === KEY ? 0 : 4 + 29);
	});

	test.each([
		['a login', SIGNED_IN, 4 + 18 + 20],
		['an API key', KEY, 0],
	])('ends the session with %s as the twentieth in a row', async (_name, data, signIns) => {
		const platform = new FakePlatform(Infinity, data);
		const session = platform.open();
		for (let n = 0; n < 19; n++) await expect(session.run(platform.refuse)).rejects.toMatchObject(REFUSED);
		await session.run(platform.send);
		for (let n = 0; n < 20; n++) await expect(session.run(platform.refuse)).rejects.toMatchObject(REFUSED);
		expect(platform.signIns).toBe(signIns);
		const { sent } = platform;
		await expect(session.run(platform.send)).rejects.toMatchObject({ details: { code: 14101, retryable: false } });
		expect(platform.sent).toBe(sent);
		await expect(platform.open().run(platform.send)).resolves.toBeDefined();
	});

	test.each([1, 16])('fails no other of 1,000 items when the token really expires, %i at once', async (parallel) => {
		const platform = new FakePlatform(Infinity, SIGNED_IN);
		const session = platform.open();
		const failed: number[] = [];
		let next = 0;
		await times(parallel, async () => {
			while (next < 1000) {
				const item = next++;
				if (item === 557) platform.expireTokens();
				const send = item % 20 === 7 ? platform.refuse : platform.send;
				await session.run(send).catch(() => failed.push(item));
			}
		});
		expect(failed).toEqual(Array.from({ length: 50 }, (_, n) => n * 20 + 7));
	});
});

describe('a refused sign-in', () => {
	test('ends the session for all', async () => {
		const platform = new FakePlatform(1);
		platform.refuseSignIn = failureWith({ code: 9999, final: true });
		const session = platform.open();
		await Promise.allSettled(Array.from({ length: 8 }, async () => await session.run(platform.send)));
		await expect(session.run(platform.send)).rejects.toMatchObject({ details: { code: 9999, final: true } });
		expect(platform).toMatchObject({ signIns: 1, sent: 0 });
	});

	test('that the process remembers is not sent again, unless the store holds another token', async () => {
		const platform = new FakePlatform(Infinity);
		rememberRefusal();
		await expect(platform.open().run(platform.send)).rejects.toMatchObject({ details: { code: 14201 } });
		expect(platform).toMatchObject({ signIns: 0, sent: 0 });

		const other = platform.open();
		platform.signInElsewhere();
		await expect(other.run(platform.send)).resolves.toBe('token 1');
		expect(platform.signIns).toBe(0);
	});

	test('stays remembered although a request with the expired token is answered late', async () => {
		const platform = new FakePlatform(Infinity, SIGNED_IN);
		rememberRefusal();
		const session = platform.open();
		const slow = slowRequest(session);
		await turns();
		platform.expireTokens();
		platform.onRead = async () => {
			slow.answer();
			await slow.response;
		};
		await expect(session.run(platform.send)).rejects.toMatchObject({ details: { code: 14201 } });
		expect(platform).toMatchObject({ signIns: 0, sent: 1 });
	});
});

test('a sign-in that could not be carried out may be tried again, twenty times at most', async () => {
	const unavailable = failureWith({ kind: 'timeout', temporary: true });
	const platform = new FakePlatform(Infinity);
	platform.refuseSignIn = unavailable;
	const session = platform.open();
	await expect(session.run(platform.send)).rejects.toBe(unavailable);
	platform.refuseSignIn = undefined;
	await expect(session.run(platform.send)).resolves.toBe('token 1');
	expect(platform.signIns).toBe(2);

	forgetAccounts();
	const down = new FakePlatform(Infinity);
	down.refuseSignIn = unavailable;
	const doomed = down.open();
	for (let n = 0; n < 20; n++)
		await expect(doomed.run(down.send)).rejects.toMatchObject({ details: { kind: 'timeout' } });
	await expect(doomed.run(down.send)).rejects.toMatchObject({ details: { kind: 'timeout', retryable: false } });
	expect(down.signIns).toBe(20);
});

test.each([14103, 14201, 14202, 14203])('code %i on a request costs no sign-in and accepts the token', async (code) => {
	const platform = new FakePlatform(Infinity, SIGNED_IN);
	account().use('token 1', BEGIN);
	const session = platform.open();
	const failure = failureWith({ code });
	await expect(session.run(async () => await Promise.reject(failure))).rejects.toBe(failure);
	expect(account().pauseMs(1)).toBe(0);
	await expect(session.run(platform.send)).resolves.toBe('token 1');
	expect(platform.signIns).toBe(0);
});

test.each<[string, unknown]>([
	['a failure of the network', failureWith({ kind: 'unreachable' })],
	['a bug', new Error('a bug')],
])('%s says nothing about the token', async (_name, thrown) => {
	const platform = new FakePlatform(Infinity, SIGNED_IN);
	account().use('token 1', BEGIN);
	await expect(platform.open().run(async () => await Promise.reject(thrown))).rejects.toBe(thrown);
	expect(account()).toMatchObject({ token: { value: 'token 1' } });
	expect(account().pauseMs(1)).toBe(300);
});

describe('a credential that is changed during the execution', () => {
	const CHANGED = {
		details: { kind: 'input', message: expect.stringContaining('was changed to another platform or user') },
	};

	test.each([
		['to a key', KEY],
		['to another login', { ...LOGIN, loginName: 'berta' }],
		['to another platform', { ...LOGIN, baseUrl: 'https://other.example' }],
	])('%s ends the session: one list must not hold the devices of two users', async (_, stored) => {
		const platform = new FakePlatform(1);
		const session = platform.open();
		await session.run(platform.send);
		platform.stored = stored;
		await expect(session.run(platform.send)).rejects.toMatchObject(CHANGED);
		await expect(session.run(platform.send)).rejects.toMatchObject(CHANGED);
	});

	test('to another password: the session continues with it', async () => {
		const platform = new FakePlatform(0);
		const session = platform.open();
		await expect(session.run(platform.send)).rejects.toMatchObject(REFUSED);
		platform.stored = { ...LOGIN, password: 'another' };
		platform.mend();
		await expect(session.run(platform.send)).resolves.toMatch(/^token/);
		expect(platform.signIns).toBe(6);
	});

	test('to another password: the session takes the token that it has already', async () => {
		const platform = new FakePlatform(1);
		const session = platform.open();
		await session.run(platform.send);
		platform.stored = { ...LOGIN, password: 'another' };
		platform.signInElsewhere();
		await expect(session.run(platform.send)).resolves.toBe('token 2');
		expect(platform.signIns).toBe(1);
	});

	test('lets the other executions of the account get their own token', async () => {
		const platform = new FakePlatform(Infinity);
		const [changed, other] = [platform.open(), new FakePlatform(Infinity)];
		platform.stored = KEY;
		const waiting = other.open();
		const runs = [changed.run(platform.send), waiting.run(other.send)];
		const [ended, continued] = await Promise.allSettled(runs);
		expect(ended).toMatchObject({ reason: CHANGED });
		expect(continued).toMatchObject({ value: 'token 1' });
	});
});

test('a late response brings no expired token back', async () => {
	const platform = new FakePlatform(Infinity, SIGNED_IN, true);
	const slow = slowRequest(platform.open());
	await turns();
	platform.expireTokens();
	await expect(platform.open().run(platform.send)).resolves.toBe('token 2');
	slow.answer();
	await slow.response;
	expect(account().token?.value).toBe('token 2');
});

describe('an execution that is stopped', () => {
	test('stops waiting for a token at once, and leaves the sign-in to the others', async () => {
		const platform = new FakePlatform(Infinity);
		const stop = new AbortController();
		let issue = () => {};
		platform.onIssue = async () => await new Promise<void>((resolve) => (issue = resolve));
		const leader = platform.open(stop.signal).run(platform.send);
		const other = platform.open().run(platform.send);
		await turns();
		stop.abort();
		await expect(leader).rejects.toMatchObject({ details: { kind: 'cancelled' } });
		issue();
		await expect(other).resolves.toBe('token 1');
		expect(platform.signIns).toBe(1);
	});

	test.each(['the pause', 'Retry-After'])('during %s sends no sign-in; another execution sends it', async (wait) => {
		const platform = new FakePlatform(Infinity);
		const stop = new AbortController();
		if (wait === 'the pause') {
			account().use('refused', BEGIN);
			account().refuse('refused');
		} else {
			const told = failureWith({ kind: 'status', temporary: true, retryAfterMs: 2000 });
			const clock = { now: () => BEGIN, sleep: async () => {} };
			await account()
				.rateLimit.afterPause(async () => await Promise.reject(told), clock, stop.signal)
				.catch(() => {});
		}
		platform.onWait = () => stop.abort();
		const leader = platform.open(stop.signal).run(platform.send);
		const other = platform.open().run(platform.send);
		await expect(leader).rejects.toMatchObject({ details: { kind: 'cancelled' } });
		await expect(other).resolves.toBe('token 1');
		expect(platform.signIns).toBe(1);
	});

	test('sends no more requests while it is refused', async () => {
		const platform = new FakePlatform(Infinity, SIGNED_IN);
		const refusedAtTheEnd = async (credential: Credential) => {
			platform.stop.abort();
			return await platform.refuse(credential);
		};
		await expect(platform.open().run(refusedAtTheEnd)).rejects.toMatchObject({ details: { kind: 'cancelled' } });
		expect(platform).toMatchObject({ signIns: 0, sent: 1 });
	});
});
