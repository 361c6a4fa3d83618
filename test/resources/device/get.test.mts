import type { IDataObject } from 'n8n-workflow';

import type { NodeRun } from '../../../testbed/bench.mts';
import { held } from '../../../testbed/held.mts';
import { useBench } from '../../../testbed/jest.mts';
import { jsonOf, pairedItemsOf, serialNumbersOf } from '../../../testbed/output.mts';
import type { Fault } from '../../../testbed/platform/server.mts';
import { bySerialNumber, get, type Parameters, runAlone } from '../../../testbed/oneItem.mts';

const SN = '={{ $json.sn }}';

const bench = useBench();

const read = async (input: IDataObject[], parameters: Parameters = {}, run: NodeRun = {}) =>
	await bench.run({ ...get, device: bySerialNumber(SN), ...parameters }, { input, ...run });
const paths = () => bench.platform.requests.map(({ method, url }) => `${method} ${url}`);
const missing = (sn: string) => `No device has the serial number ${sn} (code 10007: device ${sn} non-existent)`;

describe('the serial number', () => {
	test('reads one device', async () => {
		const device = bench.fleet.at(17);
		expect(jsonOf(await read([{ sn: ` \t${device.sn}\n` }], { output: 'raw' }))).toEqual([device]);
		const sent = { method: 'GET', url: `/api/device/sn/${device.sn}`, body: undefined };
		expect(bench.platform.requests).toMatchObject([{ ...sent, headers: { accept: 'application/json' } }]);
	});

	test('is one segment of the path and arrives unchanged, with any characters', async () => {
		const decoded = (path: string) => decodeURIComponent(path.split('/')[4] ?? '');
		bench.platform.settings.fault = ({ path }) => ({ code: 0, data: { sn: decoded(path) } });
		const input = ['A/B', '/', '...', 'A%2eB\\7', '100%', 'a?b=c#12', '1+1', 'a:b@c', '設備-007 🚚'].map((sn) => ({
			sn,
		}));
		expect(serialNumbersOf(await read(input))).toEqual(input.map(({ sn }) => sn));
		expect(paths().sort()).toEqual(input.map(({ sn }) => `GET /api/device/sn/${encodeURIComponent(sn)}`).sort());
	});

	test.each<[what: string, device: (sn: string) => unknown]>([
		['a device picked from the list', (sn) => bySerialNumber(sn, 'list')],
		['an expression in place of the whole field', () => SN],
		['a text in place of the whole field', (sn) => sn],
		['a number in place of the whole field', () => '={{ Number($json.sn) }}'],
	])('may be %s', async (_what, device) => {
		const { sn } = bench.fleet.add(bench.fleet.make({ sn: '4711' }));
		expect(serialNumbersOf(await read([{ sn }], { device: device(sn) }))).toEqual([sn]);
	});
});

describe('several items', () => {
	/** Pauses requests with this serial number until one with another has come `times`. */
	const holdBack = (isHeld: (sn: string) => boolean, times = 1) => {
		const othersHaveCome = held();
		let others = 0;
		bench.platform.settings.beforeAnswer = async ({ path }) => {
			if (isHeld(path.slice('/api/device/sn/'.length))) await othersHaveCome.promise;
			else if (++others === times) othersHaveCome.resolve();
		};
	};

	test('come out in the order of the input, whichever response is first, and fail alone if their expression fails', async () => {
		const input = [5, 6, 7, 8].map((at) => ({ sn: bench.fleet.at(at).sn, broken: at === 6 }));
		const device = bySerialNumber("={{ $json.broken ? $('No such node').item.json.sn : $json.sn }}");
		holdBack((sn) => sn !== input[3]?.sn);
		const result = await read(input, { device }, { onError: 'continueRegularOutput' });
		const error = expect.stringMatching(/No such node|referenced node/i);
		expect(jsonOf(result)).toMatchObject(input.map(({ sn, broken }) => (broken ? { error } : { sn })));
		expect(pairedItemsOf(result)).toEqual([0, 1, 2, 3]);
		expect(paths()).toHaveLength(3);
	});

	test('stop at one that fails, with its own message and not that of the aborted requests', async () => {
		holdBack((sn) => sn === 'MISSING-1', 3);
		bench.platform.settings.fault = ({ path }) => (path.endsWith('/MISSING-1') ? undefined : 'hang');
		const input = ['A', 'B', 'MISSING-1', 'C', 'D'].map((sn) => ({ sn }));
		const result = await read(input, { options: { parallelRequests: 4 } });
		expect(result.error?.message).toBe(`${missing('MISSING-1')} [item 2]`);
		expect(result.error).toMatchObject({
			description: expect.stringMatching(/^Check the serial number or ID. To go on .*'If Not Found'/),
			context: expect.objectContaining({ itemIndex: 2 }),
		});
		expect(result.data('Devices')).toEqual([]);
		expect(bench.platform.requests).toHaveLength(4);
	});
});

test.each([
	['1741900010000000719', true],
	['65f0c0ffee65f0c0ffee65f0', true],
	['3f2504e0-4f89-11d3-9a0c-0305e82c3301', true],
	['869912345678901', false],
	['RT46643907', false],
])('a missing device %s brings the advice for an ID: %s', async (sn, isLikeAnId) => {
	const { message, description } = (await read([{ sn }])).error ?? {};
	expect([message, description?.includes('looks like an ID')]).toEqual([missing(sn), isLikeAnId]);
});

describe('If Not Found', () => {
	const faults: Fault[] = [...[10007, 14401, 10018, 0].map((code) => ({ code })), { status: 204, body: '' }];
	test.each(faults)('returns an item without fields, or is named, for %j', async (fault) => {
		bench.platform.settings.fault = () => fault;
		const result = await read([{ sn: 'X' }, { sn: 'Y' }], { options: { ifNotFound: 'empty' } });
		expect(jsonOf(result)).toEqual([{}, {}]);
		expect(pairedItemsOf(result)).toEqual([0, 1]);
		const { error } = await read([{ sn: '$& {outside}' }]);
		expect(error?.description).toMatch(/^Check the serial number.* set 'If Not Found' under 'Options'\.$/);
		const success = 'No device has the serial number $& {outside}: the response has no data';
		if (faults.indexOf(fault) > 2) expect(error?.message).toBe(success);
	});

	test.each<['sn' | 'login', Fault, message: RegExp]>([
		['sn', { code: 14103 }, /code 14103/],
		['sn', { status: 404 }, /HTTP 404/],
		['sn', { code: 0, data: {} }, /'data' is an object with 0 fields/],
		['login', { code: 10007 }, /^The sign-in failed/],
		['login', { status: 204, body: '' }, /^The sign-in failed/],
	])('hides nothing but a missing device: not, for %s, %j', async (kind, fault, message) => {
		bench.platform.settings.faults = [{ kind, fault, times: 9 }];
		const { error } = await read([{ sn: 'X' }], { options: { ifNotFound: 'empty' } }, { credential: bench.login });
		expect(error?.message).toMatch(message);
	});
});

test('the output may have selected fields, with a hint for a name that the device does not have', async () => {
	const selected = { ...get, output: 'selected', fields: ['imei', 'imie'] };
	const { output, hints } = await runAlone(selected, () => ({ id: 'x', sn: 'RT1', imei: null, future: 1 }));
	expect([output, hints]).toEqual([[{ id: 'x', imei: null }], [expect.stringMatching(/"imie"/)]]);
});
