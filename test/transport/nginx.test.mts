import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { currentClock } from '../../nodes/DeviceManagement/transport/waiting/clock.ts';
import { hurry, useBench } from '../../testbed/jest.mts';
import { operations } from '../../testbed/operations.mts';
import { serialNumbersOf } from '../../testbed/output.mts';
import type { Settings } from '../../testbed/platform/server.mts';
import { startRawServer } from '../../testbed/rawServer.mts';

const bench = useBench();

async function expectWholeFleet(maxRetries: number): Promise<void> {
	const result = await bench.run({ ...operations.getAll, options: { pageSize: 10, maxRetries } });
	expect(result.error).toBeUndefined();
	expect(serialNumbersOf(result)).toEqual(bench.fleet.devices.map(({ sn }) => sn));
}

describe('a list of 25 pages is complete behind a platform', () => {
	const now = () => currentClock().now();
	test.each<[limit: string, () => Partial<Settings>]>([
		['that refuses with 503', () => ({ rateLimit: { perSecond: 5, burst: 0, status: 503, now } })],
		['that refuses with 429', () => ({ rateLimit: { perSecond: 5, burst: 0, status: 429, now } })],
		['that accepts two at once', () => ({ fault: () => (bench.platform.inFlight > 2 ? { status: 503 } : undefined) })],
	])('%s', async (_, settings) => {
		hurry();
		Object.assign(bench.platform.settings, { latencyMs: 1 }, settings());
		await expectWholeFleet(3);
	});
});

const hasNginx = spawnSync('nginx', ['-v']).error === undefined;
const NGINX = hasNginx ? 'behind nginx' : 'SKIPPED, because there is no nginx (on Debian: apt-get install nginx-light)';
(hasNginx ? describe : describe.skip)(NGINX, () => {
	const LOCATIONS = {
		limit503: 'limit_req zone=requests;',
		limit429: 'limit_req zone=requests; limit_req_status 429;',
		burst: 'limit_req zone=requests burst=20 nodelay;',
		connections: 'limit_conn connections 2;',
		gzip: 'gzip on; gzip_types application/json; gzip_min_length 1;',
		timeout: 'proxy_read_timeout 300ms;',
		plain: '',
		redirect: 'return 301 https://elsewhere.example$request_uri;',
	};
	let [folder, url] = ['', ''];
	const nginx = (...options: string[]) => {
		const files = ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', join(folder, 'error.log')];
		const { status, stderr } = spawnSync('nginx', [...files, ...options], { encoding: 'utf8' });
		if (status !== 0) throw new Error(stderr);
	};
	beforeAll(async () => {
		folder = mkdtempSync(join(tmpdir(), 'nginx-'));
		const unused = await startRawServer(() => {});
		({ url } = unused);
		await unused.close();
		const locations = Object.entries(LOCATIONS).map(
			([name, rules]) => `location /${name}/ { ${rules} proxy_pass ${bench.platform.baseUrl}/; }`,
		);
		const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
			(what) => `${what}_temp_path ${folder};`,
		);
		const configuration = `pid ${folder}/pid; events {}
			http {
				access_log off; ${temporary.join(' ')}
				limit_req_zone $server_port zone=requests:1m rate=200r/s;
				limit_conn_zone $server_port zone=connections:1m;
				server { listen ${new URL(url).host}; ${locations.join(' ')} }
			}`;
		writeFileSync(join(folder, 'nginx.conf'), configuration);
		// It returns when nginx listens.
		nginx();
	});
	afterAll(() => {
		nginx('-s', 'stop');
		rmSync(folder, { recursive: true });
	});
	const useLocation = async (name: keyof typeof LOCATIONS) =>
		await bench.engine.editCredential(bench.apiKey, { baseUrl: `${url}/${name}` });

	test.each(['limit503', 'limit429', 'burst', 'connections', 'gzip'] as const)(
		'a list is complete: %s',
		async (name) => {
			hurry();
			await useLocation(name);
			bench.platform.settings.latencyMs = 1;
			await expectWholeFleet(10);
			const { headers } = await fetch(`${url}/${name}/api/version`);
			expect(headers.get('content-encoding') === 'gzip').toBe(name === 'gzip');
		},
	);

	test.each([
		['HTTP 504', 'timeout', 'hang'],
		['HTTP 502', 'plain', 'drop'],
	] as const)('%s of one page is retried', async (words, name, fault) => {
		hurry();
		await useLocation(name);
		bench.platform.settings.faults = [{ kind: 'list', page: 3, fault }];
		await expectWholeFleet(10);
		bench.platform.settings.faults = [{ kind: 'list', fault }];
		const { error } = await bench.run({ ...operations.count, options: { maxRetries: 0 } });
		expect(error?.message).toContain(words);
	});

	test('a redirect is named', async () => {
		await useLocation('redirect');
		expect((await bench.run(operations.count)).error?.message).toContain(
			'redirect to https://elsewhere.example (HTTP 301)',
		);
	});
});
