/**
 * The embedded platform in a separate process, so that it does not share the event loop with the contenders.
 * platforms.mts starts it with the sizes of the fleets as arguments.
 */
import { Fleet, type EmbeddedPlatform, startPlatform } from '../../testbed/platform/server.mts';
import { commandSchema, type Message, type Served } from './protocol.mts';

const sizes = process.argv.slice(2).map(Number);
const platforms: EmbeddedPlatform[] = [];
const served: Served[] = [];
for (const size of sizes) {
	const fleet = Fleet.seeded({ size });
	fleet.warm();
	for (const tls of [false, true]) {
		const platform = await startPlatform({ fleet, tls });
		platforms.push(platform);
		served.push({
			size,
			tls,
			baseUrl: platform.baseUrl,
			apiKey: platform.apiKey,
			serialNumbers: fleet.devices.slice(0, 1000).map(({ sn }) => sn),
		});
	}
}

process.on('message', (message) => {
	const { latencyMs } = commandSchema.parse(message);
	for (const platform of platforms) {
		platform.settings.latencyMs = latencyMs;
		platform.forget();
	}
	tell({ ready: true });
});
process.on('disconnect', () => process.exit());
tell({ served });

function tell(message: Message): void {
	process.send?.(message);
}
