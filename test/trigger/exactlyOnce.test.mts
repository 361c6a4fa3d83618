import { setImmediate } from 'node:timers/promises';

import { held } from '../../testbed/held.mts';
import { useBench } from '../../testbed/jest.mts';
import { type HostLetter, Watch } from '../../testbed/watch.mts';
import { published, told, useTrigger } from './watching.mts';

const n8n = useBench();
const { answer, bench, clock, watch, change: update } = useTrigger();

const EVENTS = ['deviceCreated', 'deviceUpdated', 'onlineStatusChanged', 'deviceRemoved'];
const parameters = { events: ['onlineStatusChanged'] };

const change = (onlineStatus = 77) => update(3, { onlineStatus });
/** A poll of n8n's default host without that host, so that a test can look into it. */
const nodeOf = () => bench.engine.pollingNode(new Watch(bench, parameters).workflow());

describe.each<HostLetter>(['A', 'B', 'C'])('on host %s', (host) => {
	it("in n8n's engine, a restart after quiet polls loses and repeats nothing", async () => {
		const watching = await published(n8n, { events: EVENTS }, { host });
		for (let count = 0; count < 3; count++) expect(await watching.poll()).toBeNull();
		const { sn: changed } = n8n.fleet.update(n8n.fleet.at(3).sn, { onlineStatus: 77 });
		const created = n8n.fleet.add().sn;
		const items = (await watching.restart()) ?? (await watching.poll());
		expect(told(items).sort()).toEqual([`deviceCreated ${created}`, `onlineStatusChanged ${changed}`]);
		expect([await watching.poll(), await watching.restart(), await watching.poll()]).toEqual([null, null, null]);
	});

	it('a quiet poll leaves the state as it is, byte for byte', async () => {
		const events = [...EVENTS, 'attributeChanged'];
		const watching = await watch({ events, attributes: 'firmware' }, { host });
		change();
		await watching.poll();
		const { state } = watching;
		expect(state).toContain('"devices"');
		const { length } = watching.database.history;
		for (let count = 0; count < 3; count++) await watching.poll();
		bench.platform.fleet.reorder((devices) => [...devices].reverse());
		await watching.poll();
		// Here n8n writes what is marked as changed, also if it is the same.
		await watching.restart();
		expect(watching.state).toBe(state);
		expect(watching.database.history).toHaveLength(length);
	});
});

it('finds that its state changed during the poll, and leaves the work to the next', async () => {
	const node = nodeOf();
	expect(await node.poll()).toBeNull();
	const state = node.context.getWorkflowStaticData('node');
	const { state: before } = state;
	change();
	bench.platform.settings.beforeAnswer = () => void (state['state'] = undefined);
	expect(await node.poll()).toBeNull();
	expect(state).toEqual({ state: undefined });
	bench.platform.settings.beforeAnswer = undefined;
	state['state'] = before;
	expect(await node.poll()).toHaveLength(1);
});

it.each<[HostLetter, string, number | undefined]>([
	['B', 'what it saw', undefined],
	['C', 'what it saw', undefined],
	['B', 'its failure', 503],
])('on host %s, discards of a poll that lost its turn to another one %s', async (host, _, status) => {
	const watching = await watch(parameters, { host });
	const { platform } = bench;
	const { promise, resolve } = held();
	platform.settings.beforeAnswer = async () => await promise;
	platform.forget();
	const slow = watching.tick();
	while (platform.requests.length === 0) await setImmediate();
	platform.settings.beforeAnswer = undefined;
	change();
	expect(await watching.poll()).toBeNull();
	// The time of a poll, and a minute.
	clock.now += 96_000;
	expect(await watching.poll()).toHaveLength(1);
	answer(status);
	resolve();
	expect(await slow.done).toBeNull();
	answer();
	expect(await watching.poll()).toBeNull();
});

it('polls only for the newest activation: n8n may leave an older one running', async () => {
	const [older, failing, newer] = [nodeOf(), nodeOf(), nodeOf()];
	await older.poll();
	answer(200, '{"code":14101,"msg":"","data":null}');
	await expect(failing.poll()).rejects.toThrow('14101');
	answer();
	change();
	expect(await older.poll()).toHaveLength(1);
	Object.assign(newer.context.getWorkflowStaticData('node'), older.context.getWorkflowStaticData('node'));
	expect(await newer.poll()).toBeNull();
	change(78);
	expect([await older.poll(), await newer.poll(), await older.poll()]).toEqual([null, expect.anything(), null]);
});

it('what happens before any page of a poll is in this poll or in the next one, once', async () => {
	const { platform } = bench;
	const events = EVENTS.filter((event) => event !== 'deviceUpdated');
	const watching = await watch({ events, options: { pageSize: 20, parallelRequests: 1 } });
	platform.forget();
	await watching.poll();
	const { length: pages } = platform.requests;
	expect(pages).toBeGreaterThan(10);
	for (let page = 1; page <= pages; page++) {
		const due: string[] = [];
		platform.forget();
		platform.settings.beforeAnswer = ({ order }) => {
			if (order !== page) return;
			const { fleet } = platform;
			// The first one by ID: the others move, one of each page to the page before.
			due.push(`deviceRemoved ${fleet.remove(fleet.at(fleet.size - 1).sn).sn}`);
			for (const { sn } of fleet.devices) {
				fleet.update(sn, { onlineStatus: page + 9 });
				due.push(`onlineStatusChanged ${sn}`);
			}
			due.push(`deviceCreated ${fleet.add().sn}`);
		};
		const items = [await watching.poll(), await watching.poll()].flatMap((poll) => poll ?? []);
		expect(told(items).sort()).toEqual(due.sort());
	}
});

it('writes the state last: not if making the output fails', async () => {
	const node = nodeOf();
	await node.poll();
	const { state } = node.context.getWorkflowStaticData('node');
	change();
	// The clock is asked last when the items are made.
	const now = jest.spyOn(Date.prototype, 'toISOString').mockImplementationOnce(() => {
		throw new Error('No time');
	});
	await expect(node.poll()).rejects.toThrow('No time');
	now.mockRestore();
	expect(node.context.getWorkflowStaticData('node')['state']).toBe(state);
	expect(await node.poll()).toHaveLength(1);
});

it('reads the credential once in a poll: another one in the middle would compare two platforms', async () => {
	const node = n8n.engine.pollingNode(new Watch(n8n, parameters).workflow());
	const reads = jest.spyOn(node.context, 'getCredentials');
	await node.poll();
	expect(reads).toHaveBeenCalledTimes(1);
});

it('takes one string of what n8n keeps for the node, and nothing of what others keep', async () => {
	const node = n8n.engine.pollingNode(new Watch(n8n, parameters).workflow());
	const ofOthers = { 'somebody’s': { own: [1] } };
	const state = node.context.getWorkflowStaticData('node');
	Object.assign(state, ofOthers);
	await node.poll();
	expect(state).toEqual({ ...ofOthers, state: expect.any(String) });
	expect(node.context.getWorkflowStaticData('global')).toEqual({});
});
