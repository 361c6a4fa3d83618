import { Fleet } from '../../testbed/platform/fleet.mts';
import { removedEvent } from '../../nodes/DeviceManagement/trigger/events.ts';
import { type Entry, step, type StepOptions } from '../../nodes/DeviceManagement/trigger/step.ts';
import { keepValue } from '../../nodes/DeviceManagement/trigger/values.ts';
import { watchedFields } from '../../nodes/DeviceManagement/trigger/watched.ts';
import { changeOf, SAMPLES } from './samples.mts';

const optionsOf = (
	events: Parameters<typeof watchedFields>[0],
	keys: string[] = [],
	rules: StepOptions['rules'] = [],
) =>
	({
		...{
			events: new Set(),
			fields: watchedFields(events, keys),
			rules,
			own: undefined,
			holdSeconds: 60,
			now: 0,
			number: 1,
		},
		...{ since: '2026-01-01', isFirstList: false, reportsFirst: false, isFirstOfProcess: false },
	}) satisfies StepOptions;

it('with For At Least, a new value lasts apart from that of another field, and no longer if the clock was set back', () => {
	const options = optionsOf(new Set(['attributeChanged']), ['0', '1']);
	let before: Entry | undefined;
	// At these seconds, the device has these values. A value has to last a minute.
	const seen: Array<[number, number[]]> = [
		[0, [1, 1]],
		[9000, [0, 1]],
		[100, [0, 1]],
		[150, [0, 0]],
		[160, [0, 0]],
		[210, [0, 0]],
	];
	const reported = seen.flatMap(([now, values]) => {
		const { entry, events } = step(before, { sn: 'A', attributes: { ...values } }, true, { ...options, now });
		before = entry;
		return events.map(({ field, previous, current }) => `${now} ${field}: ${previous} → ${current}`);
	});
	expect(reported).toEqual(['160 attributes.0: 1 → 0', '210 attributes.1: 1 → 0']);
});

it('what did not change is the same object, so that a fleet needs little memory and its state stays the same text', () => {
	const options = optionsOf(new Set(['statusChanged']));
	const { entry } = step(undefined, { sn: 'A', status: 1 }, true, options);
	expect(step(entry, { sn: 'B', status: 1 }, true, options).entry).toBe(entry);
	expect(step(entry, { sn: 'B', status: '1' }, true, options)).toEqual({
		entry: { values: { status: '1' } },
		events: [],
	});
});

it('a group changes with its ID, or without one with its name, and events show its name', () => {
	const options = { ...optionsOf(new Set(['groupChanged'])), holdSeconds: 0 };
	let entry: Entry | undefined;
	const look = (id: unknown, name: string | null) => {
		const after = step(entry, { sn: 'A', group: name === null ? null : Object({ id, name }) }, true, options);
		entry = after.entry;
		return after.events.map(({ previous, current }) => `${previous} → ${current}`).join();
	};
	const told = [
		look('1', 'Hamburg'),
		look('1', 'Berlin'),
		look('2', 'Berlin'),
		look(undefined, 'Kiel'),
		look('', null),
	];
	expect(told).toEqual(['', '', 'Berlin → Berlin', 'Berlin → Kiel', 'Kiel → null']);
});

it('shows the last value of every field in a removed device, unless it was long', () => {
	const device = Fleet.seeded({ size: 1 }).at(0);
	const changed = { ...device, ...changeOf(device) };
	const fields = watchedFields(new Set(Object.keys(SAMPLES)), ['firmware']);
	const values = Object.fromEntries(fields.map((field) => [field.name, keepValue(field, changed)]));
	const shown = { ...device, ...removedEvent('A', values, fields, 1).device };
	for (const { field, valueOf: see } of Object.values(SAMPLES))
		expect([field, see(shown)]).toEqual([field, see(changed)]);
	expect(removedEvent('A', { status: { digest: 'x' } }, fields, 1).device).toEqual({ sn: 'A' });
});
