import type { ICredentialDataDecryptedObject, IDataObject } from 'n8n-workflow';

import type { StartOptions } from '../platform/server.mts';
import { type Bench, deviceWorkflow, openBench } from './deviceManagement.mts';
import type { Engine, RunOptions, RunResult } from './engine.mts';

/**
 * The parameters of each operation, the same for every input item except for what they take from it: Get reads the
 * serial number in the item's `sn`, the others send the item's `mark` as a query parameter, so that a test can tell at
 * the platform which item a request is for.
 */
export const operations = {
	get: {
		resource: 'device',
		operation: 'get',
		device: { __rl: true, mode: 'sn', value: '={{ $json.sn }}' },
		output: 'raw',
	},
	getAll: {
		resource: 'device',
		operation: 'getAll',
		returnAll: true,
		output: 'raw',
		filters: { query: { parameter: [{ name: 'mark', value: '={{ $json.mark ?? "" }}' }] } },
	},
	count: {
		resource: 'device',
		operation: 'count',
		filters: { query: { parameter: [{ name: 'mark', value: '={{ $json.mark ?? "" }}' }] } },
	},
	request: {
		resource: 'api',
		operation: 'request',
		method: 'GET',
		path: '/api/echo',
		query: { parameter: [{ name: 'mark', value: '={{ $json.mark ?? "" }}' }] },
	},
} as const;

export type OperationName = keyof typeof operations;

export const operationNames = ['get', 'getAll', 'count', 'request'] as const satisfies readonly OperationName[];

/** How a node is set under "On Error". */
export type OnError = 'stopWorkflow' | 'continueRegularOutput' | 'continueErrorOutput';

export interface OperationRun extends RunOptions {
	/** Overrides and additions to the operation's parameters. */
	parameters?: Record<string, unknown>;
	/** The node's 'Options'. */
	options?: Record<string, unknown>;
	onError?: OnError;
}

/** Runs one operation of the node with a saved credential; the node's name is `Devices`. */
export async function runOperation(
	engine: Engine,
	credential: string,
	operation: OperationName,
	{ parameters = {}, options = {}, onError, ...run }: OperationRun = {},
): Promise<RunResult> {
	return await engine.run(
		deviceWorkflow(
			engine,
			credential,
			{ ...operations[operation], options, ...parameters },
			onError === undefined ? {} : { onError },
		),
		run,
	);
}

/** Opens benches for the tests of one file and closes them after each test. */
export function benches(): (options?: StartOptions) => Promise<Bench> {
	const opened: Bench[] = [];
	afterEach(async () => {
		await Promise.all(opened.splice(0).map((bench) => bench.close()));
	});
	return async (options) => {
		const bench = await openBench(options);
		opened.push(bench);
		return bench;
	};
}

/** Input items for Get: one for each of the first devices of the fleet. */
export function serialNumberItems({ platform }: Bench, count: number): IDataObject[] {
	return platform.fleet.devices.slice(0, count).map(({ sn }) => ({ sn }));
}

/** Changes fields of a saved credential, as the user does in the editor. */
export async function editCredential(
	engine: Engine,
	id: string,
	changes: ICredentialDataDecryptedObject,
): Promise<void> {
	await engine.updateCredential(id, { ...(await engine.storedCredential(id)), ...changes });
}

/** The serial numbers that a run put out, in order. */
export function serialNumbersOf(result: RunResult): unknown[] {
	return result.data('Devices').map(({ json }) => json['sn']);
}

/**
 * Lets the node's waits between attempts pass in no time, and its time-outs so many times sooner than they are set, for
 * the rest of the test. The node waits in steps of up to 250 ms; longer timers are those of n8n's requests. (jest's own
 * clocks would stop the sockets, too.)
 * @param onWait called at each step of a wait
 */
export function hurry(times = 1, onWait = () => {}): void {
	const { setTimeout: wait } = globalThis;
	const timeout = AbortSignal.timeout.bind(AbortSignal);
	const at = <Values extends unknown[]>(callback: (...values: Values) => void, ms = 0, ...values: Values) =>
		wait(callback, waited(ms), ...values);
	const waited = (ms: number) => {
		if (ms < 100 || ms > 250) return ms;
		onWait();
		return 0;
	};
	spies.push(
		jest.spyOn(globalThis, 'setTimeout').mockImplementation(Object.assign(at, { __promisify__: wait.__promisify__ })),
		jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => timeout(Math.ceil(ms / times))),
	);
}

const spies: jest.SpyInstance[] = [];
afterEach(() => {
	for (const spy of spies.splice(0)) spy.mockRestore();
});
