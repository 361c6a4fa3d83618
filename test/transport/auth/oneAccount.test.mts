import { replaceClock, systemClock } from '../../../nodes/DeviceManagement/transport/waiting/clock.ts';
import type { Bench } from '../../../testbed/bench.mts';
import { held } from '../../../testbed/held.mts';
import { hurry, useBenches } from '../../../testbed/jest.mts';
import { operations, serialNumberItems } from '../../../testbed/operations.mts';
import { jsonOf, serialNumbersOf } from '../../../testbed/output.mts';

/** What n8n's engine and the package make of one account together. The rules of a session are in session.test.mts. */

const open = useBenches();

const kindsOf = ({ platform }: Bench) => platform.requests.map(({ kind }) => kind);
const COUNT = [{ count: 25 }];

/** Looks for devices in the dropdown. */
const dropdownOf = async ({ engine, login }: Bench) =>
	await engine.listSearch(operations.get, engine.credentialReference(login), 'searchDevices', 'R');

/** Kills all tokens as the given request arrives, after so many have arrived at once; logins do not count. */
function killTokensAt({ platform }: Bench, death: number, atOnce = 1): void {
	let requests = 0;
	const { promise: arrived, resolve: release } = held();
	platform.settings.beforeAnswer = async ({ kind }) => {
		if (kind === 'login') return;
		const order = ++requests;
		if (order === atOnce) release();
		await arrived;
		if (order === death) platform.expireTokens();
	};
}

describe('one sign-in', () => {
	test.each([
		['code 14101 in an HTTP 200', { deadToken: 'code', deadTokenCode: 14101 }, 1, [1, 20]],
		['code 14102 in an HTTP 200', { deadToken: 'code', deadTokenCode: 14102 }, 16, [1, 10]],
		['HTTP 401', { deadToken: 'status', deadTokenCode: 14101 }, 16, [10, 20]],
	] as const)('replaces a token that expires by %s, whichever request it expires at', async (...row) => {
		const [, settings, parallelRequests, deaths] = row;
		const bench = await open({ ...settings, fleet: { size: 20 } });
		const { platform, login, run } = bench;
		for (const death of deaths) {
			await bench.signInEarlier();
			platform.forget();
			killTokensAt(bench, death, parallelRequests);
			const get = { ...operations.get, options: { parallelRequests } };
			const result = await run(get, { credential: login, input: serialNumberItems(bench, 20) });
			expect(serialNumbersOf(result)).toEqual(platform.fleet.devices.map(({ sn }) => sn));
			expect({ death, ...platform.logins }).toEqual({ death, attempted: 1, succeeded: 1 });
			expect(platform.peakInFlight).toBe(parallelRequests);
		}
	});

	test('does not tear a list, whichever page the token expires at', async () => {
		const bench = await open({ fleet: { size: 45 } });
		const { platform, login, run } = bench;
		for (const death of [1, 2, 5, 9]) {
			await bench.signInEarlier();
			platform.forget();
			killTokensAt(bench, death);
			const options = { parallelRequests: 4, pageSize: 5 };
			const result = await run({ ...operations.getAll, options }, { credential: login });
			expect(serialNumbersOf(result)).toEqual(platform.fleet.devices.map(({ sn }) => sn));
			expect({ death, ...platform.logins }).toEqual({ death, attempted: 1, succeeded: 1 });
		}
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

	test('serves eight executions and a dropdown that begin together', async () => {
		const bench = await open();
		const dropdown = dropdownOf(bench);
		const run = async () => await bench.run(operations.count, { credential: bench.login });
		const results = await Promise.all(Array.from({ length: 8 }, run));
		expect((await dropdown).results.length).toBeGreaterThan(0);
		expect(results.flatMap((result) => jsonOf(result))).toEqual(results.flatMap(() => COUNT));
		expect(bench.platform.logins.attempted).toBe(1);
	});

	test('is waited for, and not for a request that hangs', async () => {
		const bench = await open({ fleet: { size: 12 } });
		const hanging = bench.fleet.at(0).sn;
		let answered = 0;
		bench.platform.settings.fault = ({ path }) => (path.endsWith(hanging) ? 'hang' : undefined);
		const stop = new AbortController();
		// All the others are asked for while the first one is still being waited for.
		bench.platform.settings.beforeAnswer = ({ kind }) => void (kind === 'sn' && ++answered === 12 && stop.abort());
		const run = await bench.run(
			{ ...operations.get, options: { parallelRequests: 12 } },
			{ credential: bench.login, input: serialNumberItems(bench, 12), signal: stop.signal },
		);
		expect({ cancelled: run.cancelled, answered, ...bench.platform.logins }).toMatchObject({
			cancelled: true,
			answered: 12,
			attempted: 1,
		});
	});

	test('has its own time, and that of a request begins when there is a token', async () => {
		const bench = await open();
		const begun: unknown[] = [];
		const timeout = (ms: number) => (begun.push(ms), systemClock.timeout(ms));
		const putBack = replaceClock({ ...systemClock, timeout });
		bench.platform.settings.beforeAnswer = ({ kind }) => void begun.push(kind);
		await bench.run({ ...operations.count, options: { timeout: 10_000 } }, { credential: bench.login });
		putBack();
		expect(begun).toEqual([30_000, 'login', 10_000, 'list']);
	});

	test('is tried again after HTTP 503', async () => {
		hurry();
		const fault = { status: 503, headers: { 'retry-after': '0' } };
		const bench = await open({ faults: [{ kind: 'login', fault, times: 2 }] });
		expect(jsonOf(await bench.run(operations.count, { credential: bench.login }))).toEqual(COUNT);
		expect(kindsOf(bench)).toEqual(['login', 'login', 'login', 'list']);
	});
});

describe('a refused login', () => {
	test('is sent once by executions and keystrokes in the dropdown, each says why, and it is sent again after five minutes', async () => {
		const bench = await open({ refuseLogin: 14201 });
		const words = /login name or the password is not right.*\. The same login is tried again in [45] minutes$/;
		let ahead = 0;
		const putBack = replaceClock({ ...systemClock, now: () => ahead });
		for (; ahead <= 20_000; ahead += 10_000) {
			const { error } = await bench.run(operations.count, { credential: bench.login });
			expect([error?.message, error?.description]).toEqual([
				expect.stringMatching(words),
				expect.stringContaining('connection test'),
			]);
			await expect(dropdownOf(bench)).rejects.toThrow(words);
		}
		expect(kindsOf(bench)).toEqual(['login']);
		ahead = 300_000;
		await bench.run(operations.count, { credential: bench.login });
		putBack();
		expect(kindsOf(bench)).toEqual(['login', 'login']);
	});

	test('during a list is tried once, and no partial list is returned', async () => {
		const bench = await open({ fleet: { size: 60 }, refuseLogin: 14202 });
		await bench.signInEarlier();
		killTokensAt(bench, 3);
		const list = { ...operations.getAll, options: { pageSize: 5, parallelRequests: 8 } };
		const result = await bench.run(list, { credential: bench.login });
		expect(result.error?.message).toMatch(/The user is blocked/);
		expect(result.data('Devices')).toEqual([]);
		expect(bench.platform.logins.attempted).toBe(1);
	});
});

test('a Retry-After holds up the next execution of its account, and no other account', async () => {
	const [one, other] = [await open(), await open()];
	one.platform.settings.faults = [{ fault: { status: 429, headers: { 'retry-after': '3600' } } }];
	await one.run(operations.count);
	expect((await one.run(operations.count)).error?.message).toMatch(/^The platform asked for a pause/);
	expect(one.platform.requests).toHaveLength(1);
	expect(jsonOf(await other.run(operations.count))).toEqual(COUNT);
	expect(jsonOf(await one.run(operations.count, { credential: one.login }))).toEqual(COUNT);
});

describe('a credential with expressions', () => {
	test('is resolved for each item: each host gets its requests, and items of one login share a session', async () => {
		const [one, other] = [await open({ fleet: { size: 3 } }), await open({ fleet: { size: 8 } })];
		await one.engine.editCredential(one.login, { baseUrl: '={{ $json.host }}' });
		const input = [one, other, one, other].map(({ platform }) => ({ host: platform.baseUrl }));
		const wanted = [3, 8, 3, 8].map((count) => ({ count }));
		for (let run = 0; run < 2; run++) {
			expect(jsonOf(await one.run(operations.count, { credential: one.login, input }))).toEqual(wanted);
		}
		// n8n's store has room for one token; the other one is kept in the process.
		expect([one.platform.logins.attempted, other.platform.logins.attempted]).toEqual([1, 1]);
	});

	test('that leads one item nowhere fails that item alone', async () => {
		const { engine, apiKey, platform, run } = await open();
		await engine.editCredential(apiKey, { baseUrl: '={{ $json.host }}' });
		const input = [platform.baseUrl, 'nowhere', platform.baseUrl].map((host) => ({ host }));
		const result = await run(operations.count, { onError: 'continueRegularOutput', input });
		expect(result.data('Devices').map(({ json }) => json['count'] ?? json['error'])).toEqual([
			25,
			"'Base URL' in the credential does not start with https:// or http:// [item 1]",
			25,
		]);
	});
});
