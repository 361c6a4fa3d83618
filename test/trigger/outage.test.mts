import { NodeApiError, NodeOperationError } from 'n8n-workflow';

import { useBench } from '../../testbed/jest.mts';
import { type HostLetter, Watch, type WatchOptions } from '../../testbed/watch.mts';
import { HOUR, useTrigger } from './watching.mts';

const n8n = useBench();
const { bench, clock, change: update, answer, warnings } = useTrigger();

const parameters = { events: ['onlineStatusChanged'], options: { maxRetries: 0 } };
/** The beginning of the message of each failure of the platform. */
const DOWN = 'The platform';
const ONCE_OF_TEN = [DOWN, ...Array<string>(9).fill('quiet')];

const setDown = (isDown: boolean) => answer(isDown ? 503 : undefined);
/** The platform refuses the key. */
const refuse = () => answer(200, '{"code":14101,"msg":"","data":null}');
const change = () => update(3, { onlineStatus: 77 });

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

/** Publishes a trigger. Then the platform is down. */
async function publishedThenDown(host: HostLetter, more: WatchOptions = {}): Promise<Watch> {
	const watching = new Watch(bench, parameters, { ...more, host });
	await watching.activate();
	setDown(true);
	return watching;
}

describe.each<HostLetter>(['A', 'B', 'C'])('on host %s', (host) => {
	it('an outage makes one error execution, a line in the log at each poll, and one when it is over', async () => {
		const watching = await publishedThenDown(host);
		expect(await ends(watching, 10)).toEqual(ONCE_OF_TEN);
		const words = 'could not poll: The platform or a proxy in front of it could not respond (HTTP 503)';
		expect(warnings()).toEqual(Array(10).fill(`The trigger "Watch" ${words}`));
		expect(watching.database.errorExecutions).toHaveLength(1);
		expect(watching.database.history).toHaveLength(1);
		setDown(false);
		expect(await ends(watching, 2)).toEqual(['quiet', 'quiet']);
		const over = bench.engine.logs.filter(({ level }) => level === 'info').map(({ message }) => message);
		expect(over).toEqual(['The trigger "Watch" can poll again']);
	});

	it('changes during an outage are reported once after it, and the next outage is reported again', async () => {
		const watching = await publishedThenDown(host);
		change();
		expect(await ends(watching, 2)).toEqual([DOWN, 'quiet']);
		setDown(false);
		expect(await ends(watching, 2)).toEqual(['items', 'quiet']);
		setDown(true);
		expect(await ends(watching, 2)).toEqual([DOWN, 'quiet']);
	});

	it('what only a person can fix is reported at once and once, during an outage too', async () => {
		const watching = await publishedThenDown(host);
		expect(await ends(watching, 10)).toEqual(ONCE_OF_TEN);
		refuse();
		expect(await ends(watching, 5)).toEqual([DOWN, ...Array<string>(4).fill('quiet')]);
		expect(watching.database.errorExecutions).toMatchObject([{}, { message: expect.stringContaining('sign-in') }]);
		// An outage of another kind is no news then.
		setDown(true);
		expect(await ends(watching, 5)).toEqual(Array(5).fill('quiet'));
	});

	it('an invalid field is reported at once, during an outage too', async () => {
		const watching = await publishedThenDown(host);
		expect(await ends(watching, 2)).toEqual([DOWN, 'quiet']);
		watching.parameters = { ...parameters, events: [] };
		expect(await endOf(host === 'A' ? watching.activate('update') : watching.poll())).toBe("'Events' is ");
	});

	it('after n8n starts during an outage, the second poll fails and the first one does not', async () => {
		const watching = await publishedThenDown(host);
		expect(await endOf(watching.restart())).toBe('quiet');
		expect(warnings()).toHaveLength(host === 'A' ? 1 : 0);
		expect(await ends(watching, 3)).toEqual([DOWN, 'quiet', 'quiet']);
		change();
		setDown(false);
		expect(await ends(watching, 1)).toEqual(['items']);
	});
});

describe('activation on the default host', () => {
	it.each(['init', 'leadershipChange'] as const)(
		'in mode %s, only the first poll and only with a state',
		async (mode) => {
			const watching = await publishedThenDown('A');
			expect(await watching.activate(mode)).toBeNull();
			expect(await ends(watching, 2)).toEqual([DOWN, 'quiet']);
			const unknown = new Watch(bench, parameters, { workflowId: 'new' });
			expect(await endOf(unknown.activate(mode))).toBe(DOWN);
		},
	);

	it('when this process is the leader again, it reports a new outage', async () => {
		const watching = await publishedThenDown('A');
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
			const watching = await publishedThenDown('A');
			refuse();
			expect(await endOf(watching.activate(mode))).toBe(DOWN);
			expect(await endOf(watching.activate(mode))).toBe('quiet');
		},
	);

	it.each(['activate', 'update'] as const)('in mode %s, each time, so that a person sees it', async (mode) => {
		const watching = await publishedThenDown('A');
		expect(await ends(watching, 2)).toEqual([DOWN, 'quiet']);
		for (let count = 0; count < 2; count++) expect(await endOf(watching.activate(mode))).toBe(DOWN);
	});
});

describe('n8n with another time for polls', () => {
	it.each([null, 600_000])('does not make an outage an error at each poll of a scheduler: %p', async (budgetMs) => {
		const watching = await publishedThenDown('B', { budgetMs });
		expect(await ends(watching, 10)).toEqual(ONCE_OF_TEN);
	});

	it('does not keep an error from a person who publishes on the default host', async () => {
		const watching = await publishedThenDown('A', { budgetMs: null });
		expect(await ends(watching, 2)).toEqual([DOWN, 'quiet']);
		for (let count = 0; count < 2; count++) expect(await endOf(watching.activate('update'))).toBe(DOWN);
	});
});

describe("in n8n's engine", () => {
	const failureOf = async (poll: Promise<unknown>) => await poll.catch((error: unknown) => error);

	it('n8n learns which errors are temporary, so that its own back-off fits', async () => {
		const watching = new Watch(n8n, parameters);
		await watching.activate();
		n8n.platform.settings.faults = [{ fault: { status: 503 }, times: 1 }];
		const outage = await failureOf(watching.poll());
		expect(outage).toBeInstanceOf(NodeApiError);
		expect(outage).toMatchObject({ failure: { cause: 'temporarily-unavailable' } });
		n8n.platform.settings.apiKey = 'another-key-0123456789';
		expect(await failureOf(watching.poll())).toMatchObject({
			message: expect.stringContaining('did not accept the sign-in'),
			failure: { cause: 'credential-invalid' },
		});
		expect(await failureOf(new Watch(n8n, { events: [] }).activate())).toBeInstanceOf(NodeOperationError);
	});

	it('no message keeps n8n from trying an activation again', async () => {
		n8n.platform.settings.faults = [{ fault: { code: 10009, details: ['Authorization'] }, times: Infinity }];
		expect(await failureOf(new Watch(n8n, parameters).activate())).toMatchObject({
			message: expect.not.stringContaining('Authorization'),
			description: expect.stringMatching(/ In full: .*Authorization/),
		});
	});
});
