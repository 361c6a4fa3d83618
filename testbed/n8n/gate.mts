import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

import type { Service } from './services.mts';

/** A way to another server that tests can close, as if that server were away. */
export interface Gate extends Service {
	/** Ends all connections, and takes no new ones. */
	close(): Promise<void>;
	/** Takes connections again, on the same port. */
	open(): Promise<void>;
}

/**
 * Opens a gate on the loopback address.
 * @param names the variables that tell n8n the address, whose values now lead to the gate
 */
export async function gateTo(host: string, port: number, names: { host: string; port: string }): Promise<Gate> {
	const sockets = new Set<Socket>();
	const join = (client: Socket) => {
		const target = connect(port, host);
		for (const [one, other] of [
			[client, target],
			[target, client],
		] as const) {
			sockets.add(one);
			one.pipe(other);
			one
				.on('error', () => {})
				.on('close', () => {
					sockets.delete(one);
					other.destroy();
				});
		}
	};
	const listen = async (own: number): Promise<Server> => {
		const server = createServer(join).listen(own, '127.0.0.1');
		await once(server, 'listening');
		return server;
	};
	let server = await listen(0);
	const address = server.address();
	if (address === null || typeof address === 'string') throw new Error('A server on a port has an address');
	const close = async () => {
		if (!server.listening) return;
		const closed = once(server, 'close');
		server.close();
		for (const socket of sockets) socket.destroy();
		await closed;
	};
	return {
		environment: { [names.host]: '127.0.0.1', [names.port]: String(address.port) },
		close,
		async open() {
			server = await listen(address.port);
		},
		stop: close,
	};
}
