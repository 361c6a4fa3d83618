import { createHash } from 'node:crypto';

import { useBenches, useStillClock } from '../../testbed/jest.mts';
import { CANARIES, everything, filled, HEADER_KEY as KEY, PASSWORD, TOKEN, TRACES } from '../../testbed/canaries.mts';
import { HOUR, published, warningsOf } from '../../testbed/trigger/watching.mts';

const open = useBenches();
const clock = useStillClock();

/** The canaries, and what anybody might make of them. */
const MADE = [
	...TRACES,
	...Object.values(CANARIES).flatMap((secret) => [
		...['md5', 'sha1', 'sha256', 'sha512'].flatMap((algorithm) =>
			(['hex', 'base64url'] as const).map((form) => createHash(algorithm).update(secret).digest(form).slice(0, 16)),
		),
		Buffer.from(secret).toString('base64').slice(4, 20),
	]),
];

function tracesIn(value: unknown): string[] {
	const text = everything(value);
	return MADE.filter((trace) => text.includes(trace.toLowerCase()));
}

it.each(['apiKey', 'login'])(
	'no secret or digest of one is in the state, an item, an error or the log: %s',
	async (authentication) => {
		const { engine, platform, fleet } = await open({ apiKey: KEY, password: PASSWORD, fleet: { size: 40 } });
		// Every login gets the canary for a token, and every refusal says what the platform knows of the sign-in.
		const known = authentication === 'login' ? `Bearer ${TOKEN} ${PASSWORD}` : `ApiKey ${KEY}`;
		let refusing: 'list' | 'sn' | undefined;
		platform.settings.fault = ({ kind }) => {
			if (kind === 'login') return { code: 0, data: TOKEN };
			return kind === refusing ? { code: 10002, msg: `${known} service invocation failed` } : undefined;
		};
		// Behind the sign-in everybody may do everything here.
		platform.settings.beforeAnswer = ({ headers }) => {
			if (headers['authorization'] === `Bearer ${TOKEN}`) headers['authorization'] = `ApiKey ${KEY}`;
		};
		const { baseUrl, loginName } = platform;
		const data = { ...filled, baseUrl, authentication, loginName };
		const credential = await engine.saveCredential({ name: 'Canaries', type: 'deviceManagementApi', data });
		const events = ['deviceCreated', 'deviceUpdated', 'deviceRemoved', 'onlineStatusChanged'];
		const parameters = { events, output: 'raw', options: { maxRetries: 0 } };
		const watching = await published({ engine, apiKey: credential }, parameters);
		const came: unknown[] = [];
		const thrown: unknown[] = [];
		fleet.update(fleet.at(1).sn, { onlineStatus: 77 });
		fleet.add();
		for (refusing of [undefined, 'sn', 'list'] as const) {
			fleet.remove(fleet.at(5).sn);
			clock.now += HOUR + 60_000;
			came.push(await watching.poll().catch((error: unknown) => void thrown.push(error)));
		}
		refusing = undefined;
		watching.parameters = { ...parameters, filters: { name: 'T' } };
		came.push(await watching.activate('update'));
		came.push(await watching.test());

		expect(thrown).toHaveLength(1);
		expect(watching.database.executions.flat()).toHaveLength(3);
		const logged = engine.logs.filter(({ message }) => message.includes('Watch'));
		expect(warningsOf(logged)).toHaveLength(3);
		expect(warningsOf(logged).join()).toContain('•••');
		expect(watching.state).toBeDefined();
		expect(tracesIn([watching.database, watching.state, came, thrown, logged])).toEqual([]);
	},
);
