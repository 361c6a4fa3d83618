import { DeviceManagementApi } from '../../../credentials/DeviceManagementApi.credentials.ts';
import { replaceClock, systemClock } from '../../../nodes/DeviceManagement/transport/waiting/clock.ts';
import type { Bench } from '../../../testbed/bench.mts';
import { useBenches, useProcesses } from '../../../testbed/jest.mts';
import { operations, serialNumberItems } from '../../../testbed/operations.mts';
import { jsonOf, serialNumbersOf } from '../../../testbed/output.mts';

const open = useBenches();

const NODE = 'n8n-nodes-device-management.deviceManagement';

const kindsOf = ({ platform }: Bench) => platform.requests.map(({ kind }) => kind);
const errorsOf = (results: ReadonlyArray<{ error?: { message: string } | undefined }>) =>
	results.map(({ error }) => error?.message).filter((message) => message !== undefined);
const times = async <T,>(count: number, run: (n: number) => Promise<T>): Promise<T[]> =>
	await Promise.all(Array.from({ length: count }, async (_, n) => await run(n)));

/** A clock that moves when a test or a wait moves it. */
function useTime(): { pass(ms: number): void } {
	let ahead = 0;
	const putBack = replaceClock({
		...systemClock,
		now: () => ahead,
		sleep: async (ms) => {
			ahead += ms;
		},
	});
	onTestEnd.push(putBack);
	return {
		pass: (ms) => {
			ahead += ms;
		},
	};
}
const onTestEnd: Array<() => void> = [];
afterEach(() => {
	for (const end of onTestEnd.splice(0).reverse()) end();
});

describe('one sign-in for everyone', () => {
	test('a hanging request delays no request that only waits for the token', async () => {
		const bench = await open({ fleet: { size: 12 } });
		const hanging = bench.fleet.at(0).sn;
		let answered = 0;
		bench.platform.settings.fault = ({ path }) => (path.endsWith(hanging) ? 'hang' : undefined);
		bench.platform.settings.beforeAnswer = ({ kind }) => void (kind === 'sn' && answered++);
		const stop = new AbortController();
		const run = bench.run(
			{ ...operations.get, options: { parallelRequests: 12 } },
			{
				credential: bench.login,
				input: serialNumberItems(bench, 12),
				signal: stop.signal,
			},
		);
		// All the others are asked for while the first one is still being waited for.
		while (answered < 12) await new Promise(setImmediate);
		stop.abort();
		expect((await run).cancelled).toBe(true);
		expect(bench.platform.logins.attempted).toBe(1);
	});

	test('the time for a request begins when there is a token, and the login has its own', async () => {
		const bench = await open();
		const begun: unknown[] = [];
		const timeout = (ms: number) => (begun.push(ms), systemClock.timeout(ms));
		onTestEnd.push(replaceClock({ ...systemClock, timeout }));
		bench.platform.settings.beforeAnswer = ({ kind }) => void begun.push(kind);
		await bench.run({ ...operations.count, options: { timeout: 10_000 } }, { credential: bench.login });
		expect(begun).toEqual([30_000, 'login', 10_000, 'list']);
	});

	test('eight executions and a dropdown that begin together sign in once', async () => {
		const bench = await open();
		const { engine, login } = bench;
		const dropdown = engine.listSearch(
			operations.get,
			engine.credentialReference(login),
			'searchDevices',
			undefined,
			undefined,
			NODE,
		);
		const results = await times(8, async () => await bench.run(operations.count, { credential: login }));
		expect((await dropdown).results).toHaveLength(25);
		expect(errorsOf(results)).toEqual([]);
		expect(bench.platform.logins.attempted).toBe(1);
	});

	test('two credentials of one login whose address is written differently are one account', async () => {
		const bench = await open();
		const { engine, platform } = bench;
		const { loginName, password, baseUrl } = platform;
		const data = { baseUrl: `${baseUrl.replace('http:', 'HTTP:')}/ `, authentication: 'login', loginName, password };
		const other = await engine.saveCredential({ name: 'Same login', type: 'deviceManagementApi', data });
		for (let round = 0; round < 3; round++) {
			for (const credential of [bench.login, other]) {
				expect(jsonOf(await bench.run(operations.count, { credential }))).toEqual([{ count: 25 }]);
			}
		}
		expect(platform.logins.attempted).toBe(1);
	});
});

describe('several processes over one store', () => {
	const openProcesses = useProcesses(3);

	test.each(['side-by-side', 'one-per-user'] as const)(
		'finish all their executions with tokens %s, repeatedly from an expired token on',
		async (livingTokens) => {
			const bench = await openProcesses({ livingTokens, fleet: { size: 30 }, latencyMs: 5 });
			const rounds = 4;
			for (let round = 0; round < rounds; round++) {
				bench.platform.expireTokens();
				const results = await Promise.all(
					bench.processes.flatMap(({ run }) =>
						Array.from(
							{ length: 3 },
							async () => await run({ ...operations.getAll, options: { pageSize: 3 } }, { credential: bench.login }),
						),
					),
				);
				expect({ round, errors: errorsOf(results) }).toEqual({ round, errors: [] });
				for (const result of results) expect(serialNumbersOf(result)).toHaveLength(30);
			}
			// One for each expiry and process, and as many again where processes end each other's tokens.
			expect(bench.platform.logins.attempted).toBeLessThanOrEqual(
				rounds * 3 * (livingTokens === 'one-per-user' ? 3 : 1),
			);
		},
		120_000,
	);

	test('a connection test in one of them ends the wait after a refused login in another', async () => {
		const bench = await openProcesses();
		const [one, other] = bench.processes;
		bench.platform.settings.refuseLogin = 14202;
		const run = async () => await one?.run(operations.count, { credential: bench.login });
		expect((await run())?.error?.message).toMatch(/blocked.*The same login is tried again in 5 minutes/);
		delete bench.platform.settings.refuseLogin;
		expect((await run())?.error?.message).toMatch(/The same login is tried again in 5 minutes/);
		expect(bench.platform.logins.attempted).toBe(1);
		expect(await other?.run(operations.count, { credential: bench.login }).then(jsonOf)).toEqual([{ count: 25 }]);
		expect((await run())?.error).toBeUndefined();
	});
});

describe('a refused login', () => {
	const refused = { refuseLogin: 14201 } as const;

	test('is sent once by executions and keystrokes in the dropdown, each says why, and it is sent again after five minutes', async () => {
		const bench = await open(refused);
		const { engine, login } = bench;
		const time = useTime();
		for (let n = 0; n < 3; n++) {
			const { error } = await bench.run(operations.count, { credential: login });
			expect(error?.message).toMatch(
				/login name or the password is not right.*\. The same login is tried again in [45] minutes$/,
			);
			expect(error?.description).toMatch(/connection test/);
			const reference = engine.credentialReference(login);
			const list = engine.listSearch(operations.get, reference, 'searchDevices', 'R', undefined, NODE);
			await expect(list).rejects.toThrow(/is not right/);
			time.pass(10_000);
		}
		expect(kindsOf(bench)).toEqual(['login']);
		time.pass(300_000);
		await bench.run(operations.count, { credential: login });
		expect(kindsOf(bench)).toEqual(['login', 'login']);
	});

	test.each([401, 403])('is remembered as well when it is HTTP %i without an envelope', async (status) => {
		const bench = await open();
		bench.platform.settings.fault = ({ kind }) => (kind === 'login' ? { status } : undefined);
		for (let n = 0; n < 3; n++)
			expect((await bench.run(operations.count, { credential: bench.login })).error).toBeDefined();
		expect(kindsOf(bench)).toEqual(['login']);
	});
});

describe('Retry-After', () => {
	test('of one account is no matter of another one', async () => {
		const [one, other] = [await open(), await open()];
		useTime();
		one.platform.settings.faults = [{ fault: { status: 429, headers: { 'retry-after': '3600' } } }];
		await one.run(operations.count);
		expect((await one.run(operations.count)).error).toBeDefined();
		expect(jsonOf(await other.run(operations.count))).toEqual([{ count: 25 }]);
		expect((await one.run(operations.count, { credential: one.login })).error).toBeUndefined();
	});
});

describe('a credential with expressions', () => {
	test('is resolved for each item: each host gets its requests, and items of one login share a session', async () => {
		const [one, other] = [await open({ fleet: { size: 3 } }), await open({ fleet: { size: 8 } })];
		await one.engine.editCredential(one.login, { baseUrl: '={{ $json.host }}' });
		const hosts = [one, other, one, other].map(({ platform }) => ({ host: platform.baseUrl }));
		for (let run = 0; run < 2; run++) {
			expect(jsonOf(await one.run(operations.count, { credential: one.login, input: hosts }))).toEqual(
				[3, 8, 3, 8].map((count) => ({ count })),
			);
		}
		// n8n's store has room for one token; the other one is kept in the process.
		expect([one.platform.logins.attempted, other.platform.logins.attempted]).toEqual([1, 1]);
	});

	test('names the label of a field whose expression returns null or a number that lost digits', async () => {
		const fields = new DeviceManagementApi().properties.filter(({ type }) => type !== 'notice' && type !== 'hidden');
		for (const { name, displayName, displayOptions } of fields) {
			const bench = await open();
			const way = displayOptions?.show?.['authentication']?.[0] === 'login' ? bench.login : bench.apiKey;
			for (const value of ['={{ null }}', '={{ 12345678901234567890 }}']) {
				await bench.engine.editCredential(way, { customSignIn: true, [name]: value });
				const { error } = await bench.run(operations.count, { credential: way });
				expect(error).toMatchObject({
					message: `'${displayName}' in the Device Management API credential has a value of the wrong type`,
					description: expect.stringContaining('expression'),
				});
			}
			expect(bench.platform.requests).toEqual([]);
		}
	});

	test('may return numbers for texts', async () => {
		const { engine, login, run } = await open({ loginName: '4711', password: '1.5' });
		await engine.editCredential(login, { loginName: '={{ 4711 }}', password: '={{ 1.5 }}' });
		expect(jsonOf(await run(operations.count, { credential: login }))).toEqual([{ count: 25 }]);
	});

	test('that leads one item nowhere fails that item alone', async () => {
		const bench = await open();
		await bench.engine.editCredential(bench.apiKey, { baseUrl: '={{ $json.host }}' });
		const result = await bench.run(operations.count, {
			onError: 'continueRegularOutput',
			input: [{ host: bench.platform.baseUrl }, { host: 'nowhere' }, { host: bench.platform.baseUrl }],
		});
		expect(result.data('Devices').map(({ json }) => json['count'] ?? json['error'])).toEqual([
			25,
			"'Base URL' in the credential does not start with https:// or http:// [item 1]",
			25,
		]);
	});
});

describe('the token in the login answer', () => {
	test('is taken without the word Bearer before it', async () => {
		const bench = await open();
		const token = bench.platform.issueToken();
		bench.platform.settings.fault = ({ kind }) => (kind === 'login' ? { code: 0, data: `Bearer ${token}` } : undefined);
		expect(jsonOf(await bench.run(operations.count, { credential: bench.login }))).toEqual([{ count: 25 }]);
		expect(bench.platform.requests.at(-1)?.headers['authorization']).toBe(`Bearer ${token}`);
	});

	test('is fetched with the login name as it was meant, without spaces around it', async () => {
		const bench = await open();
		await bench.engine.editCredential(bench.login, { loginName: ` ${bench.platform.loginName}\n` });
		expect(jsonOf(await bench.run(operations.count, { credential: bench.login }))).toEqual([{ count: 25 }]);
	});
});
