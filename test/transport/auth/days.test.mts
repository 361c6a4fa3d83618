import type { IHttpRequestOptions } from 'n8n-workflow';
import { z } from 'zod/v4';

import { credentialOf } from '../../../nodes/DeviceManagement/transport/auth/credential.ts';
import { openPlatform } from '../../../nodes/DeviceManagement/transport/platform.ts';
import { FakeN8n, failureOf, responseOf, SIGNED_OUT, useVirtualTime } from '../../../testbed/fakeN8n.mts';

/** What becomes of polls each minute, for hours or days in virtual time: no rule about sign-ins makes an alert late. */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

type Response = ReturnType<typeof responseOf>;
type Kind = 'login' | 'list' | 'record';
const status = (number: number) => () => responseOf('', {}, number);
const code = (number: number) => () => responseOf({ code: number });
const page = () => responseOf(Buffer.from('<html>Closed</html>'));

interface World {
	hours: number;
	/** How long a token works, from when on after its issue, and whether it ends the one before. */
	life?: number;
	worksAfter?: number;
	onePerUser?: boolean;
	/** Whether each sign-in brings the same text, and how long it takes. */
	sameToken?: boolean;
	loginMs?: number;
	/** When the platform ends all tokens, in minutes. */
	restart?: number;
	/** The response to a request with a dead token; HTTP 403 by default. */
	dead?: () => Response;
	/** What requests get from one minute to another instead of their own response: those of these kinds, or all. */
	faults?: Array<[from: number, to: number, respond: () => Response, kinds?: Kind[]]>;
	/** n8n's credentials of the same login, each with a dead token at first. */
	credentials?: number;
	/** Paths that each poll requests after the list, whatever becomes of them. */
	records?: readonly string[];
	/** How many backends answer in turn, each with its own tokens. */
	backends?: number;
	/** Whether a second has to pass after a request. */
	oncePerSecond?: boolean;
}

const virtual = useVirtualTime();
const settings = { timeoutMs: 30_000, maxRetries: 3 };
const READ = { method: 'GET', words: 'apiRequest', schema: z.unknown(), settings } as const;
const deadline = { ms: 36_000, failure: () => failureOf({ message: 'too late' }) };

/** Plays a world to its end, and counts the polls that fail and the sign-ins. */
async function live({ hours, dead = status(403), ...world }: World) {
	const { time } = virtual;
	const { faults = [], life = Infinity, worksAfter = 0, restart = -1, backends = 1, loginMs = 100 } = world;
	const issued = new Map<string, { at: number; backend: number }>();
	let [failed, signIns, requests, next] = [0, 0, 0, 0];
	const works = (token: string, backend: number) => {
		const { at = -Infinity, backend: own } = issued.get(token) ?? {};
		const age = time.now() - at;
		const isEnded = at < restart * MINUTE && restart * MINUTE <= time.now();
		const isReplaced = world.onePerUser === true && [...issued.keys()].at(-1) !== token;
		return age >= worksAfter && age < life && own === backend && !isEnded && !isReplaced;
	};
	const platform = async ({ url, headers }: IHttpRequestOptions): Promise<Response> => {
		const kind = url.endsWith('/login') ? 'login' : url.endsWith('/list') ? 'list' : 'record';
		const backend = requests++ % backends;
		if (kind === 'login') signIns++;
		await time.sleep(kind === 'login' ? loginMs : 100);
		if (world.oncePerSecond === true && time.now() < next) return status(429)();
		next = time.now() + 1000;
		const minute = time.now() / MINUTE;
		const fault = faults.find(([from, to, , kinds = [kind]]) => from <= minute && minute < to && kinds.includes(kind));
		if (fault !== undefined) return fault[2]();
		const token =
			kind === 'login'
				? `token-${world.sameToken === true ? '' : issued.size}`
				: String(headers?.['Authorization']).replace('Bearer ', '');
		if (kind === 'login') issued.set(token, { at: time.now(), backend });
		return kind === 'login' || works(token, backend) ? responseOf({ code: 0, data: token }) : dead();
	};
	const stores = Array.from(
		{ length: world.credentials ?? 1 },
		(_, n) => new FakeN8n(platform, credentialOf(SIGNED_OUT).withToken(`dead-${n}`).data),
	);
	for (const end = time.now() + hours * HOUR; time.now() < end; await time.run(MINUTE - (time.now() % MINUTE))) {
		for (const n8n of stores) {
			const opened = await openPlatform(n8n.context(), { parallelRequests: 4, deadline });
			const read = async (path: string) =>
				await time.until(opened.request({ ...READ, path })).then(
					() => 0,
					() => 1,
				);
			failed += await read('/api/device/list');
			for (const path of world.records ?? []) await read(path);
			opened.stop();
		}
	}
	return { failed, signIns };
}

const records = ['/api/a/1', '/api/a/2', '/api/device/sn/x', '/api/device/sn/y'];
const QUARTER = 15 * MINUTE;
const EVER = Infinity;
const forbidden: World = { hours: 48, faults: [[0, EVER, status(403), ['list']]] };
const restarted: World = { hours: 4, restart: 70, dead: code(14101) };
const short: World = { hours: 6, life: QUARTER, dead: code(14101) };

test.each<[string, World, failed: number, signIns: number]>([
	['a minute of redirects, then a restart', { hours: 6, restart: 72, faults: [[70, 71, status(302)]] }, 1, 3],
	[
		'a minute of pages of the list, then a restart',
		{ hours: 6, restart: 72, faults: [[70, 71, page, ['list']]] },
		4,
		3,
	],
	['ten minutes of HTTP 403, then a restart', { hours: 6, restart: 80, faults: [[70, 80, status(403)]] }, 10, 4],
	[
		'ten minutes of HTTP 403 an hour after a record without rights, then a restart',
		{
			...{ hours: 6, restart: 80, records: ['/api/a/1'] },
			faults: [
				[1, 2, status(403), ['record']],
				[70, 80, status(403), ['list', 'record']],
			],
		},
		11,
		5,
	],
	['ten minutes of redirects, then a restart', { hours: 6, restart: 80, faults: [[70, 80, status(302)]] }, 11, 5],
	[
		'a user who is blocked for ten minutes',
		{ hours: 6, restart: 70, faults: [[70, 80, code(14202), ['login']]] },
		10,
		4,
	],
	['a login that gets HTTP 502 for an hour', { ...restarted, faults: [[70, 130, status(502), ['login']]] }, 60, 242],
	['a user who is blocked for two hours', { ...restarted, faults: [[70, 190, code(14202), ['login']]] }, 120, 26],
	['a list that always gets HTTP 403', forbidden, 2880, 118],
	['a list that always gets HTTP 403, if the sign-in is slow', { ...forbidden, loginMs: 8000 }, 2880, 113],
	['a list that always gets HTTP 403, if each token is the same', { ...forbidden, sameToken: true }, 2880, 118],
	[
		'records without rights',
		{ hours: 12, life: 2 * QUARTER, records, faults: [[0, EVER, status(403), ['record']]] },
		0,
		145,
	],
	['a tight limit', { hours: 6, life: QUARTER, oncePerSecond: true }, 0, 46],
	['two credentials of one user', { ...short, hours: 12, onePerUser: true, credentials: 2 }, 0, 45],
	['tokens that work after 300 ms', { ...short, worksAfter: 300 }, 0, 23],
	['tokens that work after 300 ms, without a code', { hours: 6, life: QUARTER, worksAfter: 300 }, 0, 23],
	['backends with their own tokens', { hours: 1, backends: 2, dead: status(401) }, 0, 60],
	['a login that gets code 9999', { hours: 1, dead: code(14101), faults: [[0, EVER, code(9999), ['login']]] }, 60, 12],
	['a login that gets no token', { hours: 1, dead: code(14101), faults: [[0, EVER, code(0), ['login']]] }, 60, 12],
])(
	'%s',
	async (_name, world, failed, signIns) => {
		expect(await live(world)).toEqual({ failed, signIns });
	},
	120_000,
);

test('a new token that the platform refuses while n8n stores it fails no request', async () => {
	const { time } = virtual;
	let [signIns, known] = [0, Infinity];
	const platform = async ({ url }: IHttpRequestOptions): Promise<Response> => {
		if (url.endsWith('/login')) [signIns, known] = [signIns + 1, time.now() + 800];
		else if (time.now() < known) return responseOf({ code: 14101 });
		return responseOf({ code: 0, data: 'token' });
	};
	const n8n = new FakeN8n(platform, SIGNED_OUT, async () => await time.sleep(500));
	const opened = await openPlatform(n8n.context(), { parallelRequests: 4 });
	const read = async (afterMs: number) => {
		await time.sleep(afterMs);
		return await opened.request({ ...READ, path: '/api/device/list' });
	};
	expect(await time.until(Promise.all([read(0), read(100)]))).toEqual(['token', 'token']);
	expect(signIns).toBe(1);
});
