import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

import { close, listen } from './platform/httpServer.mts';

/** A server that responds with any bytes, for responses that the embedded platform can't send. */
export interface RawServer {
	readonly url: string;
	/** Everything that arrived: request line and headers, as text. */
	readonly arrived: readonly string[];
	/** Resolves when all connections to the server are closed. */
	allClosed(): Promise<void>;
	/** Closes every connection, hanging ones too. */
	close(): Promise<void>;
}

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** Sends a request to this machine and waits for the response: earlier requests have arrived by then. */
export async function roundTrip(): Promise<void> {
	const server = await startRawServer((_request, response) => void response.end());
	await fetch(server.url);
	await server.close();
}

/** Starts a server on a free port of the loopback address. */
export async function startRawServer(answer: Answer, { tls = false }: { tls?: boolean } = {}): Promise<RawServer> {
	const arrived: string[] = [];
	const listener: Answer = (request, response) => {
		arrived.push([`${request.method} ${request.url}`, ...request.rawHeaders].join('\n'));
		// Many tests close the connection in the middle of a response.
		response.on('error', () => {});
		request.resume();
		answer(request, response);
	};
	const { server, origin } = await listen(listener, { host: '127.0.0.1', port: 0, tls });
	const open = new Set<Socket>();
	server.on('connection', (socket: Socket) => {
		open.add(socket);
		socket.on('error', () => {}).on('close', () => void open.delete(socket));
	});
	return {
		url: origin,
		arrived,
		async allClosed() {
			await Promise.all([...open].map((socket) => new Promise((resolve) => socket.once('close', resolve))));
		},
		close: async () => await close(server),
	};
}
