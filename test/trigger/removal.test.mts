import type { IDataObject } from 'n8n-workflow';

import { Failure } from '../../nodes/DeviceManagement/core/failure.ts';
import { useBench } from '../../testbed/jest.mts';
import type { Watch } from '../../testbed/watch.mts';
import { HOUR, published, recordTimeouts, told, useTrigger } from '../../testbed/trigger/watching.mts';

const n8n = useBench();
const { bench, clock, fleet, watch: publish, add, change, remove, answer, warnings } = useTrigger();

const DAY = 24 * HOUR;
const BOTH = ['deviceRemoved', 'onlineStatusChanged'];
const gone = (sn: string) => `deviceRemoved ${sn}`;
const watch = async (parameters: IDataObject = {}) =>
	await publish({ events: ['deviceRemoved'], options: { maxRetries: 0 }, ...parameters });
/** The devices that were requested. */
const reads = () => bench.platform.requestsOf('sn').map(({ path }) => decodeURIComponent(path.slice(15)));
const expectGone = async (watching: Watch, sn: string) => expect(told(await watching.poll())).toEqual([gone(sn)]);
async function expectQuiet(watching: Watch): Promise<void> {
	for (let count = 0; count < 3; count++) expect(await watching.poll()).toBeNull();
}

it.each([10007, 14401, 0, 204] as const)(
	'is confirmed by reading the serial number, whatever the output: code %p, 0 being a success without data; and HTTP 204',
	async (code) => {
		if (code === 204) answer(code, '', ({ kind }) => kind === 'sn');
		else bench.platform.settings.noDeviceCode = code;
		const watching = await watch({ output: 'selected', fields: ['id'] });
		const sn = remove(4);
		const common = { event: 'deviceRemoved', eventId: expect.any(String), detectedAt: expect.any(String) };
		expect(await watching.poll()).toEqual([{ ...common, device: { sn } }]);
		await expectQuiet(watching);
		expect(reads()).toEqual([sn]);
	},
);

it('shows the last known values, also that a device had none', async () => {
	const sn = add(Object({ iccid: null, group: null, status: 2 }));
	const watching = await watch({ events: ['deviceRemoved', 'iccidChanged', 'groupChanged', 'statusChanged'] });
	fleet().remove(sn);
	const [event] = (await watching.poll()) ?? [];
	expect(event).toMatchObject({ device: { sn, iccid: null, group: null, status: 2 } });
});

it.each<[string, number, unknown]>([
	['another code', 200, { code: 10018, msg: '', data: null }],
	['a code in words', 200, { code: '10007', msg: 'gone' }],
	['a success without a serial number', 200, { code: 0, msg: '', data: {} }],
	['another device', 200, { code: 0, msg: '', data: { sn: 'another' } }],
	['a page of a proxy', 200, 'Welcome'],
	['not found by a proxy', 404, ''],
])('is not confirmed by %s, which the log says, and looked for again', async (_, status, body) => {
	const watching = await watch({ events: BOTH });
	const sn = remove(4);
	answer(status, typeof body === 'string' ? body : JSON.stringify(body), ({ kind }) => kind === 'sn');
	// What else there is to report does not wait for it.
	const changed = change(7, { onlineStatus: 77 });
	expect(told(await watching.poll())).toEqual([`onlineStatusChanged ${changed}`]);
	expect(await watching.poll()).toBeNull();
	expect(warnings()).toEqual([
		expect.stringContaining("couldn't check whether devices were removed, and tries again: "),
	]);
	answer();
	await expectGone(watching, sn);
});

it.each([{ code: 14101 }, { status: 401 }, 'drop'] as const)(
	'of a device is found beside many whose requests end with %p, without a new sign-in',
	async (fault) => {
		const parameters = { events: ['deviceRemoved'], options: { maxRetries: 0 } };
		const watching = await published(n8n, parameters, { credential: n8n.login });
		n8n.platform.forget();
		const removed = n8n.fleet.devices.slice(4, 25).map(({ sn }) => n8n.fleet.remove(sn).sn);
		const [last = ''] = removed.slice(-1);
		n8n.platform.settings.fault = ({ kind, path }) =>
			kind === 'sn' && !decodeURIComponent(path).endsWith(last) ? fault : undefined;
		await expectGone(watching, last);
		expect(n8n.platform.requestsOf('login')).toEqual([]);
		n8n.platform.settings.fault = undefined;
		expect(await watching.poll()).toHaveLength(20);
	},
);

it.each([
	[10_000, {}],
	[3000, { timeout: 3000 }],
])('is asked for once per poll, for %i ms at most with the options %j', async (expected, options) => {
	const watching = await published(n8n, { events: BOTH, options });
	n8n.fleet.remove(n8n.fleet.at(4).sn);
	n8n.fleet.update(n8n.fleet.at(7).sn, { onlineStatus: 77 });
	n8n.platform.settings.fault = ({ kind }) => (kind === 'sn' ? 'drop' : undefined);
	const timeouts = recordTimeouts();
	expect(await watching.poll()).toMatchObject([{ event: 'onlineStatusChanged' }]);
	expect(timeouts.map(({ ms }) => ms)).toContain(expected);
	expect(n8n.platform.requestsOf('sn')).toHaveLength(1);
});

it('is looked for again after 1, 2, 4 minutes and so on while a read still returns it, as from a cache', async () => {
	const watching = await watch();
	const device = fleet().at(4);
	const sn = remove(4);
	answer(200, JSON.stringify({ code: 0, msg: '', data: device }), ({ kind }) => kind === 'sn');
	const polls: string[] = [];
	for (let minute = 0; minute < 70; minute++) {
		if (minute === 50) answer();
		bench.platform.forget();
		const items = told(await watching.poll());
		if (reads().length > 0) polls.push([minute, ...reads(), ...items].join(' '));
		clock.now += 60_000;
	}
	expect(polls).toEqual([...[0, 1, 2, 4, 8, 16, 32].map((minute) => `${minute} ${sn}`), `64 ${sn} ${gone(sn)}`]);
});

it('of a device that was never found comes before those that left the filter', async () => {
	const left = Array.from({ length: 300 }, () => add({ tags: ['some'] }));
	const sn = add({ tags: ['some'] });
	add({ tags: ['some'] });
	const watching = await watch({ filters: { tags: 'some' } });
	for (const one of left) fleet().update(one, { tags: [] });
	for (let poll = 0; poll < 4; poll++) await watching.poll();
	clock.now += 120_000;
	fleet().remove(sn);
	await expectGone(watching, sn);
});

it.each([
	['comes for 30 days', 0, 29, 29, true],
	['is forgotten then', 0, 30, 30, false],
	['comes as soon as ever, also if the clock of n8n was a year ahead', 365, -365, 0, true],
])('of a device that left the filters %s', async (_, ahead, days, later, isTold) => {
	const sn = add({ tags: ['some'] });
	add({ tags: ['some'] });
	const watching = await watch({ filters: { tags: 'some' } });
	fleet().update(sn, { tags: [] });
	clock.now += ahead * DAY;
	expect(await watching.poll()).toBeNull();
	clock.now += days * DAY;
	if (later > 0) expect(await watching.poll()).toBeNull();
	fleet().remove(sn);
	// Remembered, it is due again.
	clock.now += later * DAY;
	expect(told(await watching.poll())).toEqual(isTold ? [gone(sn)] : []);
});

it('never comes from an empty list: that of the only device in the filter comes once another one is listed', async () => {
	const sn = change(4, { tags: ['only'] });
	const watching = await watch({ filters: { tags: 'only' } });
	fleet().remove(sn);
	await expectQuiet(watching);
	expect(reads()).toEqual([]);
	add({ tags: ['only'] });
	await expectGone(watching, sn);
});

it('never comes from a list that holds another number of devices than the platform counts, which the log says once', async () => {
	const watching = await watch();
	const { settings } = bench.platform;
	const hidden = fleet().at(9).sn;
	const words = "can't detect removed devices, because the platform's total doesn't match its list";
	for (const rounds of [1, 2]) {
		settings.changePage = (page) => ({ ...page, content: page.content.filter(({ sn }) => sn !== hidden) });
		await expectQuiet(watching);
		settings.changePage = undefined;
		await expectQuiet(watching);
		expect(warnings()).toEqual(Array(rounds).fill(`The trigger "Watch" ${words}`));
	}
	expect(reads()).toEqual([]);
});

it('is not looked for in a list without a total that changed in each of three readings', async () => {
	const { settings } = bench.platform;
	settings.changePage = ({ totalElements: _total, totalPages: _pages, ...page }) => page;
	const watching = await watch({ options: { pageSize: 50, parallelRequests: 1 } });
	const removed: string[] = [];
	// The first one by ID: the others move, one of each page to the page before.
	settings.beforeAnswer = () => {
		removed.push(gone(remove(fleet().size - 1)));
		add();
	};
	expect(await watching.poll()).toBeNull();
	expect(reads()).toEqual([]);
	settings.beforeAnswer = undefined;
	expect(told(await watching.poll()).sort()).toEqual(removed.sort());
});

it('reads a hundred devices in a poll, eight at a time, and gets to all of them, also behind checks that fail', async () => {
	const watching = await watch();
	const removed = Array.from({ length: 230 }, () => remove(0));
	let [running, most] = [0, 0];
	bench.platform.settings.beforeAnswer = async () => {
		most = Math.max(most, ++running);
		await new Promise(setImmediate);
		running--;
	};
	answer(500, '', ({ kind }) => kind === 'sn');
	expect(await watching.poll()).toBeNull();
	const failing = new Set(reads());
	answer(500, '', ({ kind, path }) => kind === 'sn' && failing.has(decodeURIComponent(path.slice(15))));
	const all: string[] = [];
	for (const expected of [100, 100]) {
		bench.platform.forget();
		all.push(...told(await watching.poll()));
		expect(reads()).toHaveLength(expected);
	}
	expect([failing.size, most]).toEqual([100, 8]);
	expect(all.sort()).toEqual(
		removed
			.filter((sn) => !failing.has(sn))
			.map(gone)
			.sort(),
	);
});

it('fails the poll if no other request can succeed either', async () => {
	const watching = await watch();
	remove(4);
	const words = { message: 'No more', remedy: '' };
	const failure = new Failure({ ...words, kind: 'refused', cause: 'credential', signInFailed: 'for good' });
	bench.platform.settings.beforeAnswer = async ({ kind }) => {
		if (kind === 'sn') throw failure;
	};
	await expect(watching.poll()).rejects.toThrow('No more');
});

it('is not asked for without a serial number, with one that no path can hold, or with one that is requested without its spaces', async () => {
	const odd = ['', '.', '..', ' A1'];
	for (const sn of odd) add({ sn });
	const watching = await watch();
	for (const sn of odd) fleet().remove(sn);
	await expectQuiet(watching);
	expect(reads()).toEqual([]);
});
