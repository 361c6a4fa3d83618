import type { IDataObject } from 'n8n-workflow';

import { useBench } from '../../testbed/jest.mts';
import { Fleet } from '../../testbed/platform/fleet.mts';
import { Watch } from '../../testbed/watch.mts';
import { published, useTrigger, warningsOf } from '../../testbed/trigger/watching.mts';

const n8n = useBench();
const { bench, clock, fleet, watch, warnings } = useTrigger();

const EVERYTHING = {
	events: ['attributeChanged', 'deviceCreated', 'onlineStatusChanged'],
	attributes: 'firmware',
	filters: { name: 'R' },
};
/** Changes a router, which all these triggers watch. */
function change(onlineStatus: number, fleet = bench.platform.fleet): void {
	const router = fleet.devices.find(({ sn }) => sn.startsWith('RT'));
	if (router !== undefined) fleet.update(router.sn, { onlineStatus });
}
const events = async (poll: Promise<IDataObject[] | null>) =>
	(await poll)?.map(({ previous, current }) => `${previous} → ${current}`) ?? [];
const says = (...words: string[]) => words.map((one) => `The trigger "Watch" ${one}`);
const NEW_BASELINE = says(
	"starts over, because 'Events', 'Attributes', 'Filters', the workflow, the platform, or the user changed. Changes since the last poll aren't reported",
);

beforeEach(() => {
	for (const fleet of [bench.platform.fleet, n8n.fleet]) change(1, fleet);
	n8n.engine.logs.length = 0;
});

const OTHER_FORMS = {
	...{ events: [...EVERYTHING.events].reverse(), attributes: ' firmware,firmware ', output: 'raw' },
	options: { emit: 'perDevice', pageSize: 100, parallelRequests: 2, timeout: 5000, maxRetries: 1 },
};
it.each<[string, IDataObject, isNew: boolean]>([
	['an event more: a new baseline', { events: [...EVERYTHING.events, 'statusChanged'] }, true],
	['an event less: a new baseline', { events: ['onlineStatusChanged'], attributes: '' }, true],
	['another attribute: a new baseline', { attributes: 'firmware, site' }, true],
	['the same in another form, and another output: nothing is lost', OTHER_FORMS, false],
	['a rule: nothing is lost', { conditions: { rule: [{ field: 'onlineStatus', from: '1' }] } }, false],
])('publishing with %s', async (_, changes, isNew) => {
	const watching = await watch(EVERYTHING);
	change(77);
	watching.parameters = { ...EVERYTHING, ...changes };
	clock.now += 60_000;
	expect(await events(watching.activate('update'))).toEqual(isNew ? [] : ['1 → 77']);
	expect(warnings()).toEqual(isNew ? NEW_BASELINE : []);
	change(78);
	// The rule lets only changes from 1 pass.
	expect(await events(watching.poll())).toEqual('conditions' in changes ? [] : ['77 → 78']);
});

it('the same change after a new baseline has another ID, also within a second', async () => {
	const watching = await watch(EVERYTHING);
	const ids: unknown[] = [];
	for (const attributes of ['site', 'firmware']) {
		change(77);
		for (const { eventId } of (await watching.poll()) ?? []) ids.push(eventId);
		change(1);
		watching.parameters = { ...EVERYTHING, attributes };
		await watching.activate('update');
	}
	expect([ids.length, new Set(ids).size]).toEqual([2, 2]);
});

it('a filter that an expression changes at each poll fails them with its label, until it no longer changes', async () => {
	const watching = await published(n8n, { ...EVERYTHING, filters: { name: '={{ Math.random() }}' } });
	expect(await watching.poll()).toBeNull();
	const failure = { message: "'Filters' has a different value at each poll" };
	for (const end of [expect.objectContaining(failure), null])
		expect(await watching.poll().catch((error: unknown) => error)).toEqual(end);
	watching.parameters = EVERYTHING;
	expect(await watching.activate('update')).toBeNull();
	change(77, n8n.fleet);
	expect(await events(watching.poll())).toEqual(['1 → 77']);
});

it('a copied or imported workflow records a new baseline and leaves the original one, and a renamed node, too', async () => {
	const watching = await watch(EVERYTHING);
	change(77);
	const copy = new Watch(bench, EVERYTHING, { workflowId: 'copy' });
	copy.database.save({ staticData: watching.database.staticData });
	expect(await copy.activate()).toBeNull();
	expect(warnings()).toEqual(NEW_BASELINE);
	expect(await events(watching.poll())).toEqual(['1 → 77']);
	watching.options.nodeName = 'Renamed';
	expect(await watching.activate('update')).toBeNull();
	change(78);
	expect(await events(watching.poll())).toEqual(['77 → 78']);
});

it.each<[string, 'login' | 'apiKey', changes: object | undefined, isNew: boolean]>([
	['another password of the same user loses nothing', 'login', { password: 'another password' }, false],
	['another key in the same credential loses nothing', 'apiKey', { apiKey: 'another-key-0123456789' }, false],
	['another login name records a new baseline', 'login', { loginName: 'somebody-else' }, true],
	['another base URL records a new baseline', 'login', { host: 'localhost' }, true],
	['another credential with the same user loses nothing', 'login', undefined, false],
	['another credential with a key, whose user is unknown, records a new baseline', 'apiKey', undefined, true],
])('%s', async (_, way, changes, isNew) => {
	const { engine, platform } = n8n;
	const watching = await published(n8n, EVERYTHING, { credential: n8n[way] });
	const { host = '127.0.0.1', ...settings } = Object(changes);
	const baseUrl = platform.baseUrl.replace('127.0.0.1', host);
	const data = { ...(await engine.storedCredential(n8n[way])), ...settings, baseUrl };
	if (changes) await engine.updateCredential(n8n[way], data);
	else
		watching.options.credential = await engine.saveCredential({ name: 'Another', type: 'deviceManagementApi', data });
	Object.assign(platform.settings, settings);
	change(77, n8n.fleet);
	expect(await events(watching.activate('update'))).toEqual(isNew ? [] : ['1 → 77']);
	expect(warningsOf(engine.logs)).toEqual(isNew ? NEW_BASELINE : []);
});

const MATCHES = "finds no device that matches the 'Filters'";
it.each<[words: string, parameters: IDataObject, logged: string[], prepare?: () => void]>([
	[
		'which watched fields no device has',
		{ events: ['attributeChanged', 'groupChanged', 'statusChanged'], attributes: 'frimware, firmware' },
		["'Status'", 'the attribute "frimware"', "'Group'"].map((what) => `finds no device with ${what}`),
		() => fleet().devices.forEach(({ sn }) => fleet().update(sn, Object({ status: null, group: null }))),
	],
	['that no device has the name', { filters: { name: 'no such device' } }, [MATCHES]],
	['that no device meets the search criteria', { filters: { body: { status: 77 } } }, [MATCHES]],
	['that no device has the online status', { filters: { onlineStatus: 77 } }, [MATCHES]],
	['nothing of filters that are empty', { filters: {} }, [], () => void (bench.platform.fleet = new Fleet([]))],
	[
		'which serial number it watches in one record only: several devices have it, one as a number',
		{ events: ['onlineStatusChanged'], options: { pageSize: 50 } },
		['watches only one of the devices with the serial number 1001'],
		() => [1002, '1002', '1001', 1001].forEach((sn, at) => fleet().add(fleet().make(Object({ sn })), 40 * at)),
	],
	[
		'a long serial number with a line break as one short line',
		{ events: ['onlineStatusChanged'] },
		[`watches only one of the devices with the serial number A [ERROR] ${'x'.repeat(290)}…`],
		() => {
			const sn = 'A\n[ERROR] '.padEnd(1e6, 'x');
			fleet().reorder((devices) => devices.map((device, at) => (at < 2 ? { ...device, sn } : device)));
		},
	],
	[
		'that events may come later if the list changes at each reading',
		{ events: ['deviceRemoved'], options: { pageSize: 50 } },
		['may report events later, because the list kept changing'],
		() => (bench.platform.settings.beforeAnswer = () => void fleet().add()),
	],
])('logs once %s', async (_, parameters, logged, prepare = () => {}) => {
	prepare();
	const watching = await watch(parameters);
	for (let polls = 0; polls < 2; polls++) expect(await watching.poll()).toBeNull();
	expect(warnings()).toEqual(says(...logged));
});

it('logs once that no device has the group of the filter, and again after the group had one', async () => {
	const watching = await watch({ events: ['deviceRemoved'], filters: { group: 'gone' } });
	const { sn, group } = fleet().at(249);
	const named = (name: string) => fleet().update(sn, { group: { ...group, name } });
	for (const name of ['other', ' Gone', 'gone', 'other', 'another']) {
		named(name);
		expect(await watching.poll()).toBeNull();
	}
	const finds = 'finds no device in the group "gone"';
	expect(warnings()).toEqual(says(finds, finds));
});

it('records a new baseline, and logs it, if it cannot read the state', async () => {
	const watching = await watch(EVERYTHING, { host: 'B' });
	const { staticData } = watching.database;
	watching.database.save({ staticData: staticData.replace('"format\\":3', '"format\\":0') });
	await watching.restart();
	change(77);
	expect(await watching.poll()).toBeNull();
	const why = "it can't read its saved state. Changes since the last poll aren't reported";
	expect(warnings()).toEqual(says(`starts over, because ${why}`));
	change(78);
	expect(await events(watching.poll())).toEqual(['77 → 78']);
});

it('of devices with one serial number, watches the one in the group', async () => {
	const { fleet } = bench.platform;
	const groups = ['other', 'own'].map((name) => ({ group: { ...fleet.at(0).group, name } }));
	for (const [at, sn] of [1001, '1001'].entries())
		fleet.add(fleet.make(Object({ sn, onlineStatus: at, ...groups[at] })));
	const filters = { group: 'own' };
	const watching = await watch({ events: ['deviceCreated', 'onlineStatusChanged'], filters });
	fleet.update('1001', { onlineStatus: 0 });
	expect(await events(watching.poll())).toEqual(['1 → 0']);
});
