import { useBench } from '../../testbed/jest.mts';
import { type HostLetter, Watch } from '../../testbed/watch.mts';
import { published, told, useTrigger } from '../../testbed/trigger/watching.mts';

const n8n = useBench();
const { answer, bench, watch, change: update } = useTrigger();

const EVENTS = ['deviceCreated', 'deviceUpdated', 'onlineStatusChanged', 'deviceRemoved'];
const parameters = { events: ['onlineStatusChanged'] };

const change = (onlineStatus = 77) => update(3, { onlineStatus });
/** A poll of n8n's default host without that host, so that a test can look into it. */
const nodeOf = () => bench.engine.pollingNode(new Watch(bench, parameters).workflow());

it.each<HostLetter>(['A', 'B', 'C'])(
	"on host %s, in n8n's engine, quiet polls leave the state as it is, and a restart loses and repeats nothing",
	async (host) => {
		const watching = await published(n8n, { events: EVENTS }, { host });
		const { state } = watching;
		expect(state).toContain('"devices"');
		for (let count = 0; count < 3; count++) {
			expect(await watching.poll()).toBeNull();
			n8n.fleet.reorder((devices) => [...devices].reverse());
		}
		// Here n8n writes what is marked as changed, also if it is the same.
		expect([await watching.restart(), watching.state, watching.database.history.length]).toEqual([null, state, 1]);
		const { sn: changed } = n8n.fleet.update(n8n.fleet.at(3).sn, { onlineStatus: 77 });
		const created = n8n.fleet.add().sn;
		const items = (await watching.restart()) ?? (await watching.poll());
		expect(told(items).sort()).toEqual([`deviceCreated ${created}`, `onlineStatusChanged ${changed}`]);
		expect([await watching.poll(), await watching.restart(), await watching.poll()]).toEqual([null, null, null]);
	},
);

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

it('reads the credential once in a poll, and keeps one string beside what others keep', async () => {
	const node = n8n.engine.pollingNode(new Watch(n8n, parameters).workflow());
	// Another one in the middle would compare two platforms.
	const reads = jest.spyOn(node.context, 'getCredentials');
	const ofOthers = { 'somebody’s': { own: [1] } };
	const state = Object.assign(node.context.getWorkflowStaticData('node'), ofOthers);
	await node.poll();
	expect(reads).toHaveBeenCalledTimes(1);
	expect(state).toEqual({ ...ofOthers, state: expect.any(String) });
	expect(node.context.getWorkflowStaticData('global')).toEqual({});
});
