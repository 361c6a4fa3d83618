import { clients } from './client.mts';
import { deviceSchema, groupSchema, modelSchema } from '../../../testbed/platform/fleet.mts';

const start = clients();
const now = () => Date.UTC(2026, 0, 2, 3, 4, 5);

describe('create a device', () => {
	test('answers the record, which is first in the list then', async () => {
		const client = await start({ now });
		const { code, data } = await client.call('POST', '/api/device', {
			body: { sn: 'N1', tags: ['新'], attributes: { a: 1 } },
		});
		expect(code).toBe(0);
		const device = deviceSchema.parse(data);
		expect(device).toMatchObject({
			sn: 'N1',
			tags: ['新'],
			attributes: { a: 1 },
			createTime: '2026-01-02 03:04:05',
			updateTime: null,
		});
		expect((await client.list()).content[0]).toEqual(device);
		expect((await client.call('GET', '/api/device/sn/N1')).data).toEqual(device);
	});

	test.each<[string, unknown, number, string]>([
		['without a serial number', {}, 10010, 'sn cannot be empty'],
		['with an empty serial number', { sn: '' }, 10010, 'sn cannot be empty'],
		['with an invalid serial number', { sn: 'a b' }, 10018, 'invalid sn a b'],
		['with a taken serial number', { sn: 'TAKEN' }, 10015, 'unique field sn already exists'],
		['with a wrong type', { sn: 'N1', tags: 'x' }, 10001, 'request body check error tags'],
		['with no JSON', '{', 10014, 'request body parse error'],
	])('%s is refused', async (_what, body, code, msg) => {
		const client = await start();
		client.platform.fleet.add(client.platform.fleet.make({ sn: 'TAKEN' }));
		const { size } = client.platform.fleet;
		expect(await client.call('POST', '/api/device', { body })).toEqual({ code, msg, data: null });
		expect(client.platform.fleet.size).toBe(size);
	});
});

describe('change a device', () => {
	test.each(['PUT', 'PATCH'] as const)('%s changes what is given, and who and when', async (method) => {
		const client = await start({ now, loginName: 'me' });
		const before = client.platform.fleet.at(2);
		const { data } = await client.call(method, `/api/device/sn/${before.sn}`, { body: { description: 'Flur' } });
		const after = { ...before, description: 'Flur', updator: 'me', updateTime: '2026-01-02 03:04:05' };
		expect(data).toEqual(after);
		expect(client.platform.fleet.at(2)).toEqual(after);
	});

	test('the serial number may not be changed: 10011', async () => {
		const client = await start();
		const { sn } = client.platform.fleet.at(0);
		const { code, msg } = await client.call('PUT', `/api/device/sn/${sn}`, { body: { sn: 'OTHER' } });
		expect([code, msg]).toEqual([10011, "sn isn't allowed to be edited"]);
	});

	test('of no device: 10007', async () => {
		const client = await start();
		expect((await client.call('PUT', '/api/device/sn/NONE', { body: {} })).code).toBe(10007);
	});
});

describe('delete a device', () => {
	test('answers null and the device is gone', async () => {
		const client = await start();
		const { sn } = client.platform.fleet.at(0);
		expect(await client.call('DELETE', `/api/device/sn/${sn}`)).toEqual({ code: 0, msg: 'success', data: null });
		expect((await client.call('DELETE', `/api/device/sn/${sn}`)).code).toBe(10007);
		expect(await client.listed()).not.toContain(sn);
	});
});

test('the groups are an array of group records', async () => {
	const client = await start();
	const { data } = await client.call('GET', '/api/group/list');
	expect(groupSchema.array().parse(data)).toEqual(client.platform.fleet.groups);
	expect(client.platform.fleet.groups).toContainEqual(client.platform.fleet.at(0).group);
});

test('the models are an array of model records', async () => {
	const client = await start();
	const { data } = await client.call('GET', '/api/model/list');
	expect(modelSchema.array().parse(data)).toEqual(client.platform.fleet.models);
	expect(client.platform.fleet.models).toContainEqual(client.platform.fleet.at(0).model);
});

test('the version is a text', async () => {
	const client = await start();
	expect((await client.call('GET', '/api/version')).data).toBe('2.6');
});

describe('echo', () => {
	test.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const)('tells what a %s brought', async (method) => {
		const client = await start();
		const body = method === 'GET' ? undefined : { text: 'Grüße 你好' };
		const { data } = await client.call(method, '/api/echo?a=1&b=x%20y&a=2', {
			headers: { 'x-trace': '7' },
			...(body === undefined ? {} : { body }),
		});
		expect(data).toMatchObject({
			method,
			path: '/api/echo',
			query: { a: ['1', '2'], b: 'x y' },
			headers: { 'x-trace': '7', accept: 'application/json' },
			body: body ?? null,
		});
	});

	test.each([
		['in Authorization', {}, '/api/echo', { authorization: 'ApiKey s3cret-key' }],
		[
			'in another header',
			{ apiKeyName: 'X-Key', apiKeyPrefix: '' },
			'/api/echo',
			{ authorization: 'Bearer s3cret-key', 'x-key': 's3cret-key' },
		],
		[
			'in the query',
			{ apiKeyIn: 'query' as const, apiKeyName: 'key', apiKeyPrefix: '' },
			'/api/echo?key=s3cret-key',
			{},
		],
	])('never tells a sign-in %s', async (_where, settings, path, headers) => {
		const client = await start({ apiKey: 's3cret-key', ...settings });
		const { text } = await client.send('GET', path, { headers: { authorization: undefined, ...headers } });
		expect(text).toContain('(redacted)');
		expect(text).not.toContain('s3cret-key');
	});
});

test.each(['/', '/api', '/api/nope', '/api/device/list/', '/other?x=1'])(
	'%s is no endpoint: HTTP 404 without an envelope',
	async (path) => {
		const client = await start();
		const reply = await client.send('GET', path);
		expect(reply.status).toBe(404);
		expect(JSON.parse(reply.text)).toEqual({ status: 404, error: 'Not Found', path: path.split('?')[0] });
	},
);

test('the wrong method gets HTTP 404', async () => {
	const client = await start();
	expect((await client.send('GET', '/api/device/list')).status).toBe(404);
});
