import type { Device } from '../../../testbed/platform/server.mts';
import type { NodeRun } from '../../../testbed/bench.mts';
import { useBench } from '../../../testbed/jest.mts';
import { jsonOf, outputOf, pairedItemsOf, serialNumbersOf } from '../../../testbed/output.mts';
import { inGroupsOf } from '../../../testbed/platform/inGroupsOf.mts';

/** Serial numbers that would change a careless client's path. */
const AWKWARD_SERIAL_NUMBERS = [
	'A/B',
	'/',
	'a//b/',
	'A/B-7',
	'...',
	'A%2eB\\7',
	'%',
	'100%',
	'a?b=c',
	'#12',
	'1+1',
	'two words',
	'a&b=c;d',
	'back\\slash',
	'[1]{2}',
	'"quoted" \'too\'',
	'a:b@c',
	'ÄÖ-ß',
	'設備-007',
	'جهاز١٢',
	'🚚42',
] as const;

const bench = useBench();

const bySerialNumber = (value: unknown, mode = 'sn') => ({ __rl: true, mode, value });
const get = async (parameters: Record<string, unknown>, run: NodeRun = {}) =>
	await bench.run(
		{ resource: 'device', operation: 'get', device: bySerialNumber('={{ $json.sn }}'), ...parameters },
		run,
	);
const paths = () => bench.platform.requests.map(({ method, path }) => `${method} ${path}`);
const decoded = (path: string) => decodeURIComponent(path.replace('/api/device/sn/', ''));
/** Lets the platform know every serial number, also those it would call invalid. */
const knowEverySerialNumber = () => {
	bench.platform.settings.fault = ({ path }) => ({ code: 0, data: { id: path, sn: decoded(path) } });
};

describe('the serial number', () => {
	it.each(['apiKey', 'login'] as const)('reads one device by it, signed in by %s', async (way) => {
		const device = bench.fleet.at(17);
		const result = await get({ device: bySerialNumber(device.sn), output: 'raw' }, { credential: bench[way] });
		expect(jsonOf(result)).toEqual([device]);
		expect(pairedItemsOf(result)).toEqual([0]);
	});

	it('is trimmed', async () => {
		const { sn } = bench.fleet.at(0);
		expect(serialNumbersOf(await get({ device: bySerialNumber(` \t${sn}\n`) }))).toEqual([sn]);
		expect(paths()).toEqual([`GET /api/device/sn/${sn}`]);
	});

	it.each(AWKWARD_SERIAL_NUMBERS)('%j is one segment of the path and arrives as it is', async (sn) => {
		knowEverySerialNumber();
		expect(serialNumbersOf(await get({}, { input: [{ sn }] }))).toEqual([sn]);
		expect(paths()).toEqual([`GET /api/device/sn/${encodeURIComponent(sn)}`]);
		expect(bench.platform.requests[0]?.path.split('/')).toHaveLength(5);
		expect(bench.platform.requests[0]?.query).toEqual({});
	});

	it.each([
		{ name: 'a device picked from the list', device: (sn: string) => bySerialNumber(sn, 'list') },
		{ name: 'a serial number typed in', device: (sn: string) => bySerialNumber(sn) },
		{ name: 'an expression in the field', device: () => bySerialNumber('={{ $json.sn }}') },
		{ name: 'an expression in the list mode', device: () => bySerialNumber('={{ $json.sn }}', 'list') },
		{ name: 'an expression in place of the whole field', device: () => '={{ $json.sn }}' },
		{ name: 'a text in place of the whole field', device: (sn: string) => sn },
	])('may be $name', async ({ device }) => {
		const { sn } = bench.fleet.at(3);
		expect(serialNumbersOf(await get({ device: device(sn) }, { input: [{ sn }] }))).toEqual([sn]);
	});

	it.each([bySerialNumber('={{ $json.sn }}'), '={{ $json.sn }}'])(
		'may be a number from an expression: %j',
		async (device) => {
			bench.fleet.add(bench.fleet.make({ sn: '4711' }));
			expect(serialNumbersOf(await get({ device }, { input: [{ sn: 4711 }] }))).toEqual(['4711']);
		},
	);

	it('sends no body and accepts JSON', async () => {
		await get({}, { input: [{ sn: bench.fleet.at(0).sn }] });
		expect(bench.platform.requests[0]).toMatchObject({ body: undefined, headers: { accept: 'application/json' } });
	});
});

describe('several items', () => {
	const input = (positions: readonly number[]) => positions.map((position) => ({ sn: bench.fleet.at(position).sn }));

	it('come out in the order they came in, whichever is answered first', async () => {
		const items = input([5, 6, 7, 8]);
		let letGo = () => {};
		const lastHasCome = new Promise<void>((resolve) => (letGo = resolve));
		bench.platform.settings.beforeAnswer = async ({ path }) => {
			if (decoded(path) === items[3]?.sn) letGo();
			else await lastHasCome;
		};
		const result = await get({}, { input: items });
		expect(jsonOf(result)).toEqual(items.map(({ sn }) => expect.objectContaining({ sn })));
		expect(pairedItemsOf(result)).toEqual([0, 1, 2, 3]);
	});

	it('are read as many at once as Parallel Requests says, and never more', async () => {
		bench.platform.settings.beforeAnswer = inGroupsOf(3);
		await get(
			{ options: { parallelRequests: 3 } },
			{ input: input(Array.from({ length: 12 }, (_, position) => position)) },
		);
		expect(bench.platform.requests).toHaveLength(12);
		expect(bench.platform.peakInFlight).toBe(3);
	});

	it('with one serial number cost one request, and each has its own copy', async () => {
		const device = bench.fleet.devices.find(
			({ tags, attributes }) => tags.length > 0 && Object.keys(attributes).length > 0,
		);
		if (device === undefined) throw new Error('No such device');
		const result = await get(
			{ output: 'raw' },
			{ input: [{ sn: device.sn }, { sn: ` ${device.sn} ` }, { sn: bench.fleet.at(0).sn }, { sn: device.sn }] },
		);
		expect(bench.platform.requests).toHaveLength(2);
		const copies = [0, 1, 3].map((index) => jsonOf(result)[index]);
		for (const copy of copies) expect(copy).toEqual(device);
		for (const part of [
			(copy: unknown) => copy,
			(copy: unknown) => Object(copy).tags,
			(copy: unknown) => Object(copy).model,
		]) {
			expect(new Set(copies.map(part)).size).toBe(3);
		}
	});

	it.each([1, 30])('read the credential once each for %i of them, because it may hold expressions', async (count) => {
		const before = bench.engine.credentialUse;
		await get({}, { input: input(Array.from({ length: count }, (_, position) => position)) });
		expect(bench.engine.credentialUse.decrypted - before.decrypted).toBe(count);
	});

	it('with output chosen per item', async () => {
		const [one, two] = [bench.fleet.at(0), bench.fleet.at(1)];
		const result = await get(
			{ output: '={{ $json.output }}', fields: '={{ $json.fields }}' },
			{
				input: [
					{ sn: one.sn, output: 'raw' },
					{ sn: two.sn, output: 'selected', fields: ['sn', 'attributes'] },
				],
			},
		);
		expect(jsonOf(result)).toEqual([one, { id: two.id, sn: two.sn, attributes: two.attributes }]);
	});
});

describe('an item that fails', () => {
	const items = () => [
		{ sn: bench.fleet.at(0).sn, keep: 1 },
		{ sn: 'MISSING-1', keep: 2 },
		{ sn: bench.fleet.at(2).sn, keep: 3 },
	];

	it('stops the run with its number, what happened and what to do', async () => {
		const result = await get({}, { input: items() });
		expect(result.error?.message).toBe(
			'No device has this serial number (code 10007: device MISSING-1 non-existent) [item 1]',
		);
		expect(result.error).toMatchObject({
			description: "Check the serial number. To go on without the device, set 'If Not Found' under 'Options'.",
			context: expect.objectContaining({ itemIndex: 1 }),
		});
		expect(result.data('Devices')).toEqual([]);
	});

	it('stops the run with its own message, not with that of the aborted requests', async () => {
		let letGo = () => {};
		const othersHaveCome = new Promise<void>((resolve) => (letGo = resolve));
		let others = 0;
		Object.assign(bench.platform.settings, {
			beforeAnswer: async ({ path }: { path: string }) => {
				if (path.endsWith('/MISSING-1')) await othersHaveCome;
				else if (++others === 3) letGo();
			},
			fault: ({ path }: { path: string }) => (path.endsWith('/MISSING-1') ? undefined : 'hang'),
		});
		const result = await get({}, { input: [{ sn: 'A' }, { sn: 'B' }, { sn: 'MISSING-1' }, { sn: 'C' }, { sn: 'D' }] });
		expect(result.error?.message).toBe(
			'No device has this serial number (code 10007: device MISSING-1 non-existent) [item 2]',
		);
		expect(bench.platform.requests).toHaveLength(4);
	});

	it('says nothing of an item number where there is only one', async () => {
		const result = await get({}, { input: [{ sn: 'MISSING-1' }] });
		expect(result.error?.message).toBe('No device has this serial number (code 10007: device MISSING-1 non-existent)');
	});

	it('fails like all others with the same serial number, after one request', async () => {
		const result = await get({}, { input: [{ sn: 'X' }, { sn: 'X' }], onError: 'continueRegularOutput' });
		expect(jsonOf(result).map(({ error }) => error)).toEqual([
			'No device has this serial number (code 10007: device X non-existent) [item 0]',
			'No device has this serial number (code 10007: device X non-existent) [item 1]',
		]);
		expect(bench.platform.requests).toHaveLength(1);
	});
});

describe('If Not Found', () => {
	const MISSING: ReadonlyArray<{ code: number; make: () => void }> = [
		{ code: 10007, make: () => (bench.platform.settings.noDeviceCode = 10007) },
		{ code: 14401, make: () => (bench.platform.settings.noDeviceCode = 14401) },
		{ code: 10018, make: () => (bench.platform.settings.fault = () => ({ code: 10018, details: ['MISSING'] })) },
	];

	it.each(MISSING)('Return an Empty Item returns an item without fields for code $code', async ({ make }) => {
		make();
		const result = await get(
			{ device: bySerialNumber('MISSING'), options: { ifNotFound: 'empty' } },
			{ input: [{ a: 1 }, { a: 2 }] },
		);
		expect(jsonOf(result)).toEqual([{}, {}]);
		expect(pairedItemsOf(result)).toEqual([0, 1]);
	});

	it('Return an Empty Item does so for a success without data', async () => {
		bench.platform.settings.noDeviceCode = 0;
		expect(jsonOf(await get({ device: bySerialNumber('MISSING'), options: { ifNotFound: 'empty' } }))).toEqual([{}]);
	});

	it('Return an Empty Item hides nothing but a missing device', async () => {
		bench.platform.settings.fault = () => ({ code: 14103 });
		const result = await get({ device: bySerialNumber('ANY'), options: { ifNotFound: 'empty' } });
		expect(result.error?.message).toBe('The user may not do this (code 14103: not authorized)');
	});

	it('may differ for each item, also for the same device', async () => {
		const result = await get(
			{ options: { ifNotFound: '={{ $json.choice }}' } },
			{
				input: [
					{ sn: 'X', choice: 'empty' },
					{ sn: 'X', choice: 'error' },
				],
				onError: 'continueRegularOutput',
			},
		);
		expect(jsonOf(result)).toEqual([
			{},
			expect.objectContaining({
				error: 'No device has this serial number (code 10007: device X non-existent) [item 1]',
			}),
		]);
	});
});

it('an unknown field of the platform goes through raw, and null fields stay null', async () => {
	const device: Device & Record<string, unknown> = {
		...bench.fleet.at(0),
		imei: null,
		future: { list: [1, { two: null }] },
	};
	bench.platform.settings.fault = () => ({ code: 0, data: device });
	expect(jsonOf(await get({ device: bySerialNumber(device.sn), output: 'raw' }))).toEqual([device]);
});

it('a success without a device means that the device does not exist', async () => {
	bench.platform.settings.noDeviceCode = 0;
	const result = await get({ device: bySerialNumber('MISSING') });
	expect(result.error?.message).toBe('No device has this serial number: the platform returned a success without data');
	expect(result.error?.description).toContain("'If Not Found'");
});

test('a failing expression only fails its own item, with the message of n8n', async () => {
	const [one, other] = [bench.fleet.at(0).sn, bench.fleet.at(1).sn];
	const result = await get(
		{ device: bySerialNumber("={{ $json.broken ? $('No such node').item.json.sn : $json.sn }}") },
		{ input: [{ sn: one }, { broken: true }, { sn: other }], onError: 'continueRegularOutput' },
	);
	const [first, second, third] = outputOf(result);
	expect([first?.json['sn'], third?.json['sn']]).toEqual([one, other]);
	expect(second?.json['error']).toMatch(/No such node|referenced node/i);
	expect(pairedItemsOf(result)).toEqual([0, 1, 2]);
	expect(paths()).toHaveLength(2);
});
