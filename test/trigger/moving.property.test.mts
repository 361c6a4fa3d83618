import fc from 'fast-check';

import { forgetPolls } from '../../nodes/DeviceManagement/trigger/memory.ts';
import { BareEngine, stopClock } from '../../testbed/engine/bareNode.mts';
import { Fleet, timeText } from '../../testbed/platform/fleet.mts';
import { InProcessPlatform } from '../../testbed/platform/inProcess.mts';
import type { Settings } from '../../testbed/platform/settings.mts';
import { runs } from '../../testbed/runs.mts';
import { Watch } from '../../testbed/watch.mts';
import { snsOf } from './watching.mts';
import { MINUTE, START, TEMPLATE } from './world.mts';

/** A fleet that changes between any two requests of a poll, the first one too, on platforms that sort and that refuse to. */

/** What happens before a request is answered: devices come, and go, at these positions. */
interface Between {
	added: readonly number[];
	removed: readonly number[];
}

const positions = fc.array(fc.nat({ max: 20 }), { maxLength: 2 });
const between: fc.Arbitrary<Between> = fc.record({ added: positions, removed: positions });
const NOTHING: Between = { added: [], removed: [] };
/** The requests of one poll; those that are not named find the fleet as it is. */
const requests = fc.array(fc.oneof(between, fc.constant(NOTHING)), { maxLength: 12 });
/** The same again and again, as it takes to hide a device from each of several walks. */
const rounds = fc
	.array(fc.constantFrom<Between>({ added: [0], removed: [] }, { added: [], removed: [0] }, NOTHING), {
		minLength: 2,
		maxLength: 5,
	})
	.map((round) => Array.from({ length: 60 }, (_, index) => round[index % round.length] ?? NOTHING));

const setting = fc.record({
	sorting: fc.constantFrom<Array<Settings['sorting']>>('obeyed', 'obeyed', 'obeyed', 'refused'),
	pageSize: fc.integer({ min: 2, max: 6 }),
	size: fc.nat({ max: 25 }),
	/** Minutes between two devices of the beginning. */
	step: fc.constantFrom(0, 1, 1, 20, 300),
	first: fc.oneof(requests, rounds),
	others: fc.array(fc.oneof(requests, rounds), { maxLength: 5 }),
});

it('reports each new device after the first poll once, and no older one, while the list changes during a read', async () => {
	await fc.assert(
		fc.asyncProperty(setting, async ({ sorting, pageSize, size, step, first, others }) => {
			let now = START;
			let number = 0;
			const platform = new InProcessPlatform(new Fleet([]), { sorting });
			const add = (time: number, position = 0) => {
				const id = `SN${number++}`;
				const device = { ...TEMPLATE, id, sn: id, createTime: timeText(time) };
				return platform.fleet.add(device, sorting === 'obeyed' ? 0 : position % (platform.fleet.size + 1)).sn;
			};
			const old = new Set(
				Array.from({ length: size }, (_, index) => add(START - (size - index) * step * MINUTE - MINUTE)),
			);
			const during = new Set<string>();
			const after = new Set<string>();
			let [script, came] = [[...first], during];
			platform.intervene = async () => {
				const { added, removed } = script.shift() ?? NOTHING;
				for (const position of added) came.add(add(now, position));
				for (const position of removed)
					if (platform.fleet.size > 1) platform.fleet.remove(platform.fleet.at(position % platform.fleet.size).sn);
				return undefined;
			};
			forgetPolls();
			const putClockBack = stopClock(() => now);
			const bench = { engine: new BareEngine(platform), apiKey: 'key' };
			const watching = new Watch(bench, { options: { pageSize, maxRetries: 0 } }, { host: 'C' });
			try {
				// A list that outruns its reader fails the poll.
				fc.pre(await succeeds(watching.activate()));
				came = after;
				for (const next of [...others, [], []]) {
					script = [...next];
					now += MINUTE;
					expect((await succeeds(watching.poll())) || next.length > 0).toBe(true);
				}
				// At the latest now, what may come an hour later.
				now += 61 * MINUTE;
				await watching.poll();
			} finally {
				putClockBack();
			}
			const told = snsOf(watching.database.executions.flat().map(({ json }) => json));
			expect(new Set(told).size).toBe(told.length);
			// A device that a removal hid from the first poll may be reported by the next one.
			const isHidden = first.some(({ removed }) => removed.length > 0);
			if (sorting === 'obeyed' && !isHidden) expect(told.filter((sn) => old.has(String(sn)))).toEqual([]);
			const missed = [...after].filter((sn) => platform.fleet.get(sn) !== undefined && !told.includes(sn));
			expect(missed).toEqual([]);
		}),
		runs(500),
	);
}, 600_000);

async function succeeds(poll: Promise<unknown>): Promise<boolean> {
	return await poll.then(
		() => true,
		() => false,
	);
}
