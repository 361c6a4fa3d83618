import type { IDataObject } from 'n8n-workflow';

import { useBench } from '../../testbed/jest.mts';
import { Watch } from '../../testbed/watch.mts';
import { published, useTrigger, warningsOf } from './watching.mts';

const n8n = useBench();
const { bench, clock, fleet, watch, warnings } = useTrigger();

const EVERYTHING = {
	events: ['attributeChanged', 'deviceCreated', 'onlineStatusChanged'],
	attributes: 'firmware',
	filters: { name: 'R' },
};
const NEW_BASELINE =
	"The trigger \"Watch\" starts over, because 'Events', 'Attributes', 'Filters', the workflow, the platform, or the user changed. Changes since the last poll aren't reported";

/** Changes a router, which all these triggers watch. */
function change(onlineStatus: number, fleet = bench.platform.fleet): void {
	const router = fleet.devices.find(({ sn }) => sn.startsWith('RT'));
	if (router !== undefined) fleet.update(router.sn, { onlineStatus });
}
const events = async (poll: Promise<IDataObject[] | null>) =>
	(await poll)?.map(({ previous, current }) => `${previous} → ${current}`) ?? [];

beforeEach(() => {
	for (const fleet of [bench.platform.fleet, n8n.fleet]) change(1, fleet);
	n8n.engine.logs.length = 0;
});

const RULE = { rule: [{ field: 'onlineStatus', from: '1' }] };
const OPTIONS = { emit: 'perDevice', pageSize: 100, parallelRequests: 2, timeout: 5000, maxRetries: 1 };
it.each<[string, IDataObject, string[]]>([
	['an event more: a new baseline', { events: [...EVERYTHING.events, 'statusChanged'] }, [NEW_BASELINE]],
	['an event less: a new baseline', { events: ['onlineStatusChanged'], attributes: '' }, [NEW_BASELINE]],
	['another attribute: a new baseline', { attributes: 'firmware, site' }, [NEW_BASELINE]],
	['the events in another order: nothing is lost', { events: [...EVERYTHING.events].reverse() }, []],
	['the attributes in another form: nothing is lost', { attributes: ' firmware,firmware ' }, []],
	['another output: nothing is lost', { output: 'raw' }, []],
	['other options: nothing is lost', { options: OPTIONS }, []],
	['a rule: nothing is lost', { conditions: RULE }, []],
])('publishing with %s', async (_, changes, logged) => {
	const watching = await watch(EVERYTHING);
	change(77);
	watching.parameters = { ...EVERYTHING, ...changes };
	clock.now += 60_000;
	const isNew = logged.length > 0;
	expect(await events(watching.activate('update'))).toEqual(isNew ? [] : ['1 → 77']);
	expect(warnings()).toEqual(logged);
	change(78);
	// The rule lets only changes from 1 pass.
	expect(await events(watching.poll())).toEqual(changes['conditions'] === RULE ? [] : ['77 → 78']);
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
	expect(warnings()).toEqual([NEW_BASELINE]);
	expect(await events(watching.poll())).toEqual(['1 → 77']);
	watching.options.nodeName = 'Renamed';
	expect(await watching.activate('update')).toBeNull();
	change(78);
	expect(await events(watching.poll())).toEqual(['77 → 78']);
});

/** What changes in the credential; undefined: the workflow gets another one with the same data. */
type Changes = (() => Record<string, string>) | undefined;
it.each<[string, 'login' | 'apiKey', Changes, boolean]>([
	['another password of the same user loses nothing', 'login', () => ({ password: 'another password' }), false],
	['another key in the same credential loses nothing', 'apiKey', () => ({ apiKey: 'another-key-0123456789' }), false],
	['another login name records a new baseline', 'login', () => ({ loginName: 'somebody-else' }), true],
	[
		'another base URL records a new baseline',
		'login',
		() => ({ baseUrl: n8n.platform.baseUrl.replace('127.0.0.1', 'localhost') }),
		true,
	],
	['another credential with the same user loses nothing', 'login', undefined, false],
	['another credential with a key, whose user is unknown, records a new baseline', 'apiKey', undefined, true],
])('%s', async (_, way, changes, isNew) => {
	const { engine, platform } = n8n;
	const watching = await published(n8n, EVERYTHING, { credential: n8n[way] });
	const changed = changes?.();
	const data = { ...(await engine.storedCredential(n8n[way])), ...changed };
	if (changed) await engine.updateCredential(n8n[way], data);
	else
		watching.options.credential = await engine.saveCredential({ name: 'Another', type: 'deviceManagementApi', data });
	const { baseUrl: _address, ...settings } = { baseUrl: '', ...changed };
	Object.assign(platform.settings, settings);
	change(77, n8n.fleet);
	expect(await events(watching.activate('update'))).toEqual(isNew ? [] : ['1 → 77']);
	expect(warningsOf(engine.logs)).toEqual(isNew ? [NEW_BASELINE] : []);
});

it('logs once which watched fields no device has', async () => {
	const events = ['attributeChanged', 'groupChanged', 'statusChanged'];
	for (const { sn } of fleet().devices) fleet().update(sn, Object({ status: null, group: null }));
	const watching = await watch({ events, attributes: 'frimware, firmware' });
	expect(await watching.poll()).toBeNull();
	const finds = 'The trigger "Watch" finds no device with';
	expect(warnings()).toEqual([`${finds} 'Status'`, `${finds} the attribute "frimware"`, `${finds} 'Group'`]);
});

it('logs once that no device has the group of the filter, and again after the group had one', async () => {
	const watching = await watch({ events: ['deviceRemoved'], filters: { group: 'gone' } });
	const { sn, group } = fleet().at(249);
	const named = (name: string) => fleet().update(sn, { group: { ...group, name } });
	for (const name of ['other', ' Gone', 'gone', 'other', 'another']) {
		named(name);
		expect(await watching.poll()).toBeNull();
	}
	const finds = 'The trigger "Watch" finds no device in the group "gone"';
	expect(warnings()).toEqual([finds, finds]);
});

it.each([
	['a name', { name: 'no such device' }, 0, 1],
	['search criteria', { body: { status: 77 } }, 0, 1],
	['an online status', { onlineStatus: 77 }, 250, 1],
	['no filter', {}, 0, 0],
])('logs once that no device matches the filters, and not without filters: %s', async (_, filters, listed, lines) => {
	const data = { content: [], totalElements: 0 };
	bench.platform.settings.fault = ({ path }) =>
		path.endsWith('/list') && listed === 0 ? { code: 0, data } : undefined;
	const watching = await watch({ events: ['deviceUpdated'], filters });
	for (let polls = 0; polls < 3; polls++) expect(await watching.poll()).toBeNull();
	const words = `The trigger "Watch" finds no device that matches the 'Filters'`;
	expect(warnings()).toEqual(Array<string>(lines).fill(words));
});

it('records a new baseline, and logs it, if it cannot read the state', async () => {
	const watching = await watch(EVERYTHING, { host: 'B' });
	const { staticData } = watching.database;
	watching.database.save({ staticData: staticData.replace('"format\\":3', '"format\\":0') });
	await watching.restart();
	change(77);
	expect(await watching.poll()).toBeNull();
	expect(warnings()).toEqual([
		'The trigger "Watch" starts over, because it can\'t read its saved state. Changes since the last poll aren\'t reported',
	]);
	change(78);
	expect(await events(watching.poll())).toEqual(['77 → 78']);
});

it('logs once which serial number it watches in one record only: several devices have it, one as a number', async () => {
	const { fleet } = bench.platform;
	for (const [at, sn] of [1002, '1002', '1001', 1001].entries()) fleet.add(fleet.make(Object({ sn })), 40 * at);
	const watching = await watch({ events: ['onlineStatusChanged'], options: { pageSize: 50 } });
	expect(await watching.poll()).toBeNull();
	const only = 'The trigger "Watch" watches only one of the devices with the serial number 1001';
	expect(await watching.poll()).toBeNull();
	expect(warnings()).toEqual([only]);
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

it('logs that events may come later if the list changes at each reading', async () => {
	const watching = await watch({ events: ['deviceRemoved'], options: { pageSize: 50 } });
	bench.platform.settings.beforeAnswer = () => void bench.platform.fleet.add();
	expect(await watching.poll()).toBeNull();
	const words = 'may report events later, because the list kept changing';
	expect(warnings()).toEqual([`The trigger "Watch" ${words}`]);
});
