import { Fleet } from '../../testbed/platform/fleet.mts';
import { useTrigger } from './watching.mts';

const { bench, watch, add } = useTrigger();

/** As if each of many devices had a long serial number. */
function addLong(count: number): void {
	const { fleet: few } = bench.platform;
	const device = few.at(0);
	for (let id = 0; id < count; id++) few.add({ ...device, id: `${id}`, sn: `${id}`.padEnd(7_500_000, 'x') });
}

it('a state of more than 50 MB fails the poll, and what was known stays', async () => {
	bench.platform.fleet = Fleet.seeded({ size: 2 });
	const watching = await watch({ events: ['statusChanged'] }, { host: 'C' });
	addLong(6);
	await watching.poll();
	// As many characters as it may have, with two quotes and a comma.
	const last = 'y'.repeat(50_000_000 - 3 - (watching.state?.length ?? 0));
	add({ ...bench.platform.fleet.at(0), id: 'last', sn: last });
	expect(await watching.poll()).toBeNull();
	const { state } = watching;
	expect(state?.length).toBe(50_000_000);
	add({ id: 'one more', sn: 'z'.repeat(2_500_000) });
	await expect(watching.poll()).rejects.toMatchObject({
		message: 'The trigger needs 53 MB, but can store only 50 MB',
		description: "Watch fewer devices with 'Filters', or fewer 'Attributes'.",
	});
	expect(watching.state).toBe(state);
});
