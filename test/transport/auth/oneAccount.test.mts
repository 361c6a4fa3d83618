import { currentClock, replaceClock, systemClock } from '../../../nodes/DeviceManagement/transport/waiting/clock.ts';
import type { Bench } from '../../../testbed/bench.mts';
import { hurry, useBenches } from '../../../testbed/jest.mts';
import type { Fault } from '../../../testbed/platform/server.mts';
import { operations, serialNumberItems } from '../../../testbed/operations.mts';
import { jsonOf, serialNumbersOf } from '../../../testbed/output.mts';
import { stopClock } from '../../../testbed/virtualTime.mts';

/** What n8n's engine and the package make of one account together. The rules of a session are in session.test.mts. */

const open = useBenches();

const kindsOf = ({ platform }: Bench) => platform.requests.map(({ kind }) => kind);
const COUNT = [{ count: 25 }];

/** Looks for devices in the dropdown. */
const dropdownOf = async ({ engine, login }: Bench) =>
	await engine.listSearch(operations.get, engine.credentialReference(login), 'searchDevices', 'R');

describe('one sign-in', () => {
	test.each([
		['of items by code 14102 in an HTTP 200', 'get', { deadToken: 14102 }],
		['of items by HTTP 401', 'get', { deadToken: 401 }],
		['of a list by code 14101', 'getAll', { deadToken: 14101 }],
	] as const)(
		'replaces a token that expires %s, whichever request it expires at',
		async (_how, operation, settings) => {
			const pages = { pageSize: 1, parallelRequests: 4 };
			for (const tokenRequests of [7, 10, 19]) {
				const bench = await open({ ...settings, tokenRequests, fleet: { size: 20 } });
				await bench.signInEarlier();
				const input = operation === 'get' ? serialNumberItems(bench, 20) : [{}];
				const options = operation === 'get' ? { parallelRequests: 16 } : pages;
				const result = await bench.run({ ...operations[operation], options }, { credential: bench.login, input });
				expect(serialNumbersOf(result)).toEqual(bench.fleet.devices.map(({ sn }) => sn));
				const attempted = Math.ceil(20 / tokenRequests) - 1;
				expect({ tokenRequests, ...bench.platform.logins }).toEqual({ tokenRequests, attempted, succeeded: attempted });
			}
		},
	);

	test.each<[how: string, fault: Fault]>([
		...[403, 419, 440, 498].map((status): [string, Fault] => [`HTTP ${status}`, { status, body: 'Denied' }]),
		['a redirect', { status: 302, headers: { location: 'https://sign-in.example.com/' } }],
		['code 401', { code: 401 }],
		['a page', { status: 200, body: '<html>Sign in</html>' }],
	])('replaces a token that is only refused by %s', async (_how, fault) => {
		const { platform, login, run } = await open();
		await run(operations.count, { credential: login });
		const [dead] = platform.issuedTokens;
		platform.settings.fault = ({ headers }) => (headers['authorization'] === `Bearer ${dead}` ? fault : undefined);
		expect(jsonOf(await run(operations.count, { credential: login }))).toEqual(COUNT);
		expect(platform.logins).toEqual({ attempted: 2, succeeded: 2 });
	});

	test('is stored with the credential, and the next executions do not log in', async () => {
		const { engine, platform, login, run } = await open();
		const { updated } = engine.credentialUse;
		for (const round of [0, 1]) {
			for (const operation of ['count', 'getAll', 'request'] as const) {
				expect((await run(operations[operation], { credential: login })).error).toBeUndefined();
			}
			expect(platform.logins.attempted).toBe(round + 1);
			expect(await engine.storedCredential(login)).toMatchObject({ sessionToken: platform.issuedTokens[round] });
			platform.expireTokens();
		}
		expect(engine.credentialUse.updated - updated).toBe(2);
	});

	test('is tried again after HTTP 502; it has its own time, and that of a request begins when there is a token', async () => {
		hurry();
		const begun: unknown[] = [];
		const timeout = (ms: number) => (begun.push(ms), systemClock.timeout(ms));
		const putBack = replaceClock({ ...currentClock(), timeout });
		const bench = await open({ faults: [{ kind: 'login', fault: { status: 502 } }] });
		bench.platform.settings.beforeAnswer = ({ kind }) => void begun.push(kind);
		const count = { ...operations.count, options: { timeout: 10_000 } };
		expect(jsonOf(await bench.run(count, { credential: bench.login }))).toEqual(COUNT);
		putBack();
		expect(begun).toEqual([30_000, 'login', 30_000, 'login', 10_000, 'list']);
	});
});

test('a write whose sign-in failed was not sent: it is sent once, after the sign-in is tried again', async () => {
	hurry();
	const { run, login, platform } = await open({ faults: [{ kind: 'login', fault: { status: 502 } }] });
	const write = { ...operations.request, method: 'POST', body: '{}' };
	expect((await run(write, { credential: login })).error).toBeUndefined();
	expect(platform.requests.map(({ kind }) => kind)).toEqual(['login', 'login', 'other']);
});

test('a sign-in that always gets code 10002 is sent twice, however often requests are retried', async () => {
	hurry();
	const bench = await open({ fault: ({ kind }) => (kind === 'login' ? { code: 10002 } : undefined) });
	const count = { ...operations.count, options: { maxRetries: 10 } };
	expect((await bench.run(count, { credential: bench.login })).error?.message).toMatch(
		/\(code 10002: .*\)( \[item \d\])?$/,
	);
	expect(kindsOf(bench)).toEqual(['login', 'login']);
});

test('a refused login is sent once by executions and the dropdown, each says why, and again after five minutes', async () => {
	const bench = await open({ fault: ({ kind }) => (kind === 'login' ? { code: 14201 } : undefined) });
	const words = /Incorrect login name or password/;
	const clock = { now: 0 };
	const putBack = stopClock(clock);
	for (; clock.now <= 20_000; clock.now += 20_000) {
		const { error } = await bench.run(operations.count, { credential: bench.login });
		const description = expect.stringMatching(/^Check 'Login Name'.* This login is retried in 5 minutes\.$/);
		expect(error).toMatchObject({ message: expect.stringMatching(words), description });
		await expect(dropdownOf(bench)).rejects.toThrow(words);
	}
	expect(kindsOf(bench)).toEqual(['login']);
	clock.now = 300_000;
	await bench.run(operations.count, { credential: bench.login });
	putBack();
	expect(kindsOf(bench)).toEqual(['login', 'login']);
});

test('a credential with expressions is resolved for each item: each host gets its requests, and a wrong one fails its item', async () => {
	const [one, other] = [await open({ fleet: { size: 3 } }), await open({ fleet: { size: 8 } })];
	await one.engine.editCredential(one.login, { baseUrl: '={{ $json.host }}' });
	const hosts = [one.platform.baseUrl, other.platform.baseUrl, 'nowhere'];
	const input = [...hosts, ...hosts].map((host) => ({ host }));
	const wrong = (item: number) => `'Base URL' in the credential doesn't start with https:// or http:// [item ${item}]`;
	for (let run = 0; run < 2; run++) {
		const result = await one.run(operations.count, { credential: one.login, input, onError: 'continueRegularOutput' });
		const output = result.data('Devices').map(({ json }) => json['count'] ?? json['error']);
		expect(output).toEqual([3, 8, wrong(2), 3, 8, wrong(5)]);
	}
	// n8n's store has room for one token; the other one is kept in the process.
	expect([one.platform.logins.attempted, other.platform.logins.attempted]).toEqual([1, 1]);
});
