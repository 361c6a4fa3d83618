/**
 * A fleet that is polled each minute on each host of n8n, and what is reported of one device, when: a new value has to last for 15
 * minutes, and a rule with 'To' and without 'From' asks for a state, so a device that appears in it is reported. Random
 * sequences are in model.property.test.mts.
 */
import type { IDataObject, WorkflowActivateMode } from 'n8n-workflow';

import { forgetPolls } from '../../nodes/DeviceManagement/trigger/memory.ts';
import { type Device, Fleet } from '../../testbed/platform/fleet.mts';
import type { HostLetter, Watch } from '../../testbed/watch.mts';
import { held, LATER, useTrigger } from './watching.mts';

const { bench, clock, watch } = useTrigger();
const TO_0 = { field: 'onlineStatus', to: '0' };
const FROM_1 = { ...TO_0, from: '1' };
const BOTH = { events: ['deviceCreated', 'onlineStatusChanged'] };

type Action = keyof typeof ACTIONS;
/** So many polls, what happens, or how the process starts again. */
type Step = number | Action | { device?: Partial<Device>; publish?: IDataObject; restart?: WorkflowActivateMode };
/** Minute, and previous and current value or event; `again`: with the id of an item that n8n did not take. */
type Told = string[];
type Row = [words: string, parameters: IDataObject, steps: Step[], told: Told | Record<HostLetter, Told>];

class Story {
	readonly told: Told = [];
	minute = 0;
	private readonly lost = new Set<unknown>();
	private readonly devices: readonly Device[];

	constructor(
		readonly watching: Watch,
		private readonly sn: string,
	) {
		this.devices = [...bench.platform.fleet.devices];
	}

	async run(steps: readonly Step[]): Promise<void> {
		for (const step of steps) {
			if (typeof step === 'number') await this.polls(step);
			else if (typeof step === 'string') await ACTIONS[step](this);
			else if (step.restart !== undefined) await this.activate(step.restart, true);
			else if (step.publish !== undefined) {
				Object.assign(this.watching.parameters, step.publish);
				await this.activate('update');
			} else this.set(step.device ?? {});
		}
	}

	set(changes: Partial<Device>, sn = this.sn): void {
		bench.platform.fleet.update(sn, changes);
	}

	setOther(changes: Partial<Device>): void {
		this.set(changes, bench.platform.fleet.at(2).sn);
	}

	list(isEmpty: boolean): void {
		bench.platform.fleet = new Fleet(isEmpty ? [] : this.devices);
	}

	async activate(mode: WorkflowActivateMode, isNewProcess = false): Promise<void> {
		if (isNewProcess) forgetPolls();
		this.tell(await this.watching.activate(mode));
	}

	/** Another main process polls from now on. On the default host, it is the new leader. */
	async changeMain(): Promise<void> {
		if (this.watching.options.host === 'A') await this.activate('leadershipChange');
		else forgetPolls();
	}

	/** A poll whose items n8n does not take. The default host discards them if the workflow is published meanwhile. */
	async losePoll(mode: WorkflowActivateMode = 'update'): Promise<void> {
		this.pass();
		const { released, release } = held();
		bench.platform.intervene = async () => await released;
		const tick = this.watching.host.tick();
		if (this.watching.options.host === 'A') await this.activate(mode);
		else tick.abandon();
		release();
		bench.platform.intervene = undefined;
		const end = await tick.done;
		for (const { json } of ('items' in end ? end.items : null) ?? []) this.lost.add(json['eventId']);
	}

	private pass(): void {
		this.minute++;
		clock.now += 60_000;
	}

	private async polls(count: number): Promise<void> {
		for (let poll = 0; poll < count; poll++) {
			this.pass();
			this.tell(await this.watching.poll());
		}
	}

	private tell(items: IDataObject[] | null): void {
		for (const { event, previous, current, eventId } of items ?? []) {
			const what = event === 'onlineStatusChanged' ? `${previous} → ${current}` : event;
			this.told.push(`${this.minute}: ${what}${this.lost.has(eventId) ? ', again' : ''}`);
		}
	}
}

const ACTIONS = {
	online: (story: Story) => story.set({ onlineStatus: 1 }),
	offline: (story: Story) => story.set({ onlineStatus: 0 }),
	leaves: (story: Story) => story.set({ tags: [] }),
	returns: (story: Story) => story.set({ tags: ['a'] }),
	'is dated now': (story: Story) => story.set({ createTime: LATER }),
	'another is new': (story: Story) => story.setOther({ createTime: LATER }),
	'another is offline': (story: Story) => story.setOther({ onlineStatus: 0 }),
	'another leaves': (story: Story) => story.setOther({ tags: [] }),
	'another returns': (story: Story) => story.setOther({ tags: ['a'] }),
	'empty list': (story: Story) => story.list(true),
	'whole list': (story: Story) => story.list(false),
	restart: (story: Story) => story.activate('init', true),
	'another main process': (story: Story) => story.changeMain(),
	'a lost poll': (story: Story) => story.losePoll(),
	'a leader during a poll': (story: Story) => story.losePoll('leadershipChange'),
};

/** Publishes for three online devices. The device that the story is about is one of them, or appears offline after it. */
async function begin(host: HostLetter, parameters: IDataObject, isKnown: boolean): Promise<Story> {
	const fleet = Fleet.seeded({ size: 3 });
	bench.platform.fleet = fleet;
	for (const { sn } of fleet.devices) fleet.update(sn, { onlineStatus: 1, tags: ['a'] });
	const defaults = { events: ['onlineStatusChanged'], forAtLeast: 15, filters: { tags: 'a' } };
	const watching = await watch({ ...defaults, ...parameters }, { host });
	const old = { tags: ['a'], createTime: '2020-01-01 00:00:00', updateTime: null, onlineStatus: 0 };
	const { sn } = isKnown ? fleet.at(0) : fleet.add(fleet.make(old));
	return new Story(watching, sn);
}

const APPEARS: Row[] = [
	['appears', {}, [], ['16: null → 0']],
	['appears, with a rule that has From', { conditions: { rule: [FROM_1] } }, [], []],
	['appears, with an empty rule', { conditions: { rule: [{ field: 'onlineStatus' }] } }, [], []],
	['appears, without a rule', { conditions: {} }, [], []],
	['is online in between, and counts again', {}, [5, 'online', 2, 'offline'], ['23: null → 0']],
	[
		'is seen before a restart: the default host counts again',
		{},
		[10, 'restart', 20, 'restart'],
		{ A: ['25: null → 0'], B: ['26: null → 0'], C: ['16: null → 0'] },
	],
	[
		'is seen before another main process polls, and before the first one polls again',
		{},
		[10, 'another main process', 30, 'another main process'],
		{ A: ['25: null → 0'], B: ['26: null → 0'], C: ['16: null → 0'] },
	],
	[
		'is reported as created a minute later: the time goes on',
		BOTH,
		[1, 'is dated now'],
		['2: deviceCreated', '16: null → 0'],
	],
	[
		'is reported as created after its state: that is not reported again',
		BOTH,
		[20, 'is dated now'],
		['16: null → 0', '21: deviceCreated'],
	],
	['is missing for 59 minutes', {}, [20, 'leaves', 59, 'returns'], ['16: null → 0']],
	['is missing for 61 minutes', {}, [20, 'leaves', 61, 'returns'], ['16: null → 0', '97: null → 0']],
	['is missing for one poll while it has to last', {}, [5, 'leaves', 1, 'returns'], ['22: null → 0']],
	[
		'is missing before a restart, which the default hosts did not save',
		{ events: ['onlineStatusChanged', 'deviceRemoved'] },
		[20, 'leaves', 1, 'restart', 'returns'],
		['16: null → 0'],
	],
	[
		'comes back in a quiet poll, more than an hour before a restart that forgets it',
		{ forAtLeast: 0 },
		[1, 'leaves', 'another is offline', 1, 'returns', 61, 'restart'],
		['1: null → 0', '2: 1 → 0'],
	],
	...[[], [{ field: 'onlineStatus' }]].map(
		(rule): Row => [
			`is seen before the rules become ${JSON.stringify(rule)}`,
			{},
			[5, { publish: { conditions: { rule } } }, 30, 'online', 20, 'offline'],
			['51: 0 → 1', '71: 1 → 0'],
		],
	),
	[
		'is seen before its rule gets a From',
		{},
		[5, { publish: { conditions: { rule: [FROM_1] } } }, 30, 'online', 20, 'offline'],
		['71: 1 → 0'],
	],
	[
		'is reported again if n8n does not take it; a missing one stays remembered',
		{},
		[15, 'another leaves', 'a lost poll', 'another returns'],
		['17: null → 0, again'],
	],
	[
		'is in the first list with devices, also of a new baseline',
		{},
		[
			...(['empty list', { publish: { events: ['onlineStatusChanged', 'statusChanged'] } }, 2, 'whole list'] as const),
			...([20, 'empty list', 2, 'whole list'] as const),
		],
		[],
	],
];

/** A hold that n8n saved with an event is as old as that event. On the default host, the device may have come back since. */
const SAVED_HOLD: Step[] = ['offline', 'another is new', 14];
const STARTS_AGAIN = {
	A: ['1: deviceCreated', '29: 1 → 0'],
	B: ['1: deviceCreated', '16: 1 → 0'],
	C: ['1: deviceCreated', '16: 1 → 0'],
};
const KNOWN: Row[] = [
	['comes back each time', {}, ['offline', 14, 'online', 1, 'offline', 14, 'online'], []],
	[
		'came back before a restart, which only quiet polls saw',
		{ conditions: { rule: [FROM_1] } },
		// Later polls of the process wait in both directions.
		['offline', 16, 'online', 30, 'restart', 5, 'offline', 16, 'online', 1, 'offline'],
		['16: 1 → 0', '67: 1 → 0'],
	],
	[
		'came back in a poll whose items n8n does not take',
		BOTH,
		['offline', 14, 'online', 'another is new', 'a lost poll', 'offline'],
		['16: deviceCreated, again', '31: 1 → 0'],
	],
	...(['init', 'activate', 'update'] as const).map(
		(restart): Row => [
			`is offline before a restart in mode ${restart}: the default host counts again`,
			BOTH,
			[...SAVED_HOLD, { restart }],
			STARTS_AGAIN,
		],
	),
	[
		'is offline before another main process polls, also during a poll',
		{},
		['offline', 14, 'a leader during a poll'],
		{ A: ['31: 1 → 0'], B: ['16: 1 → 0'], C: ['16: 1 → 0'] },
	],
	['is offline before another main process polls', BOTH, [...SAVED_HOLD, 'another main process'], STARTS_AGAIN],
];

describe.each<HostLetter>(['A', 'B', 'C'])('on host %s, it is reported when a device', (host) => {
	it.each([...APPEARS.map((row) => [false, ...row] as const), ...KNOWN.map((row) => [true, ...row] as const)])(
		'known before: %p; %s',
		async (isKnown, _, parameters, steps, expected) => {
			const defaults = isKnown ? {} : { conditions: { rule: [TO_0] } };
			const story = await begin(host, { ...defaults, ...parameters }, isKnown);
			await story.run([...steps, 20]);
			expect(story.told).toEqual(Array.isArray(expected) ? expected : expected[host]);
		},
	);
});
