import { Failure, type FailureDetails } from '../../nodes/DeviceManagement/core/failure.ts';
import { Session, type SessionData } from '../../nodes/DeviceManagement/shared/session.ts';

const LOGIN: SessionData = {
	baseUrl: 'https://platform.example',
	authentication: 'login',
	loginName: 'anna',
	password: 'secret',
	sessionToken: '',
};

function refusal(details: Partial<FailureDetails>): Failure {
	return new Failure({ kind: 'refused', cause: 'credential', message: 'refused', remedy: '', ...details });
}

/** A platform whose tokens live for so many requests, and n8n's way of signing in, without either. */
class FakePlatform {
	logins = 0;
	sent = 0;
	stored: SessionData;
	private alive = new Map<string, number>();

	constructor(
		private readonly life: number,
		data: SessionData = LOGIN,
	) {
		this.stored = { ...data };
		const token = String(data['sessionToken'] ?? '');
		if (token !== '') this.alive.set(token, life);
	}

	open(): Session {
		return new Session({ ...this.stored }, async () => ({ ...this.stored }));
	}

	/** Signs in elsewhere, as another worker would. */
	signInElsewhere(): void {
		this.stored = { ...this.stored, sessionToken: this.issue() };
	}

	send = async (data: SessionData): Promise<string> => {
		this.sent++;
		await Promise.resolve();
		if (data['sessionToken'] === '') {
			await this.signIn(data);
		}
		await Promise.resolve();
		const token = String(data['sessionToken']);
		const left = this.alive.get(token) ?? 0;
		this.alive.set(token, left - 1);
		if (left <= 0) throw refusal({ code: 14101, tokenRefused: true });
		return token;
	};

	refuseLogin: Failure | undefined;

	private async signIn(data: SessionData): Promise<void> {
		this.logins++;
		await Promise.resolve();
		if (this.refuseLogin !== undefined) throw this.refuseLogin;
		data['sessionToken'] = this.issue();
		this.stored = { ...this.stored, sessionToken: data['sessionToken'] };
	}

	private issue(): string {
		const token = `token ${this.alive.size + 1}`;
		this.alive.set(token, this.life);
		return token;
	}
}

const times = <T,>(count: number, run: () => Promise<T>) => Promise.all(Array.from({ length: count }, run));

test('sixteen requests that begin without a token sign in once', async () => {
	const platform = new FakePlatform(Infinity);
	const session = platform.open();
	await times(16, () => session.run(platform.send));
	expect(platform.logins).toBe(1);
});

test.each([1, 2, 3, 5, 16])('with tokens that live for %i requests, there is one login for each that died', async (life) => {
	for (const parallel of [1, 4, 16]) {
		const platform = new FakePlatform(life);
		const session = platform.open();
		await times(parallel, async () => {
			for (let n = 0; n < 6; n++) await session.run(platform.send);
		});
		expect(platform.logins).toBe(Math.ceil((parallel * 6) / life));
	}
});

test('a token that another execution stored meanwhile is used instead of a login', async () => {
	const platform = new FakePlatform(2, { ...LOGIN, sessionToken: 'token 1' });
	const session = platform.open();
	await session.run(platform.send);
	await session.run(platform.send);
	platform.signInElsewhere();
	await expect(session.run(platform.send)).resolves.toBe('token 2');
	expect(platform.logins).toBe(0);
});

test('a new token that is refused at once is refused for good, and nobody asks again', async () => {
	const platform = new FakePlatform(0);
	const session = platform.open();
	const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => session.run(platform.send)));
	expect(outcomes.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 'rejected'));
	await expect(session.run(platform.send)).rejects.toMatchObject({ details: { code: 14101 } });
	expect(platform.logins).toBe(1);
	expect(platform.sent).toBe(1);
});

test('a refused login ends the session for all', async () => {
	const platform = new FakePlatform(1);
	platform.refuseLogin = refusal({ code: 14201, final: true });
	const session = platform.open();
	await Promise.allSettled(Array.from({ length: 8 }, () => session.run(platform.send)));
	await expect(session.run(platform.send)).rejects.toMatchObject({ details: { code: 14201, final: true } });
	expect(platform).toMatchObject({ logins: 1, sent: 1 });
});

test('a login that could not be carried out may be tried again, but not for ever', async () => {
	const platform = new FakePlatform(Infinity);
	platform.refuseLogin = refusal({ kind: 'timeout', retryable: true });
	const session = platform.open();
	await expect(session.run(platform.send)).rejects.toBe(platform.refuseLogin);
	const unavailable = platform.refuseLogin;
	platform.refuseLogin = undefined;
	await expect(session.run(platform.send)).resolves.toBe('token 1');
	expect(platform.logins).toBe(2);

	const dead = new FakePlatform(Infinity);
	dead.refuseLogin = unavailable;
	const doomed = dead.open();
	for (let n = 0; n < 100; n++) await expect(doomed.run(dead.send)).rejects.toMatchObject({ details: { kind: 'timeout' } });
	expect(dead.logins).toBe(10);
});

test('a refused key is asked once and never signs in', async () => {
	const platform = new FakePlatform(0, { ...LOGIN, authentication: 'apiKey', apiKey: 'k', sessionToken: 'token 1' });
	const session = platform.open();
	await expect(session.run(platform.send)).rejects.toMatchObject({ details: { code: 14101 } });
	await expect(session.run(platform.send)).rejects.toMatchObject({ details: { code: 14101 } });
	expect(platform).toMatchObject({ logins: 0, sent: 1 });
});

test.each([14103, 14201, 14202, 14203])('code %i on a request causes no login and leaves the session open', async (code) => {
	const platform = new FakePlatform(Infinity, { ...LOGIN, sessionToken: 'token 1' });
	const session = platform.open();
	const failure = refusal({ code });
	await expect(session.run(async () => await Promise.reject(failure))).rejects.toBe(failure);
	await expect(session.run(platform.send)).resolves.toBe('token 1');
	expect(platform.logins).toBe(0);
});

test('a token of another password is not used', async () => {
	const changed = { ...LOGIN, sessionToken: 'token 1', sessionOwner: 'of the old password' };
	const platform = new FakePlatform(Infinity, changed);
	await expect(platform.open().run(platform.send)).resolves.toBe('token 2');
	expect(platform.logins).toBe(1);
});

test('a credential that is switched to a key in the middle goes on with the key', async () => {
	const platform = new FakePlatform(1);
	const session = platform.open();
	await session.run(platform.send);
	platform.stored = { ...platform.stored, authentication: 'apiKey', apiKey: 'k', sessionToken: '' };
	const withKey = async (data: SessionData) => {
		if (data['authentication'] !== 'apiKey') throw refusal({ code: 14101, tokenRefused: true });
		return 'by key';
	};
	for (let n = 0; n < 30; n++) await expect(session.run(withKey)).resolves.toBe('by key');
	const missing = refusal({ code: 10007, cause: 'not found' });
	await expect(session.run(async () => await Promise.reject(missing))).rejects.toBe(missing);
	await expect(session.run(withKey)).resolves.toBe('by key');
});

test('a key that was accepted before does not end the session when one endpoint refuses it', async () => {
	const platform = new FakePlatform(Infinity, { ...LOGIN, authentication: 'apiKey', apiKey: 'k', sessionToken: 'token 1' });
	const session = platform.open();
	await session.run(platform.send);
	const failure = refusal({ code: 14101, tokenRefused: true });
	await expect(session.run(async () => await Promise.reject(failure))).rejects.toBe(failure);
	await expect(session.run(platform.send)).resolves.toBe('token 1');
	expect(platform.logins).toBe(0);
});
