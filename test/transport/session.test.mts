import { Failure, type FailureDetails } from '../../nodes/DeviceManagement/core/failure.ts';
import { accountOf, forgetAccounts, type SessionFields } from '../../nodes/DeviceManagement/transport/account.ts';
import { readCredential, withToken } from '../../nodes/DeviceManagement/transport/credential.ts';
import { type CredentialData, Session } from '../../nodes/DeviceManagement/transport/session.ts';

const LOGIN: CredentialData = {
	baseUrl: 'https://platform.example',
	authentication: 'login',
	loginName: 'anna',
	password: 'secret',
	sessionToken: '',
};
const KEY: CredentialData = { ...LOGIN, authentication: 'apiKey', apiKey: 'k' };

beforeEach(() => forgetAccounts());

function refusal(details: Partial<FailureDetails>): Failure {
	return new Failure({ kind: 'refused', cause: 'credential', message: 'refused', remedy: '', ...details });
}

/** A platform whose tokens live for so many requests, n8n's store and n8n's way of signing in, without any of them. */
class FakePlatform {
	logins = 0;
	sent = 0;
	stored: CredentialData;
	waits: number[] = [];
	refuseLogin: Failure | undefined;
	/** In place of storing a new token. */
	cannotStore: ((fields: SessionFields) => Promise<never>) | undefined;
	signInTakes = 0;
	/** Happens at each reading of the store. */
	onRead: () => Promise<unknown> | void = () => {};
	/** Happens at each wait of the session. */
	onWait: () => void = () => {};
	readonly stop = new AbortController();
	private time = 1_000_000;
	private alive = new Map<string, number>();

	constructor(
		private life: number,
		data: CredentialData = LOGIN,
		private readonly oneTokenPerUser = false,
	) {
		this.stored = data;
		if (data['sessionToken'] !== '') this.stored = withToken(data, this.issue());
	}

	open(): Session {
		return new Session(this.stored, {
			read: async () => {
				await this.onRead();
				return { ...this.stored };
			},
			signIn: async (data) => await this.signIn(data),
			clock: {
				now: () => this.time,
				random: () => 0.5,
				sleep: async (ms) => {
					this.waits.push(ms);
					this.time += ms;
					this.onWait();
					for (let turn = 0; turn < 10; turn++) await Promise.resolve();
				},
			},
			end: this.stop.signal,
		});
	}

	/** Signs in elsewhere, as another worker would, and stores the token. */
	signInElsewhere(): void {
		this.stored = withToken(this.stored, this.issue());
	}

	kill(): void {
		this.alive.clear();
	}

	/** From now on tokens live. */
	mend(): void {
		this.life = Infinity;
	}

	send = async (data: CredentialData): Promise<string> => {
		this.sent++;
		await Promise.resolve();
		if (data['authentication'] !== 'login') return 'by key';
		const token = String(data['sessionToken']);
		const left = this.alive.get(token) ?? 0;
		this.alive.set(token, left - 1);
		if (left <= 0) throw refusal({ code: 14101, tokenRefused: true });
		return token;
	};

	/** An endpoint that refuses every token. */
	refuse = async (data: CredentialData): Promise<string> => {
		await this.send(data);
		throw refusal({ code: 14101, tokenRefused: true });
	};

	pass(ms: number): void {
		this.time += ms;
	}

	private async signIn(data: CredentialData): Promise<string> {
		this.logins++;
		this.time += this.signInTakes;
		await Promise.resolve();
		if (this.refuseLogin !== undefined) throw this.refuseLogin;
		const token = this.issue();
		await this.cannotStore?.({ sessionToken: token, sessionOwner: readCredential(data).owner });
		this.stored = withToken(this.stored, token);
		Object.assign(data, { sessionToken: token });
		return token;
	}

	private issued = 0;

	private issue(): string {
		const token = `token ${++this.issued}`;
		if (this.oneTokenPerUser) this.alive.clear();
		this.alive.set(token, this.life);
		return token;
	}
}

/** As after a login that the platform refused a moment ago. */
async function rememberRefusal(): Promise<void> {
	const refused = refusal({ code: 14201, final: true, loginRefused: true });
	const account = accountOf(readCredential(LOGIN));
	await account.signIn({}, async () => await Promise.reject(refused), () => 1_000_000).catch(() => {});
}

/** What comes while everybody's turns pass; undefined where it does not. */
async function inTime<T>(promise: Promise<T>): Promise<T | undefined> {
	const late = async () => {
		for (let turn = 0; turn < 1000; turn++) await Promise.resolve();
		return undefined;
	};
	return await Promise.race([promise, late()]);
}

const signedIn = { ...LOGIN, sessionToken: 'any' };
const times = <T,>(count: number, run: (n: number) => Promise<T>) => Promise.all(Array.from({ length: count }, (_, n) => run(n)));

test('sixteen requests that begin without a token sign in once', async () => {
	const platform = new FakePlatform(Infinity);
	const session = platform.open();
	await times(16, async (n) => await session.run(`${n}`, platform.send));
	expect(platform.logins).toBe(1);
});

test('sixteen executions that begin without a token at the same time sign in once', async () => {
	const platform = new FakePlatform(Infinity);
	await times(16, async (n) => await platform.open().run(`${n}`, platform.send));
	expect(platform.logins).toBe(1);
});

test.each([1, 2, 3, 5, 16])('with tokens that live for %i requests, there is one login for each that died', async (life) => {
	for (const parallel of [1, 4, 16]) {
		forgetAccounts();
		const platform = new FakePlatform(life);
		const session = platform.open();
		await times(parallel, async (worker) => {
			for (let n = 0; n < 6; n++) await session.run(`${worker} ${n}`, platform.send);
		});
		expect({ life, parallel, logins: platform.logins }).toEqual({ life, parallel, logins: Math.ceil((parallel * 6) / life) });
	}
});

test('a token that another execution stored meanwhile is used instead of a login', async () => {
	const platform = new FakePlatform(2, signedIn);
	const session = platform.open();
	await session.run('1', platform.send);
	await session.run('2', platform.send);
	platform.signInElsewhere();
	await expect(session.run('3', platform.send)).resolves.toBe('token 2');
	expect(platform.logins).toBe(0);
});

test('a token that another execution of this process was issued meanwhile is used without asking the store', async () => {
	const platform = new FakePlatform(Infinity, signedIn);
	const [one, other] = [platform.open(), platform.open()];
	platform.kill();
	await expect(one.run('1', platform.send)).resolves.toBe('token 2');
	platform.stored = LOGIN;
	await expect(other.run('1', platform.send)).resolves.toBe('token 2');
	expect(platform.logins).toBe(1);
});

test('of several logins each keeps its token in the process, though the store has room for one', async () => {
	const anna = new FakePlatform(Infinity);
	await anna.open().run('1', anna.send);
	anna.stored = LOGIN;
	await expect(anna.open().run('1', anna.send)).resolves.toBe('token 1');
	expect(anna.logins).toBe(1);
});

test('a token without its owner is not used', async () => {
	const platform = new FakePlatform(Infinity, { ...LOGIN });
	platform.stored = { ...LOGIN, sessionToken: 'token of nobody' };
	await expect(platform.open().run('1', platform.send)).resolves.toBe('token 1');
	expect(platform).toMatchObject({ logins: 1, sent: 1 });
});

test('a token of another password is not used', async () => {
	const platform = new FakePlatform(Infinity, signedIn);
	platform.stored = { ...platform.stored, password: 'changed' };
	await expect(platform.open().run('1', platform.send)).resolves.toBe('token 2');
	expect(platform).toMatchObject({ logins: 1, sent: 1 });
});

describe('new tokens that are refused, too', () => {
	test('end the session after two further logins with a pause by chance before each', async () => {
		const platform = new FakePlatform(0);
		const session = platform.open();
		const outcomes = await Promise.allSettled(Array.from({ length: 8 }, (_, n) => session.run(`${n}`, platform.send)));
		expect(outcomes.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 'rejected'));
		const { sent } = platform;
		await expect(session.run('9', platform.send)).rejects.toMatchObject({ details: { code: 14101 } });
		expect(platform).toMatchObject({ logins: 3, sent });
		expect(platform.waits).toEqual([200, 400, 800]);
	});

	test('are no reason to give up while the store shows that somebody else signed in', async () => {
		const platform = new FakePlatform(Infinity, LOGIN, true);
		const session = platform.open();
		let others = 4;
		const between = async (data: CredentialData) => {
			// Another process signs in at the same time, and stores its token a little later.
			if (others-- > 0) platform.kill();
			return await platform.send(data);
		};
		platform.onWait = () => platform.signInElsewhere();
		await expect(session.run('1', between)).resolves.toMatch(/^token/);
		expect(platform.logins).toBe(1);
	});

	test('are waited for as long as a login takes, and the store is read meanwhile', async () => {
		const platform = new FakePlatform(Infinity, LOGIN, true);
		platform.signInTakes = 4000;
		const session = platform.open();
		let others = 1;
		const between = async (data: CredentialData) => {
			if (others-- > 0) platform.kill();
			return await platform.send(data);
		};
		// Another process stores its token when three seconds have passed.
		platform.onWait = () => void (platform.waits.length === 3 && platform.signInElsewhere());
		await expect(session.run('1', between)).resolves.toMatch(/^token/);
		expect(platform).toMatchObject({ logins: 1, waits: [1000, 1000, 1000] });
	});

	test('cost one login only when rounds were used up before, and nobody else was seen', async () => {
		const platform = new FakePlatform(Infinity);
		const session = platform.open();
		await expect(session.run('bad', platform.refuse)).rejects.toMatchObject({ details: { code: 14101 } });
		expect(platform.logins).toBe(3);
		for (let n = 0; n < 3; n++) {
			await session.run(`good ${n}`, platform.send);
			await expect(session.run(`bad ${n}`, platform.refuse)).rejects.toMatchObject({ details: { code: 14101 } });
			expect(platform.logins).toBe(4 + n);
		}
		// Somebody else is about: it may be them.
		await session.run('good', platform.send);
		platform.kill();
		platform.signInElsewhere();
		await session.run('good', platform.send);
		await expect(session.run('bad', platform.refuse)).rejects.toMatchObject({ details: { code: 14101 } });
		expect(platform.logins).toBe(9);
	});

	test('do not log in for ever, however often others do', async () => {
		const platform = new FakePlatform(0, LOGIN, true);
		const session = platform.open();
		let pauses = 0;
		platform.onWait = () => {
			if (++pauses % 2 === 1) platform.signInElsewhere();
		};
		await expect(session.run('1', platform.send)).rejects.toMatchObject({ details: { code: 14101 } });
		expect(platform.logins).toBeLessThanOrEqual(9);
		expect(platform.logins).toBeGreaterThan(3);
	});
});

describe("one endpoint's refusal", () => {
	test.each([
		['a login', signedIn],
		['an API key', KEY],
	])('is its own with %s: the requests before and after it succeed', async (_name, data) => {
		const platform = new FakePlatform(Infinity, data);
		const session = platform.open();
		await expect(session.run('bad', platform.refuse)).rejects.toMatchObject({ details: { code: 14101 } });
		for (let n = 0; n < 9; n++) await session.run(`${n}`, platform.send);
		await expect(session.run('bad', platform.refuse)).rejects.toMatchObject({ details: { code: 14101 } });
		await session.run('last', platform.send);
		expect(platform.logins).toBeLessThanOrEqual(6);
	});

	test('costs one login where others are accepted with the new token meanwhile', async () => {
		const platform = new FakePlatform(Infinity, signedIn);
		const session = platform.open();
		let going = true;
		const others = times(4, async (worker) => {
			for (let n = 0; going; n++) await session.run(`${worker} ${n}`, platform.send);
		});
		await expect(session.run('bad', platform.refuse)).rejects.toMatchObject({ details: { code: 14101 } });
		going = false;
		await others;
		expect(platform.logins).toBe(1);
	});

	test('ends the session when a second, different request meets the same and none was accepted between', async () => {
		const platform = new FakePlatform(Infinity, KEY);
		const session = platform.open();
		for (const name of ['one', 'one', 'other']) await expect(session.run(name, platform.refuse)).rejects.toBeInstanceOf(Failure);
		expect(platform.sent).toBe(3);
		await expect(session.run('third', platform.send)).rejects.toMatchObject({ details: { code: 14101 } });
		expect(platform.sent).toBe(3);
		await expect(platform.open().run('third', platform.send)).resolves.toBe('by key');
	});

	test('does not end the session when a request between was accepted', async () => {
		const platform = new FakePlatform(Infinity, KEY);
		const session = platform.open();
		for (let n = 0; n < 5; n++) {
			await expect(session.run(`bad ${n}`, platform.refuse)).rejects.toBeInstanceOf(Failure);
			await session.run(`good ${n}`, platform.send);
		}
	});

	test('does not end the session while a request that may be accepted is still under way', async () => {
		const platform = new FakePlatform(Infinity, KEY);
		const session = platform.open();
		let answer = () => {};
		const slow = session.run('slow', async () => await new Promise<string>((resolve) => (answer = () => resolve('late'))));
		const refused = Promise.allSettled(['one', 'other'].map((name) => session.run(name, platform.refuse)));
		for (let turn = 0; turn < 20; turn++) await Promise.resolve();
		answer();
		await slow;
		await refused;
		await expect(session.run('next', platform.send)).resolves.toBe('by key');
	});
});

describe('a refused login', () => {
	test('ends the session for all', async () => {
		const platform = new FakePlatform(1);
		platform.refuseLogin = refusal({ code: 14201, final: true });
		const session = platform.open();
		await Promise.allSettled(Array.from({ length: 8 }, (_, n) => session.run(`${n}`, platform.send)));
		await expect(session.run('9', platform.send)).rejects.toMatchObject({ details: { code: 14201, final: true } });
		expect(platform).toMatchObject({ logins: 1, sent: 0 });
	});

	test('that the process remembers is not asked again, unless the store holds another token', async () => {
		const platform = new FakePlatform(Infinity);
		await rememberRefusal();
		await expect(platform.open().run('1', platform.send)).rejects.toMatchObject({ details: { code: 14201 } });
		expect(platform).toMatchObject({ logins: 0, sent: 0 });

		const other = platform.open();
		platform.signInElsewhere();
		await expect(other.run('1', platform.send)).resolves.toBe('token 1');
		platform.kill();
		// The wait is over, too: the next token may be fetched.
		await expect(other.run('2', platform.send)).resolves.toBe('token 2');
		expect(platform.logins).toBe(1);
	});
});

test('a login that could not be carried out may be tried again, but not for ever', async () => {
	const platform = new FakePlatform(Infinity);
	platform.refuseLogin = refusal({ kind: 'timeout', retryable: true });
	const session = platform.open();
	await expect(session.run('1', platform.send)).rejects.toBe(platform.refuseLogin);
	const unavailable = platform.refuseLogin;
	platform.refuseLogin = undefined;
	await expect(session.run('1', platform.send)).resolves.toBe('token 1');
	expect(platform.logins).toBe(2);

	forgetAccounts();
	const dead = new FakePlatform(Infinity);
	dead.refuseLogin = unavailable;
	const doomed = dead.open();
	for (let n = 0; n < 100; n++) {
		await expect(doomed.run(`${n}`, dead.send)).rejects.toMatchObject({ details: { kind: 'timeout' } });
	}
	expect(dead.logins).toBe(10);
});

test.each([14103, 14201, 14202, 14203])('code %i on a request causes no login and leaves the session open', async (code) => {
	const platform = new FakePlatform(Infinity, signedIn);
	const session = platform.open();
	const failure = refusal({ code });
	await expect(session.run('1', async () => await Promise.reject(failure))).rejects.toBe(failure);
	await expect(session.run('2', platform.send)).resolves.toBe('token 1');
	expect(platform.logins).toBe(0);
});

test('a credential that is switched to a key in the middle goes on with the key', async () => {
	const platform = new FakePlatform(1);
	const session = platform.open();
	await session.run('1', platform.send);
	platform.stored = KEY;
	for (let n = 0; n < 30; n++) await expect(session.run(`${n}`, platform.send)).resolves.toBe('by key');
	const missing = refusal({ code: 10007, cause: 'not found' });
	await expect(session.run('x', async () => await Promise.reject(missing))).rejects.toBe(missing);
	await expect(session.run('y', platform.send)).resolves.toBe('by key');
});

test('a credential that is changed after all rounds were used up goes on with the new login', async () => {
	const platform = new FakePlatform(0);
	const session = platform.open();
	await expect(session.run('1', platform.send)).rejects.toMatchObject({ details: { code: 14101 } });
	platform.stored = { ...LOGIN, loginName: 'berta' };
	platform.mend();
	expect(await inTime(session.run('2', platform.send))).toMatch(/^token/);
	expect(platform.logins).toBe(4);
});

describe('a token that died', () => {
	test('is not brought back by an answer that was long on its way', async () => {
		const platform = new FakePlatform(Infinity, signedIn, true);
		const [slow, other] = [platform.open(), platform.open()];
		let answer = () => {};
		const late = slow.run('slow', async () => await new Promise<string>((resolve) => (answer = () => resolve('late'))));
		platform.kill();
		await expect(other.run('1', platform.send)).resolves.toBe('token 2');
		answer();
		await late;
		const account = accountOf(readCredential(LOGIN));
		expect(account.token).toBe('token 2');
		// Nor where there is none just now.
		account.refused('token 2');
		account.accepted('token 1');
		expect(account.token).toBeUndefined();
		expect(account.newerToken('', 1_000_000)).toBeUndefined();
	});

	test('is not tried again, nor ends the wait after a refused login, because of an answer that was long on its way', async () => {
		const platform = new FakePlatform(Infinity, signedIn);
		await rememberRefusal();
		const session = platform.open();
		let answer = () => {};
		const late = session.run('slow', async () => await new Promise<string>((resolve) => (answer = () => resolve('late'))));
		platform.kill();
		platform.onRead = async () => {
			answer();
			await late;
		};
		await expect(session.run('1', platform.send)).rejects.toMatchObject({ details: { code: 14201 } });
		expect(platform).toMatchObject({ logins: 0, sent: 1 });
	});

	test('is not handed to whoever signs in, though it was new a moment ago and somebody is still accepted with it', async () => {
		const account = accountOf(readCredential(LOGIN));
		await account.signIn({}, async () => ({ sessionToken: 'new', sessionOwner: 'x' }), () => 1000);
		expect(account.newerToken('old', 2000)).toBe('new');
		account.refused('new');
		account.accepted('new');
		expect(account.newerToken('old', 2000)).toBeUndefined();
	});
});

test("a login that n8n's own node began is not made twice when those who joined it are gone", async () => {
	const account = accountOf(readCredential(LOGIN));
	let asked = 0;
	let finish = () => {};
	const ask = async () => {
		asked++;
		return await new Promise<{ sessionToken: string; sessionOwner: string }>((resolve) => {
			finish = () => resolve({ sessionToken: 't', sessionOwner: 'x' });
		});
	};
	const node = account.signIn({}, ask, () => 1000);
	const stop = new AbortController();
	const data = {};
	const joined = account.obtainToken(data, async () => (await account.signIn(data, ask, () => 1000)).sessionToken, stop.signal);
	stop.abort();
	await expect(joined).resolves.toBeUndefined();
	const later = account.signIn({}, ask, () => 1000);
	finish();
	expect(await inTime(Promise.all([node, later]))).toMatchObject([{ sessionToken: 't' }, { sessionToken: 't' }]);
	expect(asked).toBe(1);
});

test('a token that n8n could not store is used nevertheless', async () => {
	const platform = new FakePlatform(Infinity);
	const account = accountOf(readCredential(LOGIN));
	platform.cannotStore = async (fields) => {
		await account.signIn({}, async () => fields, () => 1_000_000);
		throw refusal({ kind: 'unreachable', message: 'the database is locked' });
	};
	await expect(platform.open().run('1', platform.send)).resolves.toBe('token 1');
	expect(platform.logins).toBe(1);
});

test('an account whose login is under way is not forgotten, however many others are used meanwhile', async () => {
	const account = accountOf({ account: 'first' });
	let finish = () => {};
	const asking = account.signIn({}, async () => {
		await new Promise<void>((resolve) => (finish = resolve));
		return { sessionToken: 't', sessionOwner: 'x' };
	}, () => 1000);
	for (let n = 0; n < 150; n++) accountOf({ account: `${n}` });
	expect(accountOf({ account: 'first' })).toBe(account);
	finish();
	await asking;
	for (let n = 0; n < 150; n++) accountOf({ account: `${n}` });
	expect(accountOf({ account: 'first' })).not.toBe(account);
});

describe('a run that is stopped', () => {
	test("does not wait for what becomes of other executions' requests", async () => {
		const platform = new FakePlatform(Infinity, signedIn);
		const [one, other] = [platform.open(), platform.open()];
		platform.kill();
		let sent = 0;
		const bad = one.run('bad', async (data) => {
			if (++sent === 2) {
				await other.run('1', platform.send);
				void other.run('hangs', async () => await new Promise<string>(() => {}));
				// It waits for what is said about the new token.
				platform.onWait = () => platform.stop.abort();
			}
			return await platform.refuse(data);
		});
		expect(await inTime(bad.catch((thrown: unknown) => thrown))).toBeInstanceOf(Failure);
	});

	test('stops waiting for a token at once', async () => {
		const platform = new FakePlatform(Infinity);
		const session = platform.open();
		let finish = () => {};
		const account = accountOf(readCredential(LOGIN));
		const leading = account.obtainToken({}, async () => await new Promise<string>((resolve) => (finish = () => resolve('t'))), new AbortController().signal);
		const waiting = session.run('1', platform.send);
		for (let turn = 0; turn < 20; turn++) await Promise.resolve();
		platform.stop.abort();
		await expect(waiting).rejects.toMatchObject({ details: { kind: 'cancelled' } });
		finish();
		await expect(leading).resolves.toBe('t');
	});

	test('leaves its login to those who wait for it, and takes it along where nobody does', async () => {
		const account = accountOf(readCredential(LOGIN));
		const [first, second] = [new AbortController(), new AbortController()];
		let drop: AbortSignal | undefined;
		const lead = async (signal: AbortSignal) => {
			drop = signal;
			return await new Promise<string>((_, reject) => signal.addEventListener('abort', () => reject(new Error('dropped'))));
		};
		const leader = account.obtainToken({}, lead, first.signal);
		const other = account.obtainToken({}, lead, second.signal);
		first.abort();
		await expect(leader).resolves.toBeUndefined();
		expect(drop?.aborted).toBe(false);
		second.abort();
		await expect(other).resolves.toBeUndefined();
		expect(drop?.aborted).toBe(true);
		await expect(account.obtainToken({}, async () => 'anew', new AbortController().signal)).resolves.toBe('anew');
	});
});
