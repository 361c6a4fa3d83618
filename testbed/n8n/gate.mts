import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { z } from 'zod/v4';

import type { Environment, Reachable } from './services.mts';

/** A way to another server that tests can close, as if that server were away. */
export interface Gate extends Reachable {
	/** Ends all connections, and takes no new ones. */
	close(): Promise<void>;
	/** Takes connections again, on the same port. */
	open(): Promise<void>;
}

/**
 * Opens a gate on the loopback address. Its environment leads to the gate instead of the server.
 * @param prefix of the two variables that tell n8n the address of the server, like `QUEUE_BULL_REDIS`
 */
export async function gateTo({ environment }: Reachable, prefix: string): Promise<Gate> {
	const [host, port] = [environment[`${prefix}_HOST`], Number(environment[`${prefix}_PORT`])];
	const sockets = new Set<Socket>();
	const server = createServer((client) => {
		const target = connect(port, host);
		for (const socket of [client, target]) {
			sockets.add(socket);
			socket.on('close', () => sockets.delete(socket));
		}
		pipeline(client, target, client, () => {});
	});
	const open = async (own: number) => {
		server.listen(own, '127.0.0.1');
		await once(server, 'listening');
	};
	const close = async () => {
		if (!server.listening) return;
		const closed = once(server, 'close');
		server.close();
		for (const socket of sockets) socket.destroy();
		await closed;
	};
	await open(0);
	const { port: own } = z.object({ port: z.number() }).parse(server.address());
	const gate: Environment = { [`${prefix}_HOST`]: '127.0.0.1', [`${prefix}_PORT`]: String(own) };
	return { environment: { ...environment, ...gate }, close, open: async () => await open(own), stop: close };
}
