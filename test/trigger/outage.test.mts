import { NodeApiError, NodeOperationError } from 'n8n-workflow';

import { useBench, useStillClock } from '../../testbed/jest.mts';
import { type HostLetter, Watch } from '../../testbed/watch.mts';

const bench = useBench();
const clock = useStillClock();

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const parameters = { events: ['onlineStatusChanged'], options: { maxRetries: 0 } };
const OUTAGE = [{ fault: { status: 503 }, times: Infinity }];
const change = (onlineStatus: number) => bench.fleet.update(bench.fleet.at(3).sn, { onlineStatus });
const log = () => bench.engine.logs.filter(({ level }) => level === 'warn').map(({ message }) => message);

/** How polls end, a minute apart: `quiet`, `items` or the beginning of an error's message. */
async function ends(watching: Watch, count: number): Promise<string[]> {
	const list: string[] = [];
	for (let poll = 0; poll < count; poll++) {
		clock.now += MINUTE;
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
	it('an outage makes one error execution when it begins and one an hour, and a line in the log at each poll', async () => {
		const watching = await published(host);
		bench.platform.settings.faults = OUTAGE;
		const hour = [DOWN, ...Array<string>(59).fill('quiet')];
		expect(await ends(watching, 130)).toEqual([...hour, ...hour, ...hour.slice(0, 10)]);
		expect(log()).toHaveLength(130);
		expect(new Set(log())).toEqual(new Set(['The trigger "Watch" could not poll: The platform or a proxy in front of it could not answer (HTTP 503)']));
		expect(watching.database.errorExecutions).toHaveLength(3);
		expect(watching.database.history).toHaveLength(1);
	});

	it('what changed during an outage arrives once after it, and the next outage is reported again', async () => {
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

	it('a refused key is reported at once, amid an outage too, and then once an hour', async () => {
		const watching = await published(host);
		bench.platform.settings.faults = OUTAGE;
		expect(await ends(watching, 10)).toEqual([DOWN, ...Array<string>(9).fill('quiet')]);
		bench.platform.settings.faults = [];
		bench.platform.settings.apiKey = 'another-key-0123456789';
		const refused = await ends(watching, 65);
		expect(refused.filter((end) => end !== 'quiet')).toHaveLength(2);
		expect([refused[0], refused[60]]).toEqual([DOWN, DOWN]);
		expect(watching.database.errorExecutions.at(-1)).toMatchObject({ message: expect.stringContaining('did not accept the sign-in') });
		// An outage of another kind is no news then.
		bench.platform.settings.faults = OUTAGE;
		expect(await ends(watching, 5)).toEqual(Array(5).fill('quiet'));
	});

	it('what only a person can mend in the node is reported at once', async () => {
		const watching = await published(host);
		bench.platform.settings.faults = OUTAGE;
		expect(await ends(watching, 2)).toEqual([DOWN, 'quiet']);
		watching.parameters = { ...parameters, events: [] };
		const end = host === 'A' ? endOf(watching.activate('update')) : endOf(watching.poll());
		expect(await end).toBe("'Events' is ");
	});

	it('n8n comes up again amid an outage: the first poll says nothing, the next one does', async () => {
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
	it.each(['init', 'leadershipChange'] as const)('in mode %s, only the very first poll and only with a state', async (mode) => {
		const watching = await published('A');
		bench.platform.settings.faults = OUTAGE;
		expect(await watching.activate(mode)).toBeNull();
		expect(await ends(watching, 2)).toEqual([DOWN, 'quiet']);
		const unknown = new Watch(bench, parameters, { workflowId: 'new' });
		expect(await endOf(unknown.activate(mode))).toBe(DOWN);
	});

	it.each(['init', 'leadershipChange'] as const)('in mode %s, a refused sign-in is reported all the same', async (mode) => {
		const watching = await published('A');
		bench.platform.settings.apiKey = 'another-key-0123456789';
		expect(await endOf(watching.activate(mode))).toBe(DOWN);
	});

	it.each(['activate', 'update'] as const)('in mode %s, each time, so that a person sees it', async (mode) => {
		const watching = await published('A');
		bench.platform.settings.faults = OUTAGE;
		expect(await ends(watching, 2)).toEqual([DOWN, 'quiet']);
		expect(await endOf(watching.activate(mode))).toBe(DOWN);
		expect(await endOf(watching.activate(mode))).toBe(DOWN);
	});
});

it('n8n is told what passes and what does not, so that its own back-off fits', async () => {
	const watching = await published('A');
	const failureOf = async () => await watching.poll().then(() => undefined, (error: unknown) => error);
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
	expect(error).toMatchObject({ message: expect.not.stringContaining('Authorization') });
});

it('a clock that was set back does not silence an outage', async () => {
	const watching = await published('A');
	bench.platform.settings.faults = OUTAGE;
	expect(await ends(watching, 1)).toEqual([DOWN]);
	clock.now -= 5 * HOUR;
	expect(await ends(watching, 2)).toEqual([DOWN, 'quiet']);
});
