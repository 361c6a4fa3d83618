import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream';

import { listen } from '../../testbed/platform/httpServer.mts';
import { testOnlyCertificate } from '../../testbed/platform/tls/testOnlyCertificate.mts';

export type PrivateNetwork = Awaited<ReturnType<typeof startPrivateNetwork>>;

/** A network where n8n reaches platforms with TLS only through a proxy, and has to trust their own authority. */
export async function startPrivateNetwork(folder: string) {
	const file = join(folder, 'our-authority.pem');
	await writeFile(file, testOnlyCertificate);
	const { server, origin } = await listen(() => {});
	/** What n8n asked the proxy for, like `127.0.0.1:8443`. */
	const reached = new Set<string>();
	server.on('connect', ({ url = '' }, client) => {
		reached.add(url);
		const [host, port] = url.split(':');
		const target = connect(Number(port), host, () => client.write('HTTP/1.1 200 Connection Established\r\n\r\n'));
		pipeline(client, target, client, () => {});
	});
	const environment = { NODE_EXTRA_CA_CERTS: file, HTTPS_PROXY: origin, NO_PROXY: 'localhost' };
	// n8n has ended by then, but a tunnel to a host that doesn't respond may be open for minutes: nothing waits for it.
	return { environment, reached, stop: async () => void server.close() };
}
