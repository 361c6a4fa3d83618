import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { z } from 'zod/v4';

import type { Environment, Service } from '../../testbed/n8n/services.mts';
import type { EmbeddedPlatform } from '../../testbed/platform/server.mts';

/** The address of the platform in all pictures. */
export const ADDRESS = 'https://devices.example.com';

/** Lets a process reach an embedded platform at {@link ADDRESS}: its environment names a proxy that leads there. */
export async function serveAtAddress(platform: EmbeddedPlatform): Promise<Service & { environment: Environment }> {
	const proxy = createServer();
	proxy.on('connect', (_request, socket) => {
		const onward = connect(Number(new URL(platform.baseUrl).port), '127.0.0.1', () => {
			socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
			socket.pipe(onward).pipe(socket);
		});
		socket.on('error', () => onward.destroy());
		onward.on('error', () => socket.destroy());
	});
	await once(proxy.listen(0, '127.0.0.1'), 'listening');
	const { port } = z.object({ port: z.number() }).parse(proxy.address());
	// The test certificate names this machine only.
	const trust = { NODE_TLS_REJECT_UNAUTHORIZED: '0', NODE_NO_WARNINGS: '1' };
	return {
		environment: { HTTPS_PROXY: `http://127.0.0.1:${port}`, ...trust },
		stop: async () => void proxy.close().closeAllConnections(),
	};
}
