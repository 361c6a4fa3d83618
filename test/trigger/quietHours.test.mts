import { readPage } from '../../testbed/pages.mts';
import { HOUR, told, useTrigger } from './watching.mts';

const { clock, change, watch } = useTrigger();

const MINUTE = 60_000;

/** Milliseconds of a day at which the schedule of docs/watch.md polls. */
function pollTimes(): number[] {
	const [, minutes, from, to] = /`0 \*\/(\d+) (\d+)-(\d+) \* \* \*`/.exec(readPage('docs/watch.md')) ?? [];
	const hours = Array.from({ length: Number(to) - Number(from) + 1 }, (_, at) => Number(from) + at);
	return hours.flatMap((hour) =>
		Array.from({ length: 60 / Number(minutes) }, (_, at) => hour * HOUR + at * Number(minutes) * MINUTE),
	);
}

test.each([0, 15])(
	'the first morning after quiet hours reports the night once, with %i minutes to wait',
	async (forAtLeast) => {
		const midnight = clock.now;
		clock.now = midnight + 21 * HOUR;
		const rule = [{ field: 'onlineStatus', from: '', to: '0' }];
		const stays = change(10, { onlineStatus: 1 });
		change(20, { onlineStatus: 1 });
		const watching = await watch({ events: ['onlineStatusChanged'], conditions: { rule }, forAtLeast });
		const reports: string[] = [];
		const pollAt = async (time: number) => {
			clock.now = time;
			for (const event of told(await watching.poll())) reports.push(`${event} at ${(time - midnight) / HOUR}`);
		};
		for (const time of pollTimes().filter((each) => each > 21 * HOUR)) await pollAt(midnight + time);
		change(10, { onlineStatus: 0 });
		change(20, { onlineStatus: 0 });
		change(20, { onlineStatus: 1 });
		for (const day of [1, 2]) for (const time of pollTimes()) await pollAt(midnight + day * 24 * HOUR + time);
		expect(reports).toEqual([`onlineStatusChanged ${stays} at ${24 + 7 + forAtLeast / 60}`]);
	},
);
