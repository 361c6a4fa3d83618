import type { ICredentialDataDecryptedObject, IHttpRequestOptions } from 'n8n-workflow';
import { z } from 'zod/v4';

import { Failure } from '../../../nodes/DeviceManagement/core/failure.ts';
import { accountOf, forgetAccounts } from '../../../nodes/DeviceManagement/transport/auth/account.ts';
import {
	authenticate,
	preAuthenticate,
	SignedIn,
	TEST_MARK,
} from '../../../nodes/DeviceManagement/transport/auth/authenticate.ts';
import { replaceClock } from '../../../nodes/DeviceManagement/transport/waiting/clock.ts';
import { credentialOf } from '../../../nodes/DeviceManagement/transport/auth/credential.ts';
import { VirtualTime } from '../../../testbed/virtualTime.mts';
import { responseOf, SIGNED_OUT } from '../fakes.mts';

const withToken = (data: ICredentialDataDecryptedObject, token: string) => credentialOf(data).withToken(token).data;
const LIST: IHttpRequestOptions = { url: 'https://platform.example/api/device/list' };

/** n8n's store, its plain request function, and a platform that issues tokens after 100 ms. */
class FakeN8n {
	readonly time = new VirtualTime();
	stored = SIGNED_OUT;
	logins = 0;
	/** Tokens that requests were sent with. */
	sent: string[] = [];
	headers: IHttpRequestOptions['headers'] = {};
	/** The envelope of a login response without a token. */
	refuseLogin: { code: number } | undefined;
	/** The Retry-After of a login response. */
	loginAsksToWait: string | undefined;
	/** HTTP status of each response; 200 after the last one. */
	statuses: number[] = [];

	/** What n8n does for a request of a node: see n8n-core's authentication.js. */
	async request(way: 'current' | 'older' | 'test', data = { ...this.stored }): Promise<void> {
		// Each read of the credential returns a new object, which one request keeps to its end.
		const request = { ...LIST, headers: way === 'test' ? { [TEST_MARK]: 'true' } : {} };
		try {
			if (way === 'test' || data['sessionToken'] === '') await this.preAuthentication(data);
			return await this.send(authenticate(data, request));
		} catch (error) {
			const is401 = z.object({ response: z.object({ status: z.literal(401) }) }).safeParse(error).success;
			if (way !== 'older' && !is401) throw error;
			const found = await this.preAuthentication(data);
			if (way === 'older' && !found) throw error;
			return await this.send(authenticate(data, request));
		}
	}

	plainRequest = async ({ url }: IHttpRequestOptions): Promise<unknown> => {
		if (!url.endsWith('/api/user/login')) throw new Error(`A login goes to ${url}`);
		const token = `token ${++this.logins}`.replace(' ', '-');
		await this.time.sleep(100);
		const envelope = this.refuseLogin ?? { code: 0, data: { token } };
		if (this.loginAsksToWait === undefined) return responseOf(envelope);
		return { ...responseOf({}), statusCode: 429, headers: { 'retry-after': this.loginAsksToWait } };
	};

	private async preAuthentication(data: ICredentialDataDecryptedObject): Promise<boolean> {
		const output = await preAuthenticate(data, this.plainRequest);
		if (output.sessionToken === undefined) return false;
		this.stored = { ...this.stored, ...output };
		Object.assign(data, output);
		return true;
	}

	private async send({ headers }: IHttpRequestOptions): Promise<void> {
		this.headers = headers;
		this.sent.push(String(headers?.['Authorization']));
		const status = this.statuses.shift() ?? 200;
		if (status !== 200) throw Object.assign(new Error(`HTTP ${status}`), { response: { status } });
	}
}

let n8n: FakeN8n;
let putBack: () => void;
beforeEach(() => {
	forgetAccounts();
	n8n = new FakeN8n();
	putBack = replaceClock(n8n.time);
});
afterEach(() => putBack());

const account = () => accountOf(credentialOf(SIGNED_OUT));
/** Lets time pass until the promise has settled. */
const outcomeOf = async <T,>(promise: Promise<T>): Promise<unknown> => {
	const outcome = promise.then(
		(value) => value,
		(thrown: unknown) => thrown,
	);
	await n8n.time.until(outcome);
	return await outcome;
};

describe.each(['current', 'older', 'test'] as const)("n8n's request function (%s)", (way) => {
	test('signs in once for all requests that begin without a token at the same time', async () => {
		const count = way === 'test' ? 1 : 10;
		await outcomeOf(Promise.all(Array.from({ length: count }, async () => await n8n.request(way))));
		expect(n8n).toMatchObject({ logins: 1, sent: Array.from({ length: count }, () => 'Bearer token-1') });
	});

	test.each(['signs in', 'finds one in the store', 'is stopped', 'fails'])(
		'waits while an execution is looking for a token, which %s; a connection test then signs in unless it did',
		async (outcome) => {
			const { data } = credentialOf(SIGNED_OUT).forSignIn();
			const execution = account().findOnce(async () => {
				await n8n.time.sleep(1000);
				if (outcome === 'finds one in the store') account().use('token-0');
				if (outcome === 'signs in') await n8n.request('current', data).catch(() => {});
				if (outcome === 'fails') throw failed;
			});
			const failed = new Failure({ kind: 'unreachable', cause: 'platform', message: 'No', remedy: '' });
			execution.catch(() => {});
			const own = await outcomeOf(n8n.request(way));
			await outcomeOf(execution);
			expect(own).toBe(outcome === 'fails' ? failed : undefined);
			const found = { 'signs in': 1, 'finds one in the store': 0 }[outcome] ?? 0;
			const isOld = way === 'test' && outcome === 'finds one in the store';
			const logins = outcome === 'is stopped' || isOld ? found + 1 : found;
			expect(n8n).toMatchObject({ logins, sent: outcome === 'fails' ? [] : [`Bearer token-${logins}`] });
		},
	);

	test('asks a login that does not answer once, and the next request asks again', async () => {
		n8n.refuseLogin = { code: 9999 };
		expect(await outcomeOf(n8n.request(way))).toMatchObject({ details: { code: 9999 } });
		expect(n8n.logins).toBe(1);
		await outcomeOf(n8n.request(way));
		expect(n8n).toMatchObject({ logins: 2, sent: [] });
	});

	test('asks a refused login once, and five minutes later again', async () => {
		n8n.refuseLogin = { code: 14201 };
		expect(await outcomeOf(n8n.request(way))).toMatchObject({ details: { code: 14201 } });
		expect(n8n.logins).toBe(1);
		const again = await outcomeOf(n8n.request(way));
		expect(again).toBeInstanceOf(Failure);
		expect(again).toMatchObject({ message: expect.stringMatching(/The same login is tried again in 5 minutes/) });
		expect(n8n.logins).toBe(way === 'test' ? 2 : 1);
		n8n.refuseLogin = undefined;
		await n8n.time.run(300_000);
		expect(await outcomeOf(n8n.request(way))).toBeUndefined();
	});

	test('does not take a token whose login was changed', async () => {
		n8n.stored = { ...withToken({ ...SIGNED_OUT, password: 'before' }, 'old'), password: 'secret' };
		await outcomeOf(n8n.request(way));
		expect(n8n).toMatchObject({ logins: 1, sent: ['Bearer token-1'] });
	});

	test('sends no login and takes no token where there is a key', async () => {
		n8n.stored = { ...SIGNED_OUT, authentication: 'apiKey', apiKey: 'k', sessionToken: 'old' };
		await outcomeOf(n8n.request(way));
		expect(n8n).toMatchObject({ logins: 0, sent: ['ApiKey k'] });
	});
});

test("the account learns of a pause that another node's login is asked for; that node does not wait for it", async () => {
	n8n.loginAsksToWait = '2';
	await outcomeOf(n8n.request('current'));
	n8n.loginAsksToWait = undefined;
	const stop = new AbortController();
	const waiting = account().rateLimit.afterPause(async () => n8n.time.now(), n8n.time, stop.signal);
	expect(await outcomeOf(n8n.request('current'))).toBeUndefined();
	expect(n8n.time.now()).toBe(200);
	expect(await outcomeOf(waiting)).toBe(2100);
});

test('fields that the form hides do not count', () => {
	const stored = { ...SIGNED_OUT, authentication: 'apiKey', apiKey: 'k', apiKeyPrefix: 'Token', customSignIn: false };
	expect(authenticate(stored, LIST).headers).toMatchObject({ Authorization: 'ApiKey k' });
});

test('a key replaces a header of the same name in another case, and no other header', () => {
	const headers = { authorization: 'other', Accept: 'text/plain' };
	const request = authenticate({ ...SIGNED_OUT, authentication: 'apiKey', apiKey: 'k' }, { ...LIST, headers });
	expect(request.headers).toEqual({ Accept: 'text/plain', Authorization: 'ApiKey k' });
});

describe.each(['current', 'older'] as const)("n8n's request function (%s) with a dead token", (way) => {
	beforeEach(() => {
		n8n.stored = withToken(SIGNED_OUT, 'dead');
		n8n.statuses = [401];
	});

	test('logs in once', async () => {
		await outcomeOf(n8n.request(way));
		expect(n8n).toMatchObject({ logins: 1, sent: ['Bearer dead', 'Bearer token-1'] });
	});

	test('signs in if an execution that was looking for a token found the dead one', async () => {
		const execution = account().findOnce(async () => {
			await n8n.time.sleep(10);
			account().use('dead');
		});
		await outcomeOf(n8n.request(way));
		await execution;
		expect(n8n).toMatchObject({ logins: 1, sent: ['Bearer dead', 'Bearer token-1'] });
	});

	test('gets the token that another request was issued a moment ago', async () => {
		await outcomeOf(preAuthenticate(withToken(SIGNED_OUT, ''), n8n.plainRequest));
		await n8n.time.run(4000);
		await outcomeOf(n8n.request(way));
		expect(n8n).toMatchObject({ logins: 1, sent: ['Bearer dead', 'Bearer token-1'] });
	});

	test('gets another one if that is longer ago, if the platform refused it, and if it expired', async () => {
		await outcomeOf(preAuthenticate(withToken(SIGNED_OUT, ''), n8n.plainRequest));
		await n8n.time.run(5000);
		await outcomeOf(n8n.request(way));
		expect(n8n.sent.at(-1)).toBe('Bearer token-2');
		account().refuse('token-2');
		n8n.stored = withToken(SIGNED_OUT, 'dead');
		n8n.statuses = [401];
		await outcomeOf(n8n.request(way));
		expect(n8n.sent.at(-1)).toBe('Bearer token-3');
		n8n.statuses = [401];
		await outcomeOf(n8n.request(way));
		expect(n8n.sent.slice(-2)).toEqual(['Bearer token-3', 'Bearer token-4']);
	});

	test('signs in again if that is also refused', async () => {
		n8n.stored = SIGNED_OUT;
		await outcomeOf(n8n.request(way));
		expect(n8n).toMatchObject({ logins: 2, sent: ['Bearer token-1', 'Bearer token-2'] });
	});

	test('gets the refusal of the token while the process remembers a refused login, without a request', async () => {
		n8n.refuseLogin = { code: 14202 };
		await outcomeOf(preAuthenticate(withToken(SIGNED_OUT, ''), n8n.plainRequest));
		n8n.statuses = [401, 401];
		expect(await outcomeOf(n8n.request(way))).toMatchObject({ message: 'HTTP 401' });
		expect(n8n.logins).toBe(1);
	});
});

describe("n8n's connection test", () => {
	test('signs in although a token is valid, and does not send its mark', async () => {
		n8n.stored = withToken(SIGNED_OUT, 'alive');
		await outcomeOf(n8n.request('test'));
		expect(n8n).toMatchObject({ logins: 1, sent: ['Bearer token-1'] });
		expect(n8n.headers).not.toHaveProperty(TEST_MARK);
	});

	test('logs in although another request was issued a token a moment ago', async () => {
		await outcomeOf(preAuthenticate(withToken(SIGNED_OUT, ''), n8n.plainRequest));
		await outcomeOf(n8n.request('test'));
		expect(n8n).toMatchObject({ logins: 2, sent: ['Bearer token-2'] });
	});

	test('shares its login with tests and executions that begin meanwhile, as each login may end the token before', async () => {
		const { data } = credentialOf(SIGNED_OUT).forSignIn();
		const execution = account().findOnce(async () => await n8n.request('current', data).catch(() => {}));
		await outcomeOf(Promise.all([n8n.request('test'), n8n.request('test'), execution]));
		expect(n8n).toMatchObject({ logins: 1, sent: ['Bearer token-1', 'Bearer token-1'] });
	});

	test('logs in each time', async () => {
		await outcomeOf(n8n.request('test'));
		await outcomeOf(n8n.request('test'));
		expect(n8n).toMatchObject({ logins: 2, sent: ['Bearer token-1', 'Bearer token-2'] });
	});

	test('asks while the process remembers a refusal, with any stored token, and its success ends the wait', async () => {
		for (const stored of [SIGNED_OUT, withToken(SIGNED_OUT, 'dead')]) {
			forgetAccounts();
			n8n.stored = stored;
			n8n.logins = 0;
			n8n.refuseLogin = { code: 14201 };
			await outcomeOf(preAuthenticate(withToken(SIGNED_OUT, ''), n8n.plainRequest));
			n8n.refuseLogin = undefined;
			expect(await outcomeOf(n8n.request('test'))).toBeUndefined();
			expect(n8n.logins).toBe(2);
			expect(account().recentLoginRefusal(n8n.time.now())).toBeUndefined();
		}
	});
});

describe('a request that is made for its login alone', () => {
	test('is never sent', async () => {
		const { data } = credentialOf(SIGNED_OUT).forSignIn();
		expect(await outcomeOf(n8n.request('current', data))).toBeInstanceOf(SignedIn);
		expect(n8n).toMatchObject({ logins: 1, sent: [], stored: { sessionToken: 'token-1' } });
	});

	test('does not wait for its own session if n8n copies the data', async () => {
		const { data } = credentialOf(SIGNED_OUT).forSignIn();
		const search = account().findOnce(async () => {
			await n8n.time.sleep(1);
			expect(await preAuthenticate({ ...data }, n8n.plainRequest)).toMatchObject({ sessionToken: 'token-1' });
		});
		await n8n.time.until(search);
	});
});
