import type { IDataObject } from 'n8n-workflow';

import { forgetPolls } from '../../nodes/DeviceManagement/trigger/memory.ts';
import { useBareBench, useStillClock } from '../../testbed/jest.mts';
import { type Device, Fleet } from '../../testbed/platform/fleet.mts';
import { type HostLetter, Watch } from '../../testbed/watch.mts';

/** A rule with 'To' and without 'From' asks for a state: a device that appears in it is reported, once it has lasted. */

const bench = useBareBench();
const clock = useStillClock();
const TO_0 = { field: 'onlineStatus', to: '0' };

/** A fleet that is polled each minute, with the devices that were reported and when. */
class Story {
	readonly told: unknown[][] = [];
	private minute = 0;

	constructor(
		readonly watching: Watch,
		readonly device: Device,
	) {}

	get fleet(): Fleet {
		return bench.platform.fleet;
	}

	set(changes: Partial<Device>): void {
		this.fleet.update(this.device.sn, changes);
	}

	/** The device is missing in the list, or comes back. */
	toggle(isListed: boolean): void {
		this.set({ tags: isListed ? ['a'] : [] });
	}

	tell(items: IDataObject[] | null): void {
		for (const { event, previous, current } of items ?? [])
			this.told.push([this.minute, ...(event === 'onlineStatusChanged' ? [previous, current] : [event])]);
	}

	pass(minutes = 1): void {
		this.minute += minutes;
		clock.now += minutes * 60_000;
	}

	async polls(count: number): Promise<void> {
		for (let poll = 0; poll < count; poll++) {
			this.pass();
			this.tell(await this.watching.poll());
		}
	}

	async publish(parameters: IDataObject): Promise<void> {
		Object.assign(this.watching.parameters, parameters);
		this.tell(await this.watching.activate('update'));
	}

	/** A poll whose items n8n does not take. Returns the ids of these items. */
	async lostPoll(): Promise<unknown[]> {
		this.pass();
		const tick = this.watching.host.tick();
		if (this.watching.options.host === 'A') await this.watching.activate('update');
		else tick.abandon();
		const end = await tick.done;
		return 'items' in end ? (end.items ?? []).map(({ json }) => json['eventId']) : [];
	}
}

/** Publishes for three online devices, and adds an offline one, which the first poll does not see. */
async function begin(host: HostLetter, parameters: IDataObject = {}): Promise<Story> {
	bench.platform.fleet = Fleet.seeded({ size: 3 });
	for (const { sn } of bench.platform.fleet.devices) bench.platform.fleet.update(sn, { onlineStatus: 1, tags: ['a'] });
	const defaults = { events: ['onlineStatusChanged'], forAtLeast: 15, filters: { tags: 'a' } };
	const watching = new Watch(bench, { ...defaults, conditions: { rule: [TO_0] }, ...parameters }, { host });
	expect(await watching.activate()).toBeNull();
	const old = { tags: ['a'], createTime: '2020-01-01 00:00:00', updateTime: null };
	const { sn } = bench.platform.fleet.add(bench.platform.fleet.make({ ...old, onlineStatus: 0 }));
	const device = bench.platform.fleet.get(sn);
	if (device === undefined) throw new Error('No device');
	return new Story(watching, device);
}

type Expected = unknown[][] | Record<HostLetter, unknown[][]>;
const from1 = { ...TO_0, from: '1' };
const onAll = (...told: unknown[][]) => told;

const STORIES: Array<[words: string, parameters: IDataObject, story: (story: Story) => Promise<void>, Expected]> = [
	['appears', {}, async () => {}, onAll([16, null, 0])],
	[
		'appears, with a rule for its return',
		{ conditions: { rule: [TO_0, { field: 'onlineStatus', from: '0', to: '1' }] } },
		async (story) => {
			await story.polls(20);
			story.set({ onlineStatus: 1 });
		},
		onAll([16, null, 0], [36, 0, 1]),
	],
	['appears, with a rule that has From', { conditions: { rule: [from1] } }, async () => {}, []],
	['appears, with an empty rule', { conditions: { rule: [{ field: 'onlineStatus' }] } }, async () => {}, []],
	['appears, without a rule', { conditions: {} }, async () => {}, []],
	[
		'is online in between, and counts again',
		{},
		async (story) => {
			await story.polls(5);
			story.set({ onlineStatus: 1 });
			await story.polls(2);
			story.set({ onlineStatus: 0 });
		},
		onAll([23, null, 0]),
	],
	[
		'is seen before a restart: the default host counts again',
		{},
		async (story) => {
			await story.polls(10);
			story.tell(await story.watching.restart());
			await story.polls(20);
			story.tell(await story.watching.restart());
		},
		{ A: [[25, null, 0]], B: [[26, null, 0]], C: [[16, null, 0]] },
	],
	[
		'is seen before another main process polls, and before the first one polls again',
		{},
		async (story) => {
			for (const minutes of [10, 30]) {
				await story.polls(minutes);
				forgetPolls();
				if (story.watching.options.host === 'A') story.tell(await story.watching.activate('leadershipChange'));
			}
		},
		{ A: [[25, null, 0]], B: [[26, null, 0]], C: [[16, null, 0]] },
	],
	[
		'is created',
		{ events: ['deviceCreated', 'onlineStatusChanged'] },
		async (story) => story.set({ createTime: '2031-01-01 00:00:00' }),
		onAll([1, 'deviceCreated'], [16, null, 0]),
	],
	...[1, 20].map((minutes): (typeof STORIES)[number] => [
		`is reported as created ${minutes} minutes later: the time goes on, or is over`,
		{ events: ['deviceCreated', 'onlineStatusChanged'] },
		async (story) => {
			await story.polls(minutes);
			story.set({ createTime: '2031-01-01 00:00:00' });
		},
		onAll(
			...(minutes < 15
				? [
						[2, 'deviceCreated'],
						[16, null, 0],
					]
				: [
						[16, null, 0],
						[21, 'deviceCreated'],
					]),
		),
	]),
	...[59, 61].map((minutes): (typeof STORIES)[number] => [
		`is missing for ${minutes} minutes`,
		{},
		async (story) => {
			await story.polls(20);
			story.toggle(false);
			await story.polls(minutes);
			story.toggle(true);
		},
		onAll([16, null, 0], ...(minutes < 60 ? [] : [[97, null, 0]])),
	]),
	[
		'is missing for one poll, and comes back with another value',
		{ conditions: {}, forAtLeast: 0 },
		async (story) => {
			await story.polls(1);
			story.toggle(false);
			await story.polls(1);
			story.toggle(true);
			story.set({ onlineStatus: 2 });
		},
		onAll([3, 0, 2]),
	],
	[
		'is missing for one poll while its state has to last: it counts again',
		{},
		async (story) => {
			await story.polls(5);
			story.toggle(false);
			await story.polls(1);
			story.toggle(true);
		},
		onAll([22, null, 0]),
	],
	[
		'is missing before a restart, which the default hosts did not save',
		{ events: ['onlineStatusChanged', 'deviceRemoved'] },
		async (story) => {
			await story.polls(20);
			story.toggle(false);
			await story.polls(1);
			story.tell(await story.watching.restart());
			story.toggle(true);
		},
		onAll([16, null, 0]),
	],
	[
		'comes back in a quiet poll, more than an hour before a restart that forgets it',
		{ forAtLeast: 0 },
		async (story) => {
			await story.polls(1);
			story.toggle(false);
			story.fleet.update(story.fleet.at(1).sn, { onlineStatus: 0 });
			await story.polls(1);
			story.toggle(true);
			await story.polls(61);
			story.tell(await story.watching.restart());
		},
		onAll([1, null, 0], [2, 1, 0]),
	],
	...([[], [from1], [{ field: 'onlineStatus' }]] as IDataObject[][]).map((rule): (typeof STORIES)[number] => [
		`is seen before the rules become ${JSON.stringify(rule)}`,
		{},
		async (story) => {
			await story.polls(5);
			await story.publish({ conditions: { rule } });
			await story.polls(30);
			story.set({ onlineStatus: 1 });
			await story.polls(20);
			story.set({ onlineStatus: 0 });
		},
		onAll(...(rule[0]?.['from'] === '1' ? [] : [[51, 0, 1]]), [71, 1, 0]),
	]),
];

describe.each<HostLetter>(['A', 'B', 'C'])('on host %s, an offline device', (host) => {
	it.each(STORIES)('%s', async (_, parameters, happen, expected) => {
		const story = await begin(host, parameters);
		await happen(story);
		await story.polls(40);
		expect(story.told).toEqual(Array.isArray(expected) ? expected : expected[host]);
	});

	it('is reported again, with the same id, if n8n does not take the items; a missing one stays remembered', async () => {
		const story = await begin(host);
		const other = story.fleet.at(1).sn;
		await story.polls(15);
		story.fleet.update(other, { tags: [] });
		const [lost] = await story.lostPoll();
		story.fleet.update(other, { tags: ['a'] });
		story.pass();
		expect(await story.watching.poll()).toMatchObject([{ eventId: lost, previous: null, current: 0 }]);
		await story.polls(20);
		expect(story.told).toEqual([]);
	});

	it('is not in the first list with devices, nor in a new baseline', async () => {
		const story = await begin(host);
		const devices = [...story.fleet.devices];
		bench.platform.fleet = new Fleet([]);
		await story.publish({ events: ['onlineStatusChanged', 'statusChanged'] });
		await story.polls(2);
		bench.platform.fleet = new Fleet(devices);
		await story.polls(20);
		bench.platform.fleet = new Fleet([]);
		await story.polls(2);
		bench.platform.fleet = new Fleet(devices);
		await story.polls(20);
		expect(story.told).toEqual([]);
	});
});

it('a list that lacks 2,000 of 4,000 devices for one poll leads to no event and no large state', async () => {
	const fleet = Fleet.seeded({ size: 4000 });
	for (const { sn } of fleet.devices) fleet.update(sn, { onlineStatus: 0 });
	bench.platform.fleet = fleet;
	const watching = new Watch(bench, { events: ['onlineStatusChanged'], conditions: { rule: [TO_0] } }, { host: 'C' });
	await watching.activate();
	const length = watching.state?.length ?? 0;
	bench.platform.fleet = new Fleet(fleet.devices.slice(0, 2000));
	expect(await watching.poll()).toBeNull();
	expect(watching.state?.length).toBeLessThan(length * 2);
	const { state } = watching;
	clock.now += 60_000;
	expect([await watching.poll(), watching.state]).toEqual([null, state]);
	bench.platform.fleet = fleet;
	expect(await watching.poll()).toBeNull();
	expect(watching.state?.length).toBeLessThan(length + 10);
});
