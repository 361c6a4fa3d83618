import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { ClientRequest, IncomingMessage } from 'node:http';

/**
 * Reports every finished HTTP request of this process.
 * @param tell gets one line per request, without secrets
 * @returns functions that end it, and that tell the number of requests and the time since the start
 */
export function watchRequests(tell: (line: string) => void): { stop(): void; summary(): string } {
	const began = performance.now();
	const sent = new WeakMap<object, number>();
	let answered = 0;
	const start = (message: unknown) => void sent.set(Object(message).request, performance.now());
	const finish = (message: unknown) => {
		const { request, response } = Object(message);
		if (!(request instanceof ClientRequest) || !(response instanceof IncomingMessage)) return;
		answered++;
		const took = Math.round(performance.now() - (sent.get(request) ?? began));
		tell(`${request.method} ${withoutSecrets(request.path)} · HTTP ${response.statusCode} · ${took} ms`);
	};
	subscribe('http.client.request.start', start);
	subscribe('http.client.response.finish', finish);
	return {
		stop() {
			unsubscribe('http.client.request.start', start);
			unsubscribe('http.client.response.finish', finish);
		},
		summary() {
			const seconds = ((performance.now() - began) / 1000).toFixed(1);
			return `${answered === 1 ? 'one request' : `${answered} requests`} in ${seconds} s`;
		},
	};
}

/** Shows only the page parameters, because another query parameter may be a key. */
function withoutSecrets(target: string): string {
	const { pathname, searchParams } = new URL(target, 'http://platform.invalid');
	const paging = ['page', 'size'].filter((name) => searchParams.has(name));
	const query = paging.map((name) => `${name}=${searchParams.get(name)}`).join('&');
	return query === '' ? pathname : `${pathname}?${query}`;
}
