import { clients } from './client.mts';
import { deviceSchema, modelSchema } from '../../../testbed/platform/fleet.mts';

const start = clients();
const now = () => Date.UTC(2026, 0, 2, 3, 4, 5);

test('POST creates a device, which is then first in the list', async () => {
	const client = await start({ now });
	const body = { sn: 'N1', tags: ['新'], attributes: { a: 1 } };
	const { code, data } = await client.call('POST', '/api/device', { body });
	expect(code).toBe(0);
	const device = deviceSchema.parse(data);
	expect(device).toMatchObject({ ...body, createTime: '2026-01-02 03:04:05', updateTime: null });
	expect((await client.list()).content[0]).toEqual(device);
});

test.each<[string, unknown, number, string]>([
	['without a serial number', {}, 10010, 'sn cannot be empty'],
	['with an invalid serial number', { sn: 'a b' }, 10018, 'invalid sn a b'],
	['with an existing serial number', { sn: 'TAKEN' }, 10015, 'unique field sn already exists'],
	['with a wrong type', { sn: 'N1', tags: 'x' }, 10001, 'request body check error tags'],
	['without JSON', '{', 10014, 'request body parse error'],
])('a new device %s is refused', async (_what, body, code, msg) => {
	const client = await start();
	client.platform.fleet.add(client.platform.fleet.make({ sn: 'TAKEN' }));
	const { size } = client.platform.fleet;
	expect(await client.call('POST', '/api/device', { body })).toEqual({ code, msg, data: null });
	expect(client.platform.fleet.size).toBe(size);
});

test.each(['PUT', 'PATCH'] as const)('%s changes the given fields, and says who and when', async (method) => {
	const client = await start({ now, loginName: 'me' });
	const before = client.platform.fleet.at(2);
	const path = `/api/device/sn/${before.sn}`;
	const { data } = await client.call(method, path, { body: { description: 'Flur' } });
	const after = { ...before, description: 'Flur', updator: 'me', updateTime: '2026-01-02 03:04:05' };
	expect(data).toEqual(after);
	expect(client.platform.fleet.at(2)).toEqual(after);
	expect((await client.call(method, path, { body: { sn: 'OTHER' } })).code).toBe(10011);
	expect((await client.call(method, '/api/device/sn/NONE', { body: {} })).code).toBe(10007);
});

test('DELETE removes a device and returns null', async () => {
	const client = await start();
	const { sn } = client.platform.fleet.at(0);
	expect(await client.call('DELETE', `/api/device/sn/${sn}`)).toEqual({ code: 0, msg: 'success', data: null });
	expect((await client.call('DELETE', `/api/device/sn/${sn}`)).code).toBe(10007);
});

test('the models are an array of model records, and the version is a text', async () => {
	const client = await start();
	const { data } = await client.call('GET', '/api/model/list');
	expect(modelSchema.array().parse(data)).toContainEqual(client.platform.fleet.at(0).model);
	expect((await client.call('GET', '/api/version')).data).toBe('2.6');
});

test.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const)('the echo returns a %s request', async (method) => {
	const client = await start();
	const body = method === 'GET' ? undefined : { text: 'Grüße 你好' };
	const headers = { 'x-trace': '7' };
	const { data } = await client.call(method, '/api/echo?a=1&b=x%20y&a=2', { headers, body });
	const query = { a: ['1', '2'], b: 'x y' };
	expect(data).toMatchObject({ method, path: '/api/echo', query, headers, body: body ?? null });
});

test.each([
	['in Authorization', {}, '', { authorization: 'ApiKey s3cret-key' }],
	['in another header', { apiKeyName: 'X-Key', apiKeyPrefix: '' }, '', { 'x-key': 's3cret-key' }],
	['in the query', { apiKeyIn: 'query' as const, apiKeyName: 'key', apiKeyPrefix: '' }, '?key=s3cret-key', {}],
])('the echo never returns a sign-in %s', async (_where, settings, query, headers) => {
	const client = await start({ apiKey: 's3cret-key', ...settings });
	const { text } = await client.send('GET', `/api/echo${query}`, { headers: { authorization: undefined, ...headers } });
	expect(text).toContain('(redacted)');
	expect(text).not.toContain('s3cret-key');
});

test.each(['/', '/api/nope', '/api/device/list', '/other?x=1'])('GET %s gets HTTP 404', async (path) => {
	const client = await start();
	const reply = await client.send('GET', path);
	expect(reply.status).toBe(404);
	expect(JSON.parse(reply.text)).toEqual({ status: 404, error: 'Not Found', path: path.split('?')[0] });
});
