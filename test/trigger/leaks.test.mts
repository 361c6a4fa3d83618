import { createHash } from 'node:crypto';
import { inspect } from 'node:util';

import { useBenches, useStillClock } from '../../testbed/jest.mts';
import { Watch } from '../../testbed/watch.mts';

const open = useBenches();
const clock = useStillClock();

const KEY = 'canary-key-zqkeyqzwx';
const PASSWORD = 'canary-password-zqpassqzwx';
const TOKEN = 'canary-token-zqtokenqzwx';

/** The secrets, their ends, and what anybody might make of them. */
const TRACES = [KEY, PASSWORD, TOKEN].flatMap((secret) => [
	secret.slice(-9),
	...['md5', 'sha1', 'sha256', 'sha512'].flatMap((algorithm) => {
		const digest = createHash(algorithm).update(secret).digest();
		return [digest.toString('hex').slice(0, 16), digest.toString('base64url').slice(0, 10)];
	}),
	Buffer.from(secret).toString('base64').slice(4, 20),
]);

function expectNoTrace(...values: unknown[]): void {
	const text = values
		.map((value) =>
			inspect(value, { depth: null, showHidden: true, getters: true, maxArrayLength: null, maxStringLength: null }),
		)
		.join('\n')
		.toLowerCase();
	for (const trace of TRACES) {
		if (text.includes(trace.toLowerCase())) throw new Error(`"${trace}" came out`);
	}
}

it('the search finds what it looks for', () => {
	expect(() => expectNoTrace({ a: [new Error(`x ${KEY}`)] })).toThrow('came out');
	expect(() => expectNoTrace(createHash('sha256').update(PASSWORD).digest('base64url'))).toThrow('came out');
});

it.each(['apiKey', 'login'])(
	'no secret or digest of one is in the state, an item, an error or the log: %s',
	async (authentication) => {
		const { engine, platform, fleet } = await open({ apiKey: KEY, password: PASSWORD, fleet: { size: 40 } });
		// Every login gets the canary for a token, and every refusal says what the platform knows of the sign-in.
		const known = authentication === 'login' ? `Bearer ${TOKEN} ${PASSWORD}` : `ApiKey ${KEY}`;
		let refusing: 'list' | 'sn' | undefined;
		platform.settings.fault = ({ kind }) => {
			if (kind === 'login') return { code: 0, data: TOKEN };
			if (kind === refusing) return { code: 10002, msg: `${known} service invocation failed` };
			return undefined;
		};
		const data = {
			baseUrl: platform.baseUrl,
			authentication,
			apiKey: KEY,
			loginName: platform.loginName,
			password: PASSWORD,
		};
		// Behind the sign-in everybody may do everything here.
		platform.settings.beforeAnswer = ({ headers }) => {
			if (headers['authorization'] === `Bearer ${TOKEN}`) headers['authorization'] = `ApiKey ${KEY}`;
		};
		const credential = await engine.saveCredential({ name: 'Canaries', type: 'deviceManagementApi', data });
		const watching = new Watch(
			{ engine, apiKey: credential },
			{
				events: ['deviceCreated', 'deviceUpdated', 'deviceRemoved', 'onlineStatusChanged', 'attributeChanged'],
				attributes: 'firmware',
				output: 'raw',
				options: { maxRetries: 0 },
			},
		);
		const thrown: unknown[] = [];
		const items: unknown[] = [];
		const poll = async () => {
			clock.now += 61 * 60_000;
			items.push(await watching.poll().catch((error: unknown) => thrown.push(error)));
		};
		await watching.activate();
		fleet.update(fleet.at(1).sn, { onlineStatus: 77 });
		fleet.remove(fleet.at(5).sn);
		fleet.add();
		await poll();
		refusing = 'sn';
		fleet.remove(fleet.at(6).sn);
		await poll();
		refusing = 'list';
		await poll();
		refusing = undefined;
		watching.parameters = { ...watching.parameters, filters: { name: 'T' } };
		items.push(await watching.activate('update'));
		items.push((await engine.poll(watching.workflow(), { mode: 'manual' })).items);

		expect(thrown).toHaveLength(1);
		expect(watching.database.executions.flat().length).toBeGreaterThan(1);
		const warnings = engine.logs.filter(({ level }) => level === 'warn');
		expect(warnings.length).toBeGreaterThanOrEqual(3);
		expect(warnings.map(({ message }) => message).join()).toContain('•••');
		const { loginName: _, ...secrets } = data;
		expect(watching.state).toBeDefined();
		expectNoTrace(
			watching.database,
			items,
			thrown,
			engine.logs.filter(({ message }) => message.includes('Watch')),
			watching.state,
		);
		for (const value of Object.values(secrets))
			if (value !== platform.baseUrl && value !== authentication) expect(watching.state).not.toContain(value);
	},
);
