import type { IDataObject } from 'n8n-workflow';

import { Failure } from '../../../nodes/DeviceManagement/core/failure.ts';
import { checkMissing } from '../../../nodes/DeviceManagement/trigger/read/removal.ts';
import { replaceClock } from '../../../nodes/DeviceManagement/transport/waiting/clock.ts';
import { useBench, useStillClock } from '../../../testbed/jest.mts';
import { Fleet } from '../../../testbed/platform/fleet.mts';
import { VirtualTime } from '../../../testbed/virtualTime.mts';
import { Watch } from '../../../testbed/watch.mts';

const bench = useBench();
const clock = useStillClock();

async function watch(parameters: IDataObject = {}): Promise<Watch> {
	const watching = new Watch(bench, { events: ['deviceRemoved'], ...parameters });
	expect(await watching.activate()).toBeNull();
	bench.engine.logs.length = 0;
	return watching;
}

const removed = (items: IDataObject[] | null) =>
	items?.map(({ event, device }) => [event, (device as IDataObject)['sn']]) ?? null;
const reads = () =>
	bench.platform.requestsOf('sn').map(({ path }) => decodeURIComponent(path.replace('/api/device/sn/', '')));
const warnings = () => bench.engine.logs.filter(({ level }) => level === 'warn').map(({ message }) => message);
const remove = (position: number) => bench.fleet.remove(bench.fleet.at(position).sn).sn;

it.each([10007, 14401, 0] as const)(
	'is confirmed by reading the serial number: code %p, 0 being a success without data',
	async (noDeviceCode) => {
		bench.platform.settings.noDeviceCode = noDeviceCode;
		const watching = await watch();
		const sn = remove(4);
		expect(removed(await watching.poll())).toEqual([['deviceRemoved', sn]]);
		expect(reads()).toEqual([sn]);
		expect(await watching.poll()).toBeNull();
		expect(reads()).toEqual([sn]);
	},
);

it.each([
	['another code', { code: 10018 }],
	['a missing right', { code: 14103 }],
	['a fault', { status: 502 }],
	['a page of a proxy', { status: 200, body: 'Welcome' }],
	['a code in words', { status: 200, body: { code: '10007', msg: 'gone' } }],
	['not found by a proxy', { status: 404 }],
	['a dropped connection', 'drop'],
	['a refused token', { code: 14101 }],
	['a success without a serial number', { code: 0, data: {} }],
	['another device', { code: 0, data: { sn: 'another' } }],
] as const)('is not confirmed by %s, which the log says, and looked for again', async (_, fault) => {
	const watching = await watch({ events: ['deviceRemoved', 'onlineStatusChanged'], options: { maxRetries: 0 } });
	const sn = remove(4);
	bench.platform.settings.faults = [{ fault, kind: 'sn', times: 2 }];
	const changed = bench.fleet.update(bench.fleet.at(7).sn, { onlineStatus: 77 });
	// What else there is to report does not wait for it.
	expect(await watching.poll()).toMatchObject([{ event: 'onlineStatusChanged', device: { sn: changed.sn } }]);
	expect(await watching.poll()).toBeNull();
	expect(warnings()).toEqual([
		expect.stringContaining('could not check devices that may be removed, and tries again at each poll: '),
	]);
	expect(removed(await watching.poll())).toEqual([['deviceRemoved', sn]]);
});

it.each([{ code: 14101 }, { code: 14102 }, { status: 401 }])(
	'of a device is found beside many whose requests end with %p, without a new sign-in',
	async (fault) => {
		const parameters = { events: ['deviceRemoved', 'onlineStatusChanged'], options: { maxRetries: 0 } };
		const watching = new Watch(bench, parameters, { credential: bench.login });
		await watching.activate();
		bench.platform.forget();
		const refused = new Set(Array.from({ length: 60 }, () => remove(4)));
		const sn = remove(4);
		bench.platform.settings.fault = ({ kind, path }) =>
			kind === 'sn' && refused.has(decodeURIComponent(path.replace('/api/device/sn/', ''))) ? fault : undefined;
		const changed = bench.fleet.update(bench.fleet.at(7).sn, { onlineStatus: 77 }).sn;
		expect(removed(await watching.poll())).toEqual([
			['onlineStatusChanged', changed],
			['deviceRemoved', sn],
		]);
		expect(await watching.poll()).toBeNull();
		expect(bench.platform.requestsOf('login')).toEqual([]);
		bench.platform.settings.fault = undefined;
		expect(await watching.poll()).toHaveLength(60);
	},
);

it.each([
	[10_000, {}],
	[3000, { timeout: 3000 }],
])('is asked for once per poll, for %i ms at most with the options %j', async (expected, options) => {
	const watching = await watch({ events: ['deviceRemoved', 'onlineStatusChanged'], options });
	remove(4);
	const changed = bench.fleet.update(bench.fleet.at(7).sn, { onlineStatus: 77 });
	const asked = new Promise<void>((resolve) => {
		bench.platform.settings.fault = ({ kind }) => (kind === 'sn' ? (resolve(), 'hang') : undefined);
	});
	const time = new VirtualTime();
	const putBack = replaceClock(time);
	const poll = watching.poll();
	await asked;
	await time.until(poll);
	putBack();
	expect(await poll).toMatchObject([{ event: 'onlineStatusChanged', device: { sn: changed.sn } }]);
	expect(time.now()).toBe(expected);
	expect(reads()).toHaveLength(1);
});

it('is not reported for a device that only left the filter', async () => {
	const watching = await watch({ filters: { tags: 'pilot' } });
	const inside = bench.fleet.devices.filter(({ tags }) => tags.includes('pilot'));
	const [left, gone] = inside;
	bench.fleet.update(left?.sn ?? '', { tags: [] });
	bench.fleet.remove(gone?.sn ?? '');
	expect(removed(await watching.poll())).toEqual([['deviceRemoved', gone?.sn]]);
	for (let count = 0; count < 3; count++) expect(await watching.poll()).toBeNull();
	expect(reads().sort()).toEqual([left?.sn, gone?.sn].sort());
	// The trigger no longer sees it outside the filter.
	bench.fleet.remove(left?.sn ?? '');
	for (let count = 0; count < 3; count++) expect(await watching.poll()).toBeNull();
});

it('never comes from an empty list', async () => {
	const watching = await watch();
	const { fleet } = bench;
	bench.platform.fleet = Fleet.seeded({ size: 0 });
	for (let count = 0; count < 3; count++) expect(await watching.poll()).toBeNull();
	expect(reads()).toEqual([]);
	bench.platform.fleet = fleet;
	const sn = remove(0);
	expect(removed(await watching.poll())).toEqual([['deviceRemoved', sn]]);
});

it('of the only device in the filter comes once another one is listed', async () => {
	const { sn } = bench.fleet.update(bench.fleet.at(4).sn, { tags: ['only'] });
	const watching = await watch({ filters: { tags: 'only' } });
	bench.fleet.remove(sn);
	for (let count = 0; count < 3; count++) expect(await watching.poll()).toBeNull();
	expect(reads()).toEqual([]);
	bench.fleet.add(bench.fleet.make({ tags: ['only'] }));
	expect(removed(await watching.poll())).toEqual([['deviceRemoved', sn]]);
});

it('never comes from a list that does not hold as many devices as the platform counts, which the log says once', async () => {
	const watching = await watch();
	const hidden = bench.fleet.at(9).sn;
	bench.platform.settings.changePage = (page) => ({ ...page, content: page.content.filter(({ sn }) => sn !== hidden) });
	for (let count = 0; count < 3; count++) expect(await watching.poll()).toBeNull();
	expect(reads()).toEqual([]);
	expect(warnings()).toEqual([
		'The trigger "Watch" can\'t detect removed devices, because the platform reports another number of devices than it lists',
	]);
});

it('logs once while the counts disagree, and again when they disagree later', async () => {
	const watching = await watch();
	for (const rounds of [1, 2]) {
		bench.platform.settings.changePage = (page) => ({ ...page, totalElements: page.totalElements + 1 });
		for (let count = 0; count < 3; count++) {
			bench.fleet.add();
			await watching.poll();
		}
		expect(warnings()).toHaveLength(rounds);
		bench.platform.settings.changePage = undefined;
		await watching.poll();
	}
});

it('never comes from a fleet that moves while it is read', async () => {
	const watching = await watch({ options: { pageSize: 50 } });
	const sn = remove(200);
	let added = 0;
	bench.platform.settings.beforeAnswer = ({ page }) => {
		if (page === 2 && added++ < 100) bench.fleet.add();
	};
	for (let count = 0; count < 3; count++) expect(await watching.poll()).toBeNull();
	expect(reads()).toEqual([]);
	bench.platform.settings.beforeAnswer = undefined;
	expect(removed(await watching.poll())).toEqual([['deviceRemoved', sn]]);
});

it('reads a bounded number of devices in a poll, and gets to all of them', async () => {
	const watching = await watch();
	for (let count = 0; count < 230; count++) remove(0);
	const all: unknown[] = [];
	for (const expected of [100, 100, 30]) {
		bench.platform.forget();
		const items = await watching.poll();
		expect(items).toHaveLength(expected);
		expect(reads()).toHaveLength(expected);
		expect(bench.platform.peakInFlight).toBeLessThanOrEqual(8);
		all.push(...(removed(items) ?? []).map(([, sn]) => sn));
	}
	expect(new Set(all).size).toBe(230);
	expect(await watching.poll()).toBeNull();
});

it('has what is known of the device: at least the serial number', async () => {
	const [plain, rich] = bench.fleet.devices;
	bench.fleet.update(rich?.sn ?? '', {
		onlineStatus: 1,
		status: 2,
		attributes: { site: 'Łódź', long: 'x'.repeat(101) },
	});
	const alone = await watch();
	const watching = new Watch(
		bench,
		{
			events: ['deviceRemoved', 'onlineStatusChanged', 'statusChanged', 'attributeChanged'],
			attributes: 'long, none, site',
			output: 'selected',
			fields: ['id'],
		},
		{ workflowId: 'rich' },
	);
	await watching.activate();
	bench.fleet.remove(plain?.sn ?? '');
	bench.fleet.remove(rich?.sn ?? '');
	const [one] = (await alone.poll()) ?? [];
	expect(one).toEqual({
		event: 'deviceRemoved',
		eventId: expect.any(String),
		detectedAt: expect.any(String),
		device: { sn: plain?.sn },
	});
	const items = await watching.poll();
	expect(items?.[1]?.['device']).toEqual({ sn: rich?.sn, onlineStatus: 1, status: 2, attributes: { site: 'Łódź' } });
});

it.each([false, true])('ends the poll only if every request would fail: %p', async (final) => {
	const failure = new Failure({ kind: 'refused', cause: 'credential', message: 'No', remedy: '', final });
	const platform = {
		request: async () => await Promise.reject(failure),
		largestPage: { size: Infinity },
		stop: () => {},
	};
	const settings = { pageSize: 10, parallelRequests: 1, timeoutMs: 1000, maxRetries: 0 };
	const before = { devices: new Map([['A', '[]']]), away: new Map(), holds: [] };
	const outcome = checkMissing(platform, [{ sn: 'B', values: '[]' }], before, {
		events: new Set(['deviceRemoved']),
		settings,
	});
	if (final) await expect(outcome).rejects.toBe(failure);
	else expect(await outcome).toEqual({ removed: [], unlisted: [], failure });
});

it('is not reported for a device whose serial number has spaces around it: it is requested without them', async () => {
	const { sn } = bench.fleet.add(bench.fleet.make({ sn: ' A1', tags: ['pilot'] }));
	const watching = await watch({ filters: { tags: 'pilot' } });
	bench.fleet.update(sn, { tags: [] });
	expect(await watching.poll()).toBeNull();
	expect(reads()).toEqual([]);
});

it('no longer watches a device whose serial number no path can hold', async () => {
	for (const sn of ['.', '..']) bench.fleet.add(bench.fleet.make({ sn }));
	const watching = await watch();
	const { state } = watching;
	for (const sn of ['.', '..']) bench.fleet.remove(sn);
	for (let count = 0; count < 3; count++) expect(await watching.poll()).toBeNull();
	expect(reads()).toEqual([]);
	clock.now += 3_600_000;
	const sn = remove(0);
	expect(removed(await watching.poll())).toEqual([['deviceRemoved', sn]]);
	expect(watching.state?.length).toBeLessThan(state?.length ?? 0);
});
