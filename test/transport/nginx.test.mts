import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { currentClock } from '../../nodes/DeviceManagement/transport/waiting/clock.ts';
import { hurry, useBench } from '../../testbed/jest.mts';
import { operations } from '../../testbed/operations.mts';
import { serialNumbersOf } from '../../testbed/output.mts';
import { type FaultRule, type Settings, startPlatform } from '../../testbed/platform/server.mts';

const bench = useBench();

/** Reads the fleet in 25 pages. */
async function expectWholeFleet(settings: Partial<Settings>, maxRetries: number): Promise<void> {
	hurry();
	Object.assign(bench.platform.settings, { latencyMs: 1, ...settings });
	const result = await bench.run({ ...operations.getAll, options: { pageSize: 10, maxRetries } });
	expect(result.error).toBeUndefined();
	expect(serialNumbersOf(result)).toEqual(bench.fleet.devices.map(({ sn }) => sn));
}

const slow = { perSecond: 5, burst: 0, now: () => currentClock().now() };
test.each<[limit: string, Partial<Settings>]>([
	['HTTP 503', { rateLimit: { ...slow, status: 503 } }],
	['HTTP 429', { rateLimit: { ...slow, status: 429 } }],
	['HTTP 503 beyond two at once', { fault: () => (bench.platform.inFlight > 2 ? { status: 503 } : undefined) }],
])('a list is complete although the platform limits requests by %s', async (_, settings) => {
	await expectWholeFleet(settings, 3);
});

const LOCATIONS = {
	limit503: 'limit_req zone=requests;',
	limit429: 'limit_req zone=requests; limit_req_status 429;',
	connections: 'limit_conn connections 2;',
	gzip: 'gzip on; gzip_types application/json; gzip_min_length 1;',
	timeout: 'proxy_read_timeout 300ms;',
	plain: '',
	redirect: 'return 301 https://elsewhere.example$request_uri;',
};
const hasNginx = spawnSync('nginx', ['-v']).error === undefined;
const NGINX = hasNginx ? 'behind nginx' : 'SKIPPED, because there is no nginx (on Debian: apt-get install nginx-light)';
(hasNginx ? describe : describe.skip)(NGINX, () => {
	let [folder, url] = ['', ''];
	const nginx = (...options: string[]) => execFileSync('nginx', ['-p', folder, '-c', 'conf', '-e', 'log', ...options]);
	beforeAll(async () => {
		folder = mkdtempSync(join(tmpdir(), 'nginx-'));
		const unused = await startPlatform();
		url = unused.baseUrl;
		await unused.stop();
		const locations = Object.entries(LOCATIONS).map(
			([name, rules]) => `location /${name}/ { ${rules} proxy_pass ${bench.platform.baseUrl}/; }`,
		);
		const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((what) => `${what}_temp_path ${folder};`);
		const http = `access_log off; ${folders.join(' ')} limit_req_zone $server_port zone=requests:1m rate=200r/s;
			limit_conn_zone $server_port zone=connections:1m; server { listen ${new URL(url).host}; ${locations.join(' ')} }`;
		writeFileSync(join(folder, 'conf'), `pid ${folder}/pid; events {} http { ${http} }`);
		// It returns when nginx listens.
		nginx();
	});
	afterAll(() => {
		nginx('-s', 'stop');
		rmSync(folder, { recursive: true });
	});
	const use = async (location: string) =>
		await bench.engine.editCredential(bench.apiKey, { baseUrl: `${url}/${location}` });

	test.each<[location: keyof typeof LOCATIONS, FaultRule[]]>([
		['limit503', []],
		['limit429', []],
		['connections', []],
		['gzip', []],
		['timeout', [{ kind: 'list', page: 3, fault: 'hang' }]],
		['plain', [{ kind: 'list', page: 3, fault: 'drop' }]],
	])('a list is complete: %s', async (location, faults) => {
		await use(location);
		await expectWholeFleet({ faults }, 10);
		const { headers } = await fetch(`${url}/${location}/api/version`);
		expect(headers.get('content-encoding') === 'gzip').toBe(location === 'gzip');
	});

	test('a redirect is named', async () => {
		await use('redirect');
		const { error } = await bench.run(operations.count);
		expect(error?.message).toContain('redirect to https://elsewhere.example (HTTP 301)');
	});
});
