import offlineTickets from '../../examples/offline-tickets.json' with { type: 'json' };
import type { Device } from '../../testbed/platform/fleet.mts';
import type { HostLetter } from '../../testbed/watch.mts';
import type { Setting } from '../../testbed/trigger/observer.mts';
import { Run } from '../../testbed/trigger/run.mts';
import { SAMPLES } from '../../testbed/trigger/samples.mts';
import { inWorld, MINUTE, START } from '../../testbed/trigger/world.mts';

/**
 * What is reported of a device, when, on each host of n8n, if the fleet is polled each minute: a new value has to last for 15 minutes,
 * and a rule with 'To' and without 'From' asks for a state, so a device that appears in it is reported.
 */

const TO_0 = { from: '', to: '0' };
const FROM_1 = { from: '1', to: '0' };
/** The rule by which the example closes tickets. */
const [, closes] = offlineTickets.nodes[0]?.parameters.conditions?.rule ?? [];
const CLOSES = { rule: { from: '', to: '', ...closes } };
const BOTH = { events: ['deviceCreated', 'onlineStatusChanged'] };

/** A step is so many polls, or what happens. A report is the minute, and the previous and the current value or the event. */
type Row = [words: string, steps: string, told: string | Record<HostLetter, string>, setting?: Partial<Setting>];

/** The device is the first one. */
const set =
	(changes: Partial<Device>, position = 0) =>
	({ world }: Pick<Run, 'world'>) =>
		world.edit(position, changes, false);
const setAll =
	(changes: Partial<Device>) =>
	({ world: { fleet } }: Pick<Run, 'world'>) =>
		fleet.devices.forEach(({ sn }) => fleet.update(sn, changes));
const publish = (changes: Partial<Setting>) => async (run: Run) => {
	run.setting = { ...run.setting, ...changes };
	await run.register('update');
};
const ACTIONS: Readonly<Record<string, (run: Run) => Promise<void> | void>> = {
	online: set({ onlineStatus: 1 }),
	offline: set({ onlineStatus: 0 }),
	leaves: set({ tags: [] }),
	returns: set({ tags: ['a'] }),
	...Object.fromEntries(SAMPLES.groupChanged.changes.map((moved) => [`moves to ${moved.group?.name}`, set(moved)])),
	'is removed': ({ world }) => void world.remove(0),
	'another value': set({ onlineStatus: -1 }),
	'another is new': ({ world }) => {
		const sn = `NEW-${world.now}`;
		world.add(0, 7, sn);
		world.fleet.update(sn, { onlineStatus: 1, tags: ['a'] });
	},
	'empty list': setAll({ tags: [] }),
	'whole list': setAll({ tags: ['a'] }),
	'publish without a rule': publish({ rule: undefined }),
	'publish with From': publish({ rule: FROM_1 }),
	'publish another event': publish({ events: ['onlineStatusChanged', 'statusChanged'] }),
	restart: (run) => run.restart('init'),
	'another main process': (run) => run.changeMain(),
	'a failed poll': (run) => run.poll(1, 1),
	'a night': ({ world }) => void (world.now += 480 * MINUTE),
	'a lost poll': (run) => run.slowPoll([], 0, false, 'update'),
};

async function take(run: Run, step: string): Promise<void> {
	const act = ACTIONS[step];
	if (act !== undefined) return await act(run);
	if (!/^\d+$/.test(step)) throw new Error(`There is no step '${step}'`);
	for (let poll = 0; poll < Number(step); poll++) await run.poll(1);
}

const APPEARS: Row[] = [
	['appears', '0', '16: null → 0'],
	['appears, with a rule that has From', '0', '', { rule: FROM_1 }],
	['appears, with an empty rule', '0', '', { rule: { from: '', to: '' } }],
	['appears, without a rule', '0', '', { rule: undefined }],
	['is online in between, and counts again', '5, online, 2, offline', '23: 1 → 0'],
	[
		'is seen before a restart: the default host counts again',
		'10, restart, 20, restart',
		{ A: '25: null → 0', B: '26: null → 0', C: '16: null → 0' },
	],
	['is created: its state has to last', '0', '1: deviceCreated, 16: null → 0', BOTH],
	['is missing for 61 minutes', '20, leaves, 61, returns', '16: null → 0'],
	['is missing for one poll while it has to last', '5, leaves, 1, returns', '22: null → 0'],
	['is seen before its rule is removed', '5, publish without a rule, 30, online, 20, offline', '51: 0 → 1, 71: 1 → 0'],
	['is seen before its rule gets a From', '5, publish with From, 30, online, 20, offline', '71: 1 → 0'],
	[
		'is in the first list with devices, also of a new baseline',
		'empty list, publish another event, 2, whole list, 20, empty list, 2, whole list',
		'',
	],
];

/** A hold that n8n saved with an event is as old as that event. On the default host, the device may have come back since. */
const SAVED_HOLD = 'offline, another is new, 14';
const GOES_ON = '1: deviceCreated, 16: 1 → 0';
const KNOWN: Row[] = [
	[
		'is back, with another value in between, which closes its ticket',
		'offline, 20, another value, 20, online',
		'56: -1 → 1',
		CLOSES,
	],
	[
		'is back, after the list lacked it for 70 minutes, which closes its ticket',
		'offline, 20, leaves, 70, online, returns',
		'106: 0 → 1',
		CLOSES,
	],
	['is offline in the morning, after a night without polls', 'offline, a night', '496: 1 → 0', { rule: TO_0 }],
	['comes back each time', 'offline, 14, online, 1, offline, 14, online', ''],
	[
		'came back before a restart, which only quiet polls saw',
		// Later polls of the process wait in both directions.
		'offline, 16, online, 30, restart, 5, offline, 16, online, 1, offline',
		'16: 1 → 0, 67: 1 → 0',
		{ rule: FROM_1 },
	],
	['is offline before a restart: the default host counts again', `${SAVED_HOLD}, restart`, GOES_ON, BOTH],
	['is offline before another main process polls', `${SAVED_HOLD}, another main process`, GOES_ON, BOTH],
	[
		'has an older value again, which another main process saw: with durable cursors, both know it',
		'another value, 1, another main process, online, 1, another main process, offline',
		{ A: '3: 1 → 0', B: '3: -1 → 0', C: '3: 1 → 0' },
		{ holdMinutes: 0, rule: TO_0 },
	],
];

/** It is in the group A. Only devices of this group are watched. */
const IN_A = { events: ['groupChanged', 'onlineStatusChanged', 'deviceRemoved'], own: { group: ' a' }, holdMinutes: 0 };
const IN_GROUP: Row[] = [
	['leaves the group, and returns from another', 'moves to B, 1, moves to C, 1, moves to A', '1: A → B, 3: C → A'],
	['leaves the group for less than it has to last', 'moves to B, 14, moves to A', '', { holdMinutes: 15 }],
	['leaves the group', 'moves to B, offline', '16: A → B', { holdMinutes: 15 }],
	[
		'enters the group',
		'moves to B, 20, moves to A, 10, offline',
		'16: A → B, 36: B → A, 46: 1 → 0',
		{ holdMinutes: 15 },
	],
	[
		'leaves the filter and enters it, if rules ask for both states',
		'offline, 1, online, 1, offline',
		'1: 1 → 0, 2: 0 → 1, 3: 1 → 0',
		{ own: { onlineStatus: 1 }, rule: [TO_0, { from: '', to: '1' }] },
	],
	['leaves the group, and is removed', 'moves to B, 1, is removed', '1: A → B'],
	['is removed from the group', 'is removed', '1: deviceRemoved'],
	['changes while it is not in the group', 'moves to B, 1, offline, 1, moves to A', '1: A → B, 3: 1 → 0, 3: B → A'],
	['enters the group offline', 'moves to B, 1, offline, 1, moves to A', '1: A → B, 3: 1 → 0, 3: B → A', { rule: TO_0 }],
	['leaves the group, which is not watched', 'moves to B, offline', '', { events: ['onlineStatusChanged'] }],
	[
		'was reported, leaves the group and returns',
		'offline, 1, moves to B, 90, moves to A, 1, restart',
		'1: 1 → 0',
		{ events: ['onlineStatusChanged'], rule: TO_0 },
	],
];

/** It is offline at the first poll, which reports states. */
const LISTED: Row[] = [
	['is offline', '0', '15: null → 0'],
	['is offline, and must not last', '1, online, 1, offline', '0: null → 0, 3: 1 → 0', { holdMinutes: 0 }],
	['is offline, and comes back', '5, online', ''],
	['is offline, and does not match the rule', '0', '', { rule: { from: '', to: '2' } }],
	['is offline, also if polls fail', 'a failed poll, 10, a failed poll', '15: null → 0'],
	['is offline, and n8n does not take the report', '14, a lost poll', '16: null → 0'],
	['is offline in the first list with devices', 'empty list, publish another event, 2, whole list', '18: null → 0'],
];

/** What n8n took. */
const toldBy = ({ watching }: Run): string =>
	watching.database.executions
		.flat()
		.map(({ json: { event, field, previous, current, detectedAt } }) => {
			const minute = (Date.parse(String(detectedAt)) - START) / MINUTE;
			return `${minute}: ${field === undefined ? event : `${previous} → ${current}`}`;
		})
		.join(', ');

const rowsOf = (kind: string, rows: Row[]) =>
	rows.map(([words, steps, expected, changes = {}]) => [kind, words, steps, expected, changes] as const);

describe.each<HostLetter>(['A', 'B', 'C'])('on host %s, it is reported when a device', (host) => {
	it.each([
		...rowsOf('unknown', APPEARS),
		...rowsOf('known', KNOWN),
		...rowsOf('in a group', IN_GROUP),
		...rowsOf('listed first', LISTED),
	])('%s; %s', async (kind, _, steps, expected, changes) => {
		await inWorld(async (world) => {
			setAll({ onlineStatus: 1, tags: ['a'] })({ world });
			const defaults = { events: ['onlineStatusChanged'], tag: 'a', holdMinutes: 15 };
			const first = kind === 'listed first' ? { firstPoll: 'report' as const } : {};
			const rule = kind === 'unknown' || kind === 'listed first' ? TO_0 : undefined;
			const own = kind === 'in a group' ? IN_A : {};
			const run = new Run(host, { ...defaults, ...first, rule, ...own, ...changes }, world, false);
			const appear = () => world.edit(0, { onlineStatus: 0, tags: ['a'] }, false);
			if (kind === 'listed first') appear();
			await run.register('activate');
			if (kind === 'unknown') {
				world.add(600);
				appear();
			}
			for (const step of `${steps}, 20`.split(', ')) await take(run, step);
			expect(toldBy(run)).toBe(typeof expected === 'string' ? expected : expected[host]);
		});
	});
});
