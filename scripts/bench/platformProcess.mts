/**
 * The embedded platforms in a separate process, so that they do not share the event loop with the contenders.
 * platforms.mts starts it with the sizes of the fleets as arguments.
 */
import { Fleet, startPlatform } from '../../testbed/platform/server.mts';
import { LATENCY_MS, type Served } from './platforms.mts';

const served: Served[] = [];
for (const size of process.argv.slice(2).map(Number)) {
	const fleet = Fleet.seeded({ size });
	fleet.warm();
	const serialNumbers = fleet.devices.slice(0, 1000).map(({ sn }) => sn);
	for (const condition of [
		{ latencyMs: LATENCY_MS, tls: false },
		{ latencyMs: LATENCY_MS, tls: true },
		{ latencyMs: 0, tls: false },
	]) {
		const { baseUrl, apiKey } = await startPlatform({ fleet, ...condition });
		served.push({ size, ...condition, baseUrl, apiKey, serialNumbers });
	}
}
process.on('disconnect', () => process.exit());
process.send?.(served);
