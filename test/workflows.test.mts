import { readdirSync } from 'node:fs';
import { join } from 'node:path';

import { Fleet, type Device } from '../testbed/platform/server.mts';
import type { RunResult } from '../testbed/engine/engine.mts';
import { useBench } from '../testbed/jest.mts';
import { signInCredentials } from '../testbed/n8n/examples.mts';
import { jsonOf, outputOf, pairedItemsOf, serialNumbersOf } from '../testbed/output.mts';

const folder = join(__dirname, 'workflows');
const bench = useBench();
const fleet = () => bench.fleet.devices;

beforeEach(async () => {
	for (const credential of signInCredentials(bench.platform)) await bench.engine.saveCredential(credential);
});

const run = async (file: string): Promise<RunResult> => {
	const result = await bench.engine.run(join(folder, file));
	if (result.error !== undefined) throw result.error;
	return result;
};
const compare = (one: unknown, other: unknown) =>
	String(one ?? '') < String(other ?? '') ? -1 : one === other ? 0 : 1;

it('list-then-read: filtered, sorted, limited, then each device read whole, after one login', async () => {
	const result = await run('list-then-read.json');
	const site = ({ attributes }: Device) => attributes['site'] ?? '';
	const expected = fleet()
		.filter(({ status }) => status === 2)
		.sort(
			(one, other) =>
				compare(one.creator, other.creator) || compare(site(one), site(other)) || compare(other.sn, one.sn),
		)
		.slice(0, 30);
	expect(serialNumbersOf(result, 'List online devices')).toEqual(expected.map(({ sn }) => sn));
	expect(jsonOf(result, 'Read each')).toEqual(expected);
	expect(pairedItemsOf(result, 'Read each')).toEqual(expected.map((_, position) => position));
	const { platform } = bench;
	expect(platform.logins).toEqual({ attempted: 1, succeeded: 1 });
	expect(platform.requestsOf('list').map(({ query }) => query['sort'])).toEqual(
		Array.from({ length: 5 }, () => ['creator,attributes.site asc', 'sn desc']),
	);
	expect(platform.requestsOf('sn')).toHaveLength(30);
});

it('count-per-status: one count for each item that was pinned', async () => {
	const result = await run('count-per-status.json');
	expect(jsonOf(result, 'Count')).toEqual(
		[0, 1, 2, 3, 4].map((wanted) => ({ count: fleet().filter(({ status }) => status === wanted).length })),
	);
});

it('sort-out-missing: nothing is lost, and what failed keeps its data and the reason', async () => {
	const result = await run('sort-out-missing.json');
	expect(serialNumbersOf(result, 'Known')).toEqual(['RT99046419', 'RT99046419']);
	expect(outputOf(result, 'Unknown').map(({ json }) => json)).toEqual([
		{
			serial: 'NOT-THERE',
			row: 2,
			error: 'No device has this serial number (code 10007: device NOT-THERE non-existent) [item 1]',
			details: expect.objectContaining({ code: 10007 }),
		},
		{
			serial: '..',
			row: 4,
			error: "The serial number \"..\" in 'Device' can't be part of an address [item 3]",
			details: { description: 'Enter a serial number.' },
		},
		{
			serial: 'LG00000000',
			row: 5,
			error: 'No device has this serial number (code 10007: device LG00000000 non-existent) [item 4]',
			details: expect.objectContaining({ code: 10007 }),
		},
	]);
});

it('every file of the folder is run here', () => {
	expect(readdirSync(folder).sort()).toEqual(['count-per-status.json', 'list-then-read.json', 'sort-out-missing.json']);
});

it('an empty fleet runs through all nodes', async () => {
	bench.platform.fleet = new Fleet([]);
	const result = await run('list-then-read.json');
	expect(outputOf(result, 'List online devices')).toEqual([]);
	expect(outputOf(result, 'Read each')).toEqual([]);
});
