import { devicesInPostgres } from '../../testbed/devicesInPostgres.mts';
import { Unreachable } from '../../testbed/n8n/services.mts';
import { Fleet } from '../../testbed/platform/fleet.mts';
import { listDevices } from '../../testbed/platform/listing.mts';
import { type DeviceSource, settingsSchema } from '../../testbed/platform/settings.mts';

const settings = settingsSchema.parse({ ownSort: 'createTime desc', equalValues: 'unsteady' });

async function expectToLoseDevices({ size: count }: Fleet, source: DeviceSource): Promise<void> {
	const read = async (size: number, sort?: string) => {
		const listed = [];
		for (let page = 1; page <= count / size; page++) {
			const query = { page: String(page), size: String(size), sort };
			const { items } = await source({ query, body: {} }, settings);
			listed.push(...items.map(({ sn }) => sn));
		}
		expect(listed).toHaveLength(count);
		return listed;
	};
	const readings = [await read(100), await read(50), await read(100, 'onlineStatus asc')];
	for (const listed of readings) expect(new Set(listed).size).toBeLessThan(0.95 * count);
	expect(await read(100)).toEqual(readings[0]);
	expect(new Set(await read(100, 'createTime,id desc')).size).toBe(count);
}

test("PostgreSQL repeats and loses devices with equal values, and so does the embedded platform's setting", async () => {
	const fleet = Fleet.seeded({ size: 2000 });
	// 1,200 devices imported in one second.
	for (const { sn } of fleet.devices.slice(300, 1500)) fleet.update(sn, { createTime: '2026-01-01 00:00:00' });
	await expectToLoseDevices(fleet, async (request) => listDevices(fleet, request, settings));
	try {
		const { source, stop } = await devicesInPostgres(fleet);
		await expectToLoseDevices(fleet, source).finally(stop);
	} catch (error) {
		if (!(error instanceof Unreachable)) throw error;
		console.warn(`SKIPPED: 'equalValues' was not compared with a database.\n${error.message}`);
	}
});
