import type { IDataObject } from 'n8n-workflow';

import { useBench, useStillClock } from '../../testbed/jest.mts';
import type { Device } from '../../testbed/platform/fleet.mts';
import { Watch } from '../../testbed/watch.mts';

const bench = useBench();
const clock = useStillClock();

const change = (changes: Partial<Device>) => {
	const router = bench.fleet.devices.find(({ sn }) => sn.startsWith('RT'));
	if (router !== undefined) bench.fleet.update(router.sn, changes);
};
const warnings = () => bench.engine.logs.filter(({ level }) => level === 'warn').map(({ message }) => message);

const BEGINS_ANEW =
	"The trigger \"Watch\" takes a new baseline, because 'Events', 'Attributes', 'Filters', the workflow, the platform or the user changed. It does not report what changed since the last poll";

const EVERYTHING = {
	events: ['attributeChanged', 'deviceCreated', 'onlineStatusChanged'],
	attributes: 'firmware',
	filters: { name: 'R' },
};

/** Publishes a trigger, lets something happen that it would report, and publishes it with other settings. */
async function republish(watching: Watch, changes: IDataObject, happen = () => change({ onlineStatus: 77 })) {
	const before = watching.state;
	await watching.activate();
	expect(watching.state).not.toBe(before);
	happen();
	watching.parameters = { ...watching.parameters, ...changes };
	clock.now += 60_000;
	return await watching.activate('update');
}

beforeEach(() => {
	change({ onlineStatus: 1 });
	bench.engine.logs.length = 0;
});

it('takes a baseline at first and reports nothing of a fleet that was there already', async () => {
	const watching = new Watch(bench, EVERYTHING);
	expect(await watching.activate()).toBeNull();
	expect(await watching.poll()).toBeNull();
	expect(warnings()).toEqual([]);
});

it.each<[string, IDataObject]>([
	['an event more', { events: [...EVERYTHING.events, 'statusChanged'] }],
	['an event less', { events: ['deviceCreated', 'onlineStatusChanged'], attributes: '' }],
	['another attribute', { attributes: 'firmware, site' }],
	['another filter', { filters: { name: 'RT' } }],
	['no filter', { filters: {} }],
])('records a new baseline, and logs it, with %s', async (_, changes) => {
	const watching = new Watch(bench, EVERYTHING);
	expect(await republish(watching, changes)).toBeNull();
	expect(warnings()).toEqual([BEGINS_ANEW]);
	change({ onlineStatus: 78 });
	expect(await watching.poll()).toMatchObject([{ event: 'onlineStatusChanged', previous: 77, current: 78 }]);
});

it.each<[string, IDataObject]>([
	['the events in another order', { events: [...EVERYTHING.events].reverse() }],
	['the attributes in another order', { attributes: ' firmware,firmware ' }],
	['another output', { output: 'raw' }],
	['other options', { options: { emit: 'perPoll', pageSize: 100, parallelRequests: 2, timeout: 5000, maxRetries: 1 } }],
	['a rule', { conditions: { rule: [{ field: 'onlineStatus', from: '1' }] } }],
])('loses nothing with %s', async (_, changes) => {
	const watching = new Watch(bench, EVERYTHING);
	expect(await republish(watching, changes)).toHaveLength(1);
	expect(warnings()).toEqual([]);
});

it('loses nothing with another time to hold', async () => {
	const watching = new Watch(bench, { ...EVERYTHING, forAtLeast: 15 });
	expect(await republish(watching, { forAtLeast: 5 })).toBeNull();
	clock.now += 5 * 60_000;
	expect(await watching.poll()).toMatchObject([{ previous: 1, current: 77 }]);
});

it('records a new baseline in a copied or imported workflow, and after the node was renamed', async () => {
	const watching = new Watch(bench, EVERYTHING);
	await watching.activate();
	change({ onlineStatus: 77 });
	const copy = new Watch(bench, EVERYTHING, { workflowId: 'copy' });
	copy.database.save({ staticData: watching.database.staticData });
	expect(await copy.activate()).toBeNull();
	expect(warnings()).toEqual([BEGINS_ANEW]);
	watching.options.nodeName = 'Renamed';
	expect(await watching.activate('update')).toBeNull();
	change({ onlineStatus: 78 });
	expect(await watching.poll()).toMatchObject([{ previous: 77, current: 78 }]);
});

describe('the credential', () => {
	const save = async (data: Record<string, string>) =>
		await bench.engine.saveCredential({
			name: 'Another',
			type: 'deviceManagementApi',
			data: { baseUrl: bench.platform.baseUrl, ...data },
		});

	it('another password of the same user, or another key in the same credential, loses nothing', async () => {
		for (const [id, changes] of [
			[bench.login, { password: 'another password' }],
			[bench.apiKey, { apiKey: 'another-key-0123456789' }],
		] as const) {
			const watching = new Watch(bench, EVERYTHING, { credential: id, workflowId: `with credential ${id}` });
			change({ onlineStatus: 1 });
			await watching.activate();
			await bench.engine.updateCredential(id, { ...(await bench.engine.storedCredential(id)), ...changes });
			Object.assign(bench.platform.settings, changes);
			change({ onlineStatus: 77 });
			expect(await watching.poll()).toHaveLength(1);
		}
		expect(warnings()).toEqual([]);
	});

	it('another credential with the same user loses nothing; one with another key records a new baseline', async () => {
		const { loginName, password, apiKey } = bench.platform;
		const watching = new Watch(bench, EVERYTHING, { credential: bench.login });
		await watching.activate();
		watching.options.credential = await save({ authentication: 'login', loginName, password });
		change({ onlineStatus: 77 });
		expect(await watching.activate('update')).toHaveLength(1);
		watching.options.credential = bench.apiKey;
		change({ onlineStatus: 78 });
		expect(await watching.activate('update')).toBeNull();
		watching.options.credential = await save({ authentication: 'apiKey', apiKey });
		change({ onlineStatus: 79 });
		expect(await watching.activate('update')).toBeNull();
		expect(warnings()).toEqual(Array(2).fill(BEGINS_ANEW));
	});

	it.each([
		['login name', { loginName: 'somebody-else' }],
		['base URL', { baseUrl: 'localhost' }],
	])('another %s records a new baseline', async (_, changes) => {
		const watching = new Watch(bench, EVERYTHING, { credential: bench.login });
		await watching.activate();
		const stored = await bench.engine.storedCredential(bench.login);
		const other =
			'baseUrl' in changes ? { baseUrl: bench.platform.baseUrl.replace('127.0.0.1', 'localhost') } : changes;
		await bench.engine.updateCredential(bench.login, { ...stored, ...other });
		Object.assign(bench.platform.settings, 'loginName' in changes ? changes : {});
		change({ onlineStatus: 77 });
		expect(await watching.poll()).toBeNull();
		expect(warnings()).toEqual([BEGINS_ANEW]);
	});
});

it('records a new baseline, and logs it, if the state is unreadable', async () => {
	const watching = new Watch(bench, EVERYTHING, { host: 'B' });
	await watching.activate();
	const { staticData } = watching.database;
	watching.database.save({ staticData: staticData.replace('\\"format\\":2', '\\"format\\":0') });
	await watching.restart();
	change({ onlineStatus: 77 });
	expect(await watching.poll()).toBeNull();
	expect(warnings()).toEqual([
		'The trigger "Watch" takes a new baseline, because it can\'t read the state that n8n kept. It does not report what changed since the last poll',
	]);
	change({ onlineStatus: 78 });
	expect(await watching.poll()).toMatchObject([{ previous: 77, current: 78 }]);
});

it('has another number after each baseline, so that no change has the id of an older one', async () => {
	const watching = new Watch(bench, EVERYTHING);
	await watching.activate();
	const ids = new Set<unknown>();
	for (const name of ['R', 'RT', 'R', 'RT']) {
		watching.parameters = { ...watching.parameters, filters: { name } };
		change({ onlineStatus: 1 });
		await watching.activate('update');
		change({ onlineStatus: 0 });
		for (const { eventId } of (await watching.poll()) ?? []) ids.add(eventId);
	}
	expect(ids.size).toBe(4);
});

it('reads a fleet with too many values on its second page in smaller pages, also in the next poll', async () => {
	const log = new Array(6000).fill(0);
	bench.platform.settings.changePage = ({ content, ...page }, { query }) => {
		const isLarge = query['size'] === '100' && page.number === 1;
		return { ...page, content: isLarge ? content.map((device) => ({ ...device, log })) : content };
	};
	const watching = new Watch(bench, { events: ['onlineStatusChanged'], options: { pageSize: 100 } });
	expect(await watching.activate()).toBeNull();
	bench.platform.forget();
	expect(await watching.poll()).toBeNull();
	expect(bench.platform.requestsOf('list').map(({ query }) => query['size'])).toEqual(new Array(5).fill('50'));
});

it('logs once that it takes devices with one id for one, also if they are on several pages', async () => {
	const [one, other] = [bench.fleet.at(3), bench.fleet.at(200)];
	bench.fleet.update(other.sn, { id: one.id });
	const watching = new Watch(bench, { events: ['onlineStatusChanged'], options: { pageSize: 50 } });
	expect(await watching.activate()).toBeNull();
	expect(await watching.poll()).toBeNull();
	const aboutIds = warnings().filter((words) => words.includes('same id'));
	expect(aboutIds).toEqual(['The trigger "Watch" takes devices with the same id for one device']);
});
