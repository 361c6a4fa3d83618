import type { Bench } from '../../../testbed/bench.mts';
import { hurry, useBenches } from '../../../testbed/jest.mts';
import { operations, serialNumberItems } from '../../../testbed/operations.mts';
import { jsonOf, serialNumbersOf } from '../../../testbed/output.mts';

const open = useBenches();

/** How a platform says that a token is dead. */
const deaths = [
	['code 14101 in an HTTP 200', { deadToken: 'code', deadTokenCode: 14101 }],
	['code 14102 in an HTTP 200', { deadToken: 'code', deadTokenCode: 14102 }],
	['HTTP 401', { deadToken: 'status', deadTokenCode: 14101 }],
] as const;

/**
 * Kills all tokens as the given request arrives; logins do not count.
 * @param atOnce the first so many requests are answered only when all of them have arrived
 */
function killTokensAt({ platform }: Bench, death: number, atOnce = 1): void {
	let requests = 0;
	let release = () => {};
	const arrived = new Promise<void>((resolve) => {
		release = resolve;
	});
	platform.settings.beforeAnswer = async ({ kind }) => {
		if (kind === 'login') return;
		const order = ++requests;
		if (order === atOnce) release();
		await arrived;
		if (order === death) platform.expireTokens();
	};
}

describe.each(deaths)('a token that expires by %s', (_name, settings) => {
	test.each([1, 16])(
		'costs one sign-in, whichever request it expires at, with %i at once',
		async (parallelRequests) => {
			const items = 20;
			const bench = await open({ ...settings, fleet: { size: items } });
			const { platform, login, run } = bench;
			const wanted = platform.fleet.devices.map(({ sn }) => sn);
			for (const death of [1, 10, 20]) {
				await bench.signInEarlier();
				platform.forget();
				killTokensAt(bench, death, parallelRequests);
				const result = await run(
					{ ...operations.get, options: { parallelRequests } },
					{ credential: login, input: serialNumberItems(bench, items) },
				);
				expect({ death, error: result.error, got: serialNumbersOf(result) }).toEqual({
					death,
					error: undefined,
					got: wanted,
				});
				expect({ death, ...platform.logins }).toEqual({ death, attempted: 1, succeeded: 1 });
				expect(platform.peakInFlight).toBe(parallelRequests);
			}
		},
	);
});

test('a token that expires while a list is read does not tear the list, whichever page it expires at', async () => {
	const bench = await open({ fleet: { size: 45 } });
	const { platform, login, run } = bench;
	const wanted = platform.fleet.devices.map(({ sn }) => sn);
	for (let death = 1; death <= 9; death++) {
		await bench.signInEarlier();
		platform.forget();
		killTokensAt(bench, death);
		const options = { parallelRequests: 4, pageSize: 5 };
		const result = await run({ ...operations.getAll, options }, { credential: login });
		expect({ death, got: serialNumbersOf(result) }).toEqual({ death, got: wanted });
		expect({ death, ...platform.logins }).toEqual({ death, attempted: 1, succeeded: 1 });
	}
});

test('a new token is stored with the credential, and the next execution does not log in', async () => {
	const { engine, platform, login, run } = await open();
	const { updated } = engine.credentialUse;
	await run(operations.count, { credential: login });
	expect(platform.logins.attempted).toBe(1);
	expect(await engine.storedCredential(login)).toMatchObject({ sessionToken: platform.issuedTokens[0] });
	for (const operation of ['count', 'getAll', 'request'] as const) {
		expect((await run(operations[operation], { credential: login })).error).toBeUndefined();
	}
	expect(platform.logins.attempted).toBe(1);

	platform.expireTokens();
	await run(operations.count, { credential: login });
	expect(platform.logins.attempted).toBe(2);
	expect(await engine.storedCredential(login)).toMatchObject({ sessionToken: platform.issuedTokens[1] });
	expect(engine.credentialUse.updated - updated).toBe(2);
});

test('a login that is refused during a list is tried once, and no partial list is returned', async () => {
	const bench = await open({ fleet: { size: 60 } });
	const { platform, login, run } = bench;
	await bench.signInEarlier();
	killTokensAt(bench, 3);
	platform.settings.refuseLogin = 14202;
	const result = await run(
		{ ...operations.getAll, options: { pageSize: 5, parallelRequests: 8 } },
		{ credential: login },
	);
	expect(result.error?.message).toMatch(/The user is blocked/);
	expect(result.data('Devices')).toEqual([]);
	expect(platform.logins.attempted).toBe(1);
});

describe('a changed login takes effect at once', () => {
	test('another platform is not sent the old token', async () => {
		const { engine, login, run } = await open();
		const other = await open();
		await run(operations.count, { credential: login });
		await engine.editCredential(login, { baseUrl: other.platform.baseUrl });
		expect((await run(operations.count, { credential: login })).error).toBeUndefined();
		expect(other.platform.requests.map(({ kind }) => kind)).toEqual(['login', 'list']);
	});
});

describe('the token in the login answer', () => {
	test.each(['data', 'data.token', 'data.accessToken', 'data.access_token'])('is found at %s', async (tokenAt) => {
		const { platform, login, run } = await open({ tokenAt });
		expect((await run(operations.count, { credential: login })).error).toBeUndefined();
		expect(platform.logins.attempted).toBe(1);
	});

	test.each([
		['data.session.jwt', 'data.session.jwt'],
		['data.session.jwt', 'session.jwt'],
		['data.data', 'data.data'],
	])('at %s is found by the token path %s', async (tokenAt, tokenPath) => {
		const { engine, platform, login, run } = await open({ tokenAt });
		await engine.editCredential(login, { tokenPath, customSignIn: true });
		expect((await run(operations.count, { credential: login })).error).toBeUndefined();
		expect(platform.logins.attempted).toBe(1);
	});

	test('is only read from the token path if it is set', async () => {
		const { engine, login, run } = await open({ tokenAt: 'data.token' });
		await engine.editCredential(login, { tokenPath: 'data.session', customSignIn: true });
		expect((await run(operations.count, { credential: login })).error?.message).toContain('under "data.session"');
	});

	test.each([
		[
			'an object',
			{ ticket: 'value-of-ticket', expires: 'value-of-expires' },
			/looked for 'data' as text, or under token, accessToken, access_token; 'data' has the keys ticket, expires$/,
		],
		['null', null, /'data' is null$/],
		['a list', ['value-in-list'], /'data' is a list of 1$/],
		['an empty text', '', /has no token/],
		['a number', 42, /'data' is a number$/],
		['a token that no header carries', 'value\nof-header', /characters that a header can't contain$/],
	])(
		'that is missing in %s is reported by what was looked for and the keys that came, never their values',
		async (_name, data, words) => {
			const { platform, login, run } = await open();
			platform.settings.fault = ({ kind }) => (kind === 'login' ? { code: 0, data } : undefined);
			const result = await run(operations.get, {
				credential: login,
				onError: 'continueRegularOutput',
				input: [{ sn: 'A' }, { sn: 'B' }],
			});
			const [first] = result.data('Devices');
			expect(String(first?.json['error']).replace(/ \[item 0\]$/, '')).toMatch(words);
			expect(JSON.stringify(result.raw)).not.toContain('value-');
			expect(platform.requests.map(({ kind }) => kind)).toEqual(['login']);
		},
	);
});

describe('a failing login', () => {
	beforeEach(() => hurry());

	test.each([
		['HTTP 503', { status: 503, headers: { 'retry-after': '0' } }],
		['HTTP 429', { status: 429, headers: { 'retry-after': '0' } }],
	])('because of %s is tried again', async (_name, fault) => {
		const { platform, login, run } = await open({ faults: [{ kind: 'login', fault, times: 2 }] });
		const result = await run(operations.count, { credential: login });
		expect(jsonOf(result)).toEqual([{ count: 25 }]);
		expect(platform.requests.map(({ kind }) => kind)).toEqual(['login', 'login', 'login', 'list']);
	});

	test('because it hangs fails within its own time, naming the login', async () => {
		const { platform, login, run } = await open({ faults: [{ kind: 'login', fault: 'hang', times: Infinity }] });
		hurry(100);
		const result = await run(
			{ ...operations.count, options: { maxRetries: 0, timeout: 60_000 } },
			{ credential: login },
		);
		expect(result.error?.message).toMatch(/^The sign-in failed\. The platform did not respond within 30000 ms/);
		expect(result.error?.description).not.toMatch(/Timeout/);
		expect(platform.requests.map(({ kind }) => kind)).toEqual(['login']);
	});
});
