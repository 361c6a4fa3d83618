import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { z } from 'zod/v4';

import { testOnlyCertificate, testOnlyPrivateKey } from './tls/testOnlyCertificate.mts';

/**
 * Starts a server on the loopback address. Returns its origin, too, like http://127.0.0.1:41234.
 * @param port 0: any free one
 * @param tls serves HTTPS with the test-only self-signed certificate
 */
export async function listen(listener: RequestListener, port = 0, tls = false) {
	const server: Server = tls
		? createSecureServer({ key: testOnlyPrivateKey, cert: testOnlyCertificate }, listener)
		: createServer(listener);
	// Longer than any pause of a test: a client that uses a connection again must not find it closed.
	server.keepAliveTimeout = 72_000;
	await once(server.listen(port, '127.0.0.1'), 'listening');
	const address = z.object({ port: z.int() }).parse(server.address());
	return { server, origin: `${tls ? 'https' : 'http'}://127.0.0.1:${address.port}` };
}

/** Closes every connection, hanging ones too. */
export async function close(server: Server): Promise<void> {
	const closed = once(server.close(), 'close');
	server.closeAllConnections();
	await closed;
}
