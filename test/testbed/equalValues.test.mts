import { z } from 'zod/v4';

import { devicesInPostgres } from '../../testbed/devicesInPostgres.mts';
import { Unreachable } from '../../testbed/n8n/services.mts';
import { Fleet, startPlatform } from '../../testbed/platform/server.mts';

const listSchema = z.object({ data: z.object({ content: z.array(z.object({ sn: z.string() })) }) });
const stops: Array<() => Promise<void>> = [];
afterEach(async () => {
	for (const stop of stops.splice(0).reverse()) await stop();
});

test.each(['The embedded platform', 'PostgreSQL'])('%s repeats and loses devices with equal values', async (name) => {
	const fleet = Fleet.seeded({ size: 2000 });
	// 1,200 devices imported in one second.
	for (const { sn } of fleet.devices.slice(300, 1500)) fleet.update(sn, { createTime: '2026-01-01 00:00:00' });
	const source =
		name !== 'PostgreSQL'
			? undefined
			: await devicesInPostgres(fleet).catch((error: unknown) => {
					if (!(error instanceof Unreachable)) throw error;
					console.warn(`SKIPPED: 'equalValues' was not compared with a database.\n${error.message}`);
					return undefined;
				});
	stops.push(async () => await source?.stop());
	const platform = await startPlatform({ fleet, source, ownSort: 'createTime desc', equalValues: 'unsteady' });
	stops.push(async () => await platform.stop());
	const headers = { 'content-type': 'application/json', authorization: `ApiKey ${platform.apiKey}` };
	const read = async (size: number, query = '') => {
		const listed = [];
		for (let page = 1; page <= 2000 / size; page++) {
			const url = `${platform.baseUrl}/api/device/list?page=${page}&size=${size}${query}`;
			const response = await fetch(url, { method: 'POST', headers, body: '{}' });
			listed.push(...listSchema.parse(await response.json()).data.content.map(({ sn }) => sn));
		}
		expect(listed).toHaveLength(2000);
		return listed;
	};
	const readings = [await read(100), await read(50), await read(100, '&sort=onlineStatus')];
	for (const listed of readings) expect(new Set(listed).size).toBeLessThan(1900);
	expect(await read(100)).toEqual(readings[0]);
	expect(new Set(await read(100, '&sort=createTime,id')).size).toBe(2000);
});
