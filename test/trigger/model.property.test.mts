import fc from 'fast-check';
import type { WorkflowActivateMode } from 'n8n-workflow';

import { EVENTS } from '../../nodes/DeviceManagement/trigger/changes/watched.ts';
import { runs } from '../../testbed/runs.mts';
import type { HostLetter } from '../../testbed/watch.mts';
import type { Limit } from '../../testbed/trigger/crossings.mts';
import type { Setting } from '../../testbed/trigger/observer.mts';
import { Run } from '../../testbed/trigger/run.mts';
import { SAMPLES } from '../../testbed/trigger/samples.mts';
import { inWorld, MINUTE } from '../../testbed/trigger/world.mts';

/** Random sequences of what can happen to a fleet, to polls and to n8n. After each poll, run.mts checks what was handed over. */

interface Step {
	run(run: Run): Promise<void>;
	toString(): string;
}

/** Something that happens, with arguments by chance. */
const step = <Arguments extends unknown[]>(
	name: string,
	args: { [Key in keyof Arguments]: fc.Arbitrary<Arguments[Key]> },
	happen: (run: Run, ...args: Arguments) => unknown,
): fc.Arbitrary<Step> =>
	fc.tuple<Arguments>(...args).map((values) => ({
		run: async (run) => void (await happen(run, ...values)),
		toString: () => `${name}(${values.map((value) => fc.stringify(value)).join(', ')})`,
	}));

const at = fc.nat({ max: 7 });

const battery = fc.constantFrom(25, 19, 18.5, '9', 20, '-1', 31, null, '', '19 %');
const withBattery = (value: string | number | null) => ({ attributes: { firmware: '1', battery: value } });

/** What happens to the platform or to time. */
const happening: fc.Arbitrary<Step> = fc.oneof(
	step('add', [fc.nat({ max: 59 }), at], ({ world }, minutesAgo, position) => world.add(minutesAgo, position)),
	...Object.values(SAMPLES).map(({ changes }) =>
		step('change', [at, fc.constantFrom(...changes), fc.boolean()], ({ world }, ...args) => world.edit(...args)),
	),
	step('battery', [at, battery], ({ world }, position, value) => world.edit(position, withBattery(value))),
	step('tags', [at, fc.constantFrom<string[]>(['a'], [], ['b'])], ({ world }, position, tags) =>
		world.edit(position, { tags }),
	),
	// Often the same devices, into and out of a filter.
	{
		weight: 5,
		arbitrary: step(
			'move',
			[fc.nat({ max: 1 }), fc.constantFrom(...SAMPLES.groupChanged.changes)],
			({ world }, ...args) => world.edit(...args),
		),
	},
	step('remove', [at], ({ world }, position) => world.remove(position)),
	step('replace', [at], ({ world }, position) => {
		const gone = world.remove(position);
		if (gone !== undefined) world.add(0, 0, gone.sn);
	}),
	step('date', [at, fc.constantFrom('createTime', 'updateTime')], ({ world }, position, field) =>
		world.edit(position, { [field]: world.time() }, false),
	),
	step('skew', [fc.integer({ min: -30, max: 30 })], ({ world }, minutes) => (world.skew = minutes)),
	step('wait', [fc.integer({ min: 1, max: 300 })], ({ world }, minutes) => (world.now += minutes * MINUTE)),
);

const EVENT_NAMES: string[] = EVENTS.map(({ name }) => name);
const setting: fc.Arbitrary<Setting> = fc.record({
	events: fc.oneof(fc.constant(EVENT_NAMES), fc.subarray(EVENT_NAMES, { minLength: 1 })),
	tag: fc.option(fc.constant('a'), { nil: undefined, freq: 3 }),
	own: fc.constantFrom(undefined, { group: ' a ' }, { group: 'A', onlineStatus: 0 }, { onlineStatus: 1 }),
	limits: fc.constantFrom<Setting['limits'][]>(
		undefined,
		[{ mode: 'below', value: 20 }],
		[
			{ mode: 'below', value: 20 },
			{ mode: 'above', value: 30 },
			{ mode: 'below', value: 10 },
		],
	),
});
/** A battery that has to be low for some minutes, in a trigger that watches no other value. */
const patient: fc.Arbitrary<Setting> = fc.record({
	events: fc.constantFrom(['attributeChanged'], ['attributeChanged', 'deviceCreated', 'deviceRemoved']),
	tag: fc.option(fc.constant('a'), { nil: undefined, freq: 3 }),
	own: fc.constantFrom(undefined, { group: 'A' }),
	limits: fc.constantFrom<Limit[]>(
		[{ mode: 'below', value: 20 }],
		[
			{ mode: 'below', value: 20 },
			{ mode: 'above', value: 30 },
		],
	),
	holdMinutes: fc.constantFrom(1, 2, 3, 60),
	firstPoll: fc.constantFrom(undefined, 'report'),
});
const otherSetting = fc.oneof(
	fc.constantFrom<Partial<Setting>>({ tag: 'a' }, { tag: undefined }, { own: { group: 'B' } }, { own: undefined }),
	fc.subarray(EVENT_NAMES, { minLength: 1 }).map((events) => ({ events })),
);

const poll = step('poll', [fc.nat({ max: 2 })], (run, minutes) => run.poll(minutes));
const happenings = step('happen', [fc.array(happening, { minLength: 1, maxLength: 3 })], async (run, several) => {
	for (const one of several) await one.run(run);
});
const mode = fc.constantFrom<WorkflowActivateMode[]>('init', 'activate', 'update');

const anything = fc.oneof(
	{ weight: 4, arbitrary: happenings },
	{ weight: 4, arbitrary: poll },
	// What a device says from poll to poll.
	{
		weight: 2,
		arbitrary: step('batteries', [fc.array(battery, { minLength: 2, maxLength: 6 })], async (run, values) => {
			for (const value of values) {
				run.world.edit(0, withBattery(value));
				await run.poll(1);
			}
		}),
	},
	step('failedPoll', [fc.integer({ min: 1, max: 3 })], (run, failAt) => run.poll(1, failAt)),
	step('discardedPoll', [], (run) => run.poll(1, undefined, !run.isInMemory)),
	step(
		'slowPoll',
		[
			fc.array(happening, { maxLength: 3 }),
			fc.constantFrom(0, 0, 1, 2, 10),
			fc.boolean(),
			fc.constantFrom(undefined, undefined, 'update', 'leadershipChange'),
		],
		(run, ...args) => run.slowPoll(...args),
	),
	step('restart', [mode], (run, how) => run.restart(how)),
	step('changeMain', [], (run) => run.changeMain()),
	step('refuseMissing', [fc.boolean()], ({ world }, refuses) => (world.refusesMissing = refuses)),
	step('rewind', [fc.nat({ max: 3 })], (run, back) => run.rewind(back)),
	step('publish', [otherSetting], async (run, { events, ...changes }) => {
		// The observer knows of a wait for the battery only.
		const others = events && run.setting.holdMinutes === undefined ? { events } : {};
		run.setting = { ...run.setting, ...changes, ...others };
		await run.register('update');
	}),
);

const HOSTS = [
	['the default host, which keeps the state in memory', 'A'],
	['the durable scheduler, which reads the state afresh at each poll', 'B'],
	['durable cursors, which keep every state', 'C'],
] as const;
it.each<[string, HostLetter, string, fc.Arbitrary<Setting>]>(
	HOSTS.flatMap(([name, host]) => [
		[name, host, '', setting],
		[name, host, ' of a value that has to last', patient],
	]),
)(
	'on %s (%s), it hands over what a perfect observer would tell%s',
	async (_name, host, _what, setting) => {
		const steps = fc.array(anything, { maxLength: 20, size: 'max' });
		await fc.assert(
			fc.asyncProperty(setting, steps, async (chosen, sequence) => {
				await inWorld(async (world) => {
					const run = new Run(host, chosen, world, true);
					await run.register('activate');
					for (const each of sequence) await each.run(run);
					// At the latest now, what failed polls left.
					world.refusesMissing = false;
					for (const minutes of [1, 61]) await run.poll(minutes);
				});
			}),
			runs(500),
		);
	},
	600_000,
);
