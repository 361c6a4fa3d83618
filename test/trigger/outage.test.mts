import { NodeApiError, NodeOperationError } from 'n8n-workflow';

import { useBareBench, useBench, useStillClock } from '../../testbed/jest.mts';
import { type HostLetter, Watch } from '../../testbed/watch.mts';

const bench = useBench();
const bare = useBareBench();
const clock = useStillClock();

/** Between two polls. */
const HOUR = 3_600_000;
const parameters = { events: ['onlineStatusChanged'], options: { maxRetries: 0 } };
const OUTAGE = [{ fault: { status: 503 }, times: Infinity }];
const change = (onlineStatus: number) => bench.fleet.update(bench.fleet.at(3).sn, { onlineStatus });
const log = () => bench.engine.logs.filter(({ level }) => level === 'warn').map(({ message }) => message);

/** How polls end, an hour apart: `quiet`, `items` or the beginning of an error's message. */
async function ends(watching: Watch, count: number): Promise<string[]> {
	const list: string[] = [];
	for (let poll = 0; poll < count; poll++) {
		clock.now += HOUR;
		list.push(await endOf(watching.poll()));
	}
	return list;
}

async function endOf(poll: Promise<unknown>): Promise<string> {
	return await poll.then(
		(items) => (items === null ? 'quiet' : 'items'),
		(error: Error) => error.message.slice(0, 12),
	);
}

async function published(host: HostLetter, more: ConstructorParameters<typeof Watch>[2] = {}): Promise<Watch> {
	const watching = new Watch(bench, parameters, { ...more, host });
	await watching.activate();
	bench.engine.logs.length = 0;
	return watching;
}

const DOWN = 'The platform';

describe.each<HostLetter>(['A', 'B', 'C'])('on host %s', (host) => {
	it('an outage makes one error execution, a line in the log at each poll, and one when it is over', async () => {
		const watching = await published(host);
		bench.platform.settings.faults = OUTAGE;
		expect(await ends(watching, 10)).toEqual([DOWN, ...Array<string>(9).fill('quiet')]);
		const words =
			'The trigger "Watch" could not poll: The platform or a proxy in front of it could not respond (HTTP 503)';
		expect(log()).toEqual(Array(10).fill(words));
		expect(watching.database.errorExecutions).toHaveLength(1);
		expect(watching.database.history).toHaveLength(1);
		bench.platform.settings.faults = [];
		expect(await ends(watching, 2)).toEqual(['quiet', 'quiet']);
		const over = bench.engine.logs.filter(({ level }) => level === 'info').map(({ message }) => message);
		expect(over).toEqual(['The trigger "Watch" can poll again']);
	});

	it('changes during an outage are reported once after it, and the next outage is reported again', async () => {
		const watching = await published(host);
		bench.platform.settings.faults = OUTAGE;
		await ends(watching, 2);
		change(77);
		await ends(watching, 2);
		bench.platform.settings.faults = [];
		expect(await ends(watching, 2)).toEqual(['items', 'quiet']);
		bench.platform.settings.faults = OUTAGE;
		expect(await ends(watching, 2)).toEqual([DOWN, 'quiet']);
	});

	it('a refused key is reported at once and once, during an outage too', async () => {
		const watching = await published(host);
		bench.platform.settings.faults = OUTAGE;
		expect(await ends(watching, 10)).toEqual([DOWN, ...Array<string>(9).fill('quiet')]);
		bench.platform.settings.faults = [];
		bench.platform.settings.apiKey = 'another-key-0123456789';
		const refused = await ends(watching, 5);
		expect(refused).toEqual([DOWN, ...Array<string>(4).fill('quiet')]);
		expect(watching.database.errorExecutions.at(-1)).toMatchObject({
			message: expect.stringContaining('did not accept the sign-in'),
		});
		// An outage of another kind is no news then.
		bench.platform.settings.faults = OUTAGE;
		expect(await ends(watching, 5)).toEqual(Array(5).fill('quiet'));
	});

	it('an error that only the user can fix is reported at once', async () => {
		const watching = await published(host);
		bench.platform.settings.faults = OUTAGE;
		expect(await ends(watching, 2)).toEqual([DOWN, 'quiet']);
		watching.parameters = { ...parameters, events: [] };
		const end = host === 'A' ? endOf(watching.activate('update')) : endOf(watching.poll());
		expect(await end).toBe("'Events' is ");
	});

	it('after n8n starts during an outage, the second poll fails and the first one does not', async () => {
		const watching = await published(host);
		bench.platform.settings.faults = OUTAGE;
		expect(await endOf(watching.restart())).toBe('quiet');
		expect(log()).toHaveLength(host === 'A' ? 1 : 0);
		expect(await ends(watching, 3)).toEqual([DOWN, 'quiet', 'quiet']);
		change(77);
		bench.platform.settings.faults = [];
		expect(await ends(watching, 1)).toEqual(['items']);
	});
});

describe('activation on the default host', () => {
	it.each(['init', 'leadershipChange'] as const)(
		'in mode %s, only the very first poll and only with a state',
		async (mode) => {
			const watching = await published('A');
			bench.platform.settings.faults = OUTAGE;
			expect(await watching.activate(mode)).toBeNull();
			expect(await ends(watching, 2)).toEqual([DOWN, 'quiet']);
			const unknown = new Watch(bench, parameters, { workflowId: 'new' });
			expect(await endOf(unknown.activate(mode))).toBe(DOWN);
		},
	);

	it('when this process is the leader again, it reports a new outage', async () => {
		const watching = await published('A');
		bench.platform.settings.faults = OUTAGE;
		expect(await ends(watching, 2)).toEqual([DOWN, 'quiet']);
		// Each time, another main process saw the end of the outage.
		for (let times = 0; times < 2; times++) {
			expect(await watching.activate('leadershipChange')).toBeNull();
			expect(await ends(watching, 3)).toEqual([DOWN, 'quiet', 'quiet']);
		}
	});

	it.each(['init', 'leadershipChange'] as const)(
		'in mode %s, a refused sign-in is reported, and the next try of n8n activates the workflow',
		async (mode) => {
			const watching = await published('A');
			bench.platform.settings.apiKey = 'another-key-0123456789';
			expect(await endOf(watching.activate(mode))).toBe(DOWN);
			expect(await endOf(watching.activate(mode))).toBe('quiet');
		},
	);

	it.each(['activate', 'update'] as const)('in mode %s, each time, so that a person sees it', async (mode) => {
		const watching = await published('A');
		bench.platform.settings.faults = OUTAGE;
		expect(await ends(watching, 2)).toEqual([DOWN, 'quiet']);
		expect(await endOf(watching.activate(mode))).toBe(DOWN);
		expect(await endOf(watching.activate(mode))).toBe(DOWN);
	});
});

describe('n8n with another time for polls', () => {
	const publishedWith = async (host: HostLetter, budgetMs: number | null) => {
		const watching = new Watch(bare, parameters, { host, budgetMs });
		await watching.activate();
		bare.platform.intervene = async () => ({ statusCode: 503, body: '' });
		return watching;
	};

	it.each([null, 600_000])('does not make an outage an error at each poll of a scheduler: %p', async (budgetMs) => {
		const watching = await publishedWith('B', budgetMs);
		expect(await ends(watching, 10)).toEqual([DOWN, ...Array<string>(9).fill('quiet')]);
	});

	it('does not keep an error from a person who publishes on the default host', async () => {
		const watching = await publishedWith('A', null);
		expect(await ends(watching, 2)).toEqual([DOWN, 'quiet']);
		for (let count = 0; count < 2; count++) expect(await endOf(watching.activate('update'))).toBe(DOWN);
	});
});

it('n8n learns which errors are temporary, so that its own back-off fits', async () => {
	const watching = await published('A');
	const failureOf = async () =>
		await watching.poll().then(
			() => undefined,
			(error: unknown) => error,
		);
	bench.platform.settings.faults = OUTAGE;
	const outage = await failureOf();
	expect(outage).toBeInstanceOf(NodeApiError);
	expect(outage).toMatchObject({ failure: { cause: 'temporarily-unavailable' } });
	bench.platform.settings.faults = [];
	bench.platform.settings.apiKey = 'another-key-0123456789';
	expect(await failureOf()).toMatchObject({ failure: { cause: 'credential-invalid' } });
	await expect(new Watch(bench, { events: [] }).activate()).rejects.toBeInstanceOf(NodeOperationError);
});

it('no message keeps n8n from trying an activation again', async () => {
	bench.platform.settings.faults = [{ fault: { code: 10009, details: ['Authorization'] }, times: Infinity }];
	const error = await new Watch(bench, parameters).activate().catch((thrown: Error) => thrown);
	expect(error).toMatchObject({
		message: expect.not.stringContaining('Authorization'),
		description: expect.stringMatching(/ In full: .*Authorization/),
	});
});
