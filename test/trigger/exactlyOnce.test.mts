import type { IDataObject, IPollFunctions, WorkflowActivateMode } from 'n8n-workflow';

import { forgetPolls } from '../../nodes/DeviceManagement/trigger/memory.ts';
import { useBench, useStillClock } from '../../testbed/jest.mts';
import { Fleet } from '../../testbed/platform/fleet.mts';
import { type HostLetter, Watch } from '../../testbed/watch.mts';

const bench = useBench();
const clock = useStillClock();

const EVENTS = ['deviceCreated', 'deviceUpdated', 'onlineStatusChanged', 'deviceRemoved'];
const OTHER_FILTERS = { filters: { query: { parameter: [{ name: 'creator', value: 'admin' }] } } };

const sn = (position = 3) => bench.fleet.at(position).sn;
const ids = (items: IDataObject[] | null) => items?.map(({ eventId }) => eventId);

describe.each<HostLetter>(['A', 'B', 'C'])('on host %s', (host) => {
	it('a reported event is not reported again, also after a restart', async () => {
		const watching = new Watch(bench, { events: EVENTS }, { host });
		await watching.activate();
		bench.fleet.update(sn(), { onlineStatus: 77 });
		expect(await watching.poll()).toHaveLength(1);
		expect(await watching.poll()).toBeNull();
		expect(await watching.restart()).toBeNull();
		expect(await watching.poll()).toBeNull();
	});

	it('a restart after quiet polls loses and repeats nothing', async () => {
		const watching = new Watch(bench, { events: EVENTS }, { host });
		await watching.activate();
		for (let count = 0; count < 3; count++) expect(await watching.poll()).toBeNull();
		bench.fleet.update(sn(), { onlineStatus: 77 });
		const created = bench.fleet.add();
		const items = (await watching.restart()) ?? (await watching.poll());
		expect(items?.map(({ event, device }) => [event, (device as IDataObject)['sn']])).toEqual([
			['deviceCreated', created.sn],
			['onlineStatusChanged', sn(4)],
		]);
	});

	it('a poll that fails halfway reports nothing and loses nothing', async () => {
		const parameters = { events: EVENTS, ...OTHER_FILTERS, options: { maxRetries: 0, pageSize: 30 } };
		const watching = new Watch(bench, parameters, { host });
		await watching.activate();
		const happen = () => bench.fleet.add(bench.fleet.make({ creator: 'admin', updateTime: '2031-01-01 00:00:00' }));
		happen();
		bench.platform.forget();
		expect(await watching.poll()).toHaveLength(1);
		const requests = bench.platform.requests.length;
		expect(requests).toBeGreaterThan(3);

		const saved = watching.state;
		happen();
		for (let order = 1; order <= requests; order++) {
			bench.platform.forget();
			bench.platform.settings.faults = [{ fault: 'drop', order }];
			// Of an outage, not every poll reports an error.
			await watching.poll().then(
				(items) => expect(items).toBeNull(),
				(error: unknown) => expect(error).toMatchObject({ message: expect.stringContaining('dropped') }),
			);
			expect(watching.state).toBe(saved);
		}
		bench.platform.settings.faults = [];
		expect(await watching.poll()).toHaveLength(1);
	});

	it('a quiet poll leaves the state as it is, byte for byte', async () => {
		const watching = new Watch(bench, { events: [...EVENTS, 'attributeChanged'], attributes: 'firmware' }, { host });
		await watching.activate();
		bench.fleet.update(sn(), { onlineStatus: 77 });
		await watching.poll();
		const { state } = watching;
		expect(state).toContain('"devices"');
		const { length } = watching.database.history;
		for (let count = 0; count < 3; count++) await watching.poll();
		bench.fleet.reorder((devices) => [...devices].reverse());
		await watching.poll();
		// Here n8n writes what is marked as changed, also if it is the same.
		await watching.restart();
		expect(watching.state).toBe(state);
		expect(watching.database.history).toHaveLength(length);
	});

	it('each change of a device has another id, and a repeated change the same one', async () => {
		const watching = new Watch(bench, { events: ['onlineStatusChanged'] }, { host });
		bench.fleet.update(sn(), { onlineStatus: 1 });
		await watching.activate();
		const seen: unknown[] = [];
		for (const onlineStatus of [0, 1, 0, 1]) {
			bench.fleet.update(sn(), { onlineStatus });
			seen.push(...(ids(await watching.poll()) ?? []));
		}
		expect(new Set(seen).size).toBe(4);
		bench.fleet.update(sn(), { onlineStatus: 5 });
		const first = ids(await watching.poll());
		// As if n8n had lost what it saved last.
		watching.database.rewind(watching.database.history.length - 2);
		const again = (await watching.restart()) ?? (await watching.poll());
		expect(ids(again)).toEqual(first);
	});

	it('a value that holds for 15 minutes is reported after 15 minutes', async () => {
		const parameters = { events: ['onlineStatusChanged'], forAtLeast: 15 };
		bench.fleet.update(sn(), { onlineStatus: 1 });
		const watching = new Watch(bench, parameters, { host });
		await watching.activate();
		expect(await watching.poll()).toBeNull();
		bench.fleet.update(sn(), { onlineStatus: 0 });
		for (const expected of [null, null, null, [expect.objectContaining({ current: 0 })]]) {
			clock.now += 5 * 60_000;
			expect(await watching.poll()).toEqual(expected);
		}
	});

	it('a restart does not hide that a device came back, which only quiet polls saw', async () => {
		const rule = { field: 'onlineStatus', from: '1', to: '0' };
		const parameters = { events: ['onlineStatusChanged'], conditions: { rule: [rule] }, forAtLeast: 15 };
		bench.fleet.update(sn(), { onlineStatus: 0 });
		const watching = new Watch(bench, parameters, { host });
		await watching.activate();
		const seen: unknown[] = [];
		const polls = async (count: number) => {
			for (let poll = 0; poll < count; poll++) {
				clock.now += 60_000;
				seen.push(...((await watching.poll()) ?? []));
			}
		};
		bench.fleet.update(sn(), { onlineStatus: 1 });
		await polls(30);
		await watching.restart();
		await polls(5);
		bench.fleet.update(sn(), { onlineStatus: 0 });
		await polls(15);
		expect(seen).toEqual([]);
		await polls(1);
		expect(seen).toMatchObject([{ previous: 1, current: 0 }]);
		// Later polls of the process debounce both directions.
		bench.fleet.update(sn(), { onlineStatus: 1 });
		await polls(1);
		bench.fleet.update(sn(), { onlineStatus: 0 });
		await polls(20);
		expect(seen).toHaveLength(1);
	});

	it('a poll whose items n8n does not take keeps what it saw of other devices', async () => {
		const watching = new Watch(bench, { events: ['deviceCreated', 'onlineStatusChanged'], forAtLeast: 15 }, { host });
		const { sn: held } = bench.fleet.update(sn(), { onlineStatus: 1 });
		await watching.activate();
		bench.fleet.update(held, { onlineStatus: 0 });
		expect(await watching.poll()).toBeNull();
		clock.now += 14 * 60_000;
		bench.fleet.update(held, { onlineStatus: 1 });
		bench.fleet.add();
		const tick = watching.host.tick();
		// The default host discards the items of a poll during which the workflow is published.
		if (host === 'A') await watching.activate('update');
		else tick.abandon();
		const end = await tick.done;
		const lost = 'items' in end ? end.items?.map(({ json }) => json) : undefined;
		expect(lost).toMatchObject([{ event: 'deviceCreated' }]);
		bench.fleet.update(held, { onlineStatus: 0 });
		clock.now += 60_000;
		expect(ids(await watching.poll())).toEqual(ids(lost ?? null));
		clock.now += 14 * 60_000;
		expect(await watching.poll()).toBeNull();
		clock.now += 60_000;
		expect(await watching.poll()).toMatchObject([{ previous: 1, current: 0 }]);
	});

	it('a poll leaves its work to the one that is under way', async () => {
		const watching = new Watch(bench, { events: ['onlineStatusChanged'] }, { host });
		await watching.activate();
		bench.fleet.update(sn(), { onlineStatus: 77 });
		let release = () => {};
		const released = new Promise<void>((resolve) => (release = resolve));
		bench.platform.settings.beforeAnswer = async () => await released;
		const slow = watching.poll();
		expect(await watching.poll()).toBeNull();
		release();
		expect(await slow).toHaveLength(1);
		expect(await watching.poll()).toBeNull();
	});

	it.each([
		['result', []],
		['failure', [{ fault: { status: 503 }, order: 1 }]],
	])('a poll that takes too long is abandoned, and its late %s is discarded', async (_, faults) => {
		const watching = new Watch(bench, { events: ['onlineStatusChanged'], options: { maxRetries: 0 } }, { host });
		await watching.activate();
		bench.fleet.update(sn(), { onlineStatus: 77 });
		let release = () => {};
		bench.platform.settings.beforeAnswer = async ({ order }) => {
			if (order === 1) await new Promise<void>((resolve) => (release = resolve));
		};
		bench.platform.forget();
		bench.platform.settings.faults = faults;
		const lost = watching.poll();
		while (bench.platform.inFlight === 0) await new Promise(setImmediate);
		clock.now += 6 * 60_000 + 1;
		expect(await watching.poll()).toHaveLength(1);
		release();
		expect(await lost).toBeNull();
		expect(await watching.poll()).toBeNull();
	});
});

describe('the default host starts the time of a held value again, because other polls may have seen it come back', () => {
	const parameters = { events: ['deviceCreated', 'onlineStatusChanged'], forAtLeast: 15 };
	/** Publishes, and lets n8n save a hold with an event. Returns the held device. */
	const held = async (watching: Watch) => {
		bench.fleet.update(sn(), { onlineStatus: 1 });
		await watching.activate();
		const device = bench.fleet.update(sn(), { onlineStatus: 0 });
		bench.fleet.add();
		expect(await watching.poll()).toHaveLength(1);
		return device;
	};
	const reportsAfter15Minutes = async (watching: Watch) => {
		for (const minutes of [1, 13]) {
			clock.now += minutes * 60_000;
			expect(await watching.poll()).toBeNull();
		}
		clock.now += 60_000;
		expect(await watching.poll()).toMatchObject([{ previous: 1, current: 0 }]);
	};

	it.each<[string, boolean, WorkflowActivateMode]>([
		['after a restart', true, 'init'],
		['after a restart while the workflow was not published', true, 'activate'],
		['after a restart in which the workflow did not start', true, 'update'],
		['after another main process was the leader', false, 'leadershipChange'],
	])('%s', async (_, isRestart, mode) => {
		const watching = new Watch(bench, parameters);
		await held(watching);
		if (isRestart) forgetPolls();
		clock.now += 15 * 60_000;
		expect(await watching.activate(mode)).toBeNull();
		await reportsAfter15Minutes(watching);
	});

	it('after another main process was the leader during a poll', async () => {
		const watching = new Watch(bench, parameters);
		await held(watching);
		let release = () => {};
		const released = new Promise<void>((resolve) => (release = resolve));
		bench.platform.settings.beforeAnswer = async () => await released;
		const slow = watching.poll();
		expect(await watching.activate('leadershipChange')).toBeNull();
		release();
		expect(await slow).toBeNull();
		clock.now += 15 * 60_000;
		expect(await watching.poll()).toBeNull();
		await reportsAfter15Minutes(watching);
	});
});

it('finds that its state changed during the poll, and leaves the work to the next', async () => {
	const node = bench.engine.pollingNode(new Watch(bench, { events: ['onlineStatusChanged'] }).workflow());
	expect(await node.poll()).toBeNull();
	const state = node.context.getWorkflowStaticData('node');
	const { state: before } = state;
	bench.fleet.update(sn(), { onlineStatus: 77 });
	bench.platform.settings.beforeAnswer = () => {
		state['state'] = undefined;
	};
	expect(await node.poll()).toBeNull();
	expect(state).toEqual({ state: undefined });
	bench.platform.settings.beforeAnswer = () => {};
	state['state'] = before;
	expect(await node.poll()).toHaveLength(1);
});

it('writes the state last: not if making the output fails', async () => {
	const node = bench.engine.pollingNode(new Watch(bench, { events: ['onlineStatusChanged'] }).workflow());
	await node.poll();
	const { state } = node.context.getWorkflowStaticData('node');
	bench.fleet.update(sn(), { onlineStatus: 77 });
	let polls = 0;
	// The clock is asked last when the items are made.
	const now = jest.spyOn(Date.prototype, 'toISOString').mockImplementation(() => {
		polls++;
		throw new Error('No time');
	});
	try {
		await expect(node.poll()).rejects.toThrow('No time');
	} finally {
		now.mockRestore();
	}
	expect(polls).toBe(1);
	expect(node.context.getWorkflowStaticData('node')['state']).toBe(state);
	expect(await node.poll()).toHaveLength(1);
});

it('reads the credential once in a poll: another one in the middle would compare two platforms', async () => {
	const node = bench.engine.pollingNode(new Watch(bench, { events: ['onlineStatusChanged'] }).workflow());
	const reads = jest.spyOn(node.context, 'getCredentials');
	await node.poll();
	expect(reads).toHaveBeenCalledTimes(1);
});

it('two processes at one durable cursor: a state that looks like an older one is that of the other process', async () => {
	const parameters = { events: ['onlineStatusChanged'], conditions: { rule: [{ field: 'onlineStatus', to: '9' }] } };
	const [one, other] = ['One', 'Other'].map((nodeName) => new Watch(bench, parameters, { host: 'C', nodeName }));
	bench.platform.fleet = Fleet.seeded({ size: 1 });
	const pollAt = async (watching = one, onlineStatus = 0) => {
		bench.fleet.update(sn(0), { onlineStatus });
		const items = await watching?.poll();
		for (const { database } of [one, other].flatMap((watch) => watch ?? []))
			database.cursor = watching?.database.cursor;
		return items;
	};
	expect([await pollAt(one, 1), await pollAt(one, 2), await pollAt(other, 1)]).toEqual([null, null, null]);
	expect(await pollAt(one, 9)).toMatchObject([{ previous: 1, current: 9 }]);
});

it('keeps to two triggers in one workflow apart, and to two workflows', async () => {
	const one = new Watch(bench, { events: ['onlineStatusChanged'] }, { host: 'B', nodeName: 'One' });
	const other = new Watch(bench, { events: ['onlineStatusChanged'] }, { host: 'B', nodeName: 'Other' });
	const elsewhere = new Watch(
		bench,
		{ events: ['onlineStatusChanged'] },
		{ host: 'B', nodeName: 'One', workflowId: 'elsewhere' },
	);
	await one.activate();
	bench.fleet.update(sn(), { onlineStatus: 77 });
	await other.activate();
	bench.fleet.update(sn(), { onlineStatus: 78 });
	await elsewhere.activate();
	bench.fleet.update(sn(), { onlineStatus: 79 });
	expect((await one.poll())?.[0]?.['current']).toBe(79);
	expect((await other.poll())?.[0]?.['previous']).toBe(77);
	expect((await elsewhere.poll())?.[0]?.['previous']).toBe(78);
});

it('takes one string of what n8n keeps for the node, and nothing of what others keep', async () => {
	const node = bench.engine.pollingNode(new Watch(bench, { events: ['onlineStatusChanged'] }).workflow());
	const ofOthers = { 'somebody’s': { own: [1] } };
	const state = node.context.getWorkflowStaticData('node');
	Object.assign(state, ofOthers);
	await node.poll();
	expect(state).toEqual({ ...ofOthers, state: expect.any(String) });
	const global = (context: IPollFunctions) => context.getWorkflowStaticData('global');
	expect(global(node.context)).toEqual({});
});
