import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import { Fleet } from '../platform/server.mts';
import { type Bench, deviceWorkflow, openBench } from './deviceManagement.mts';
import type { RunResult } from './engine.mts';

/**
 * One platform and one engine for all tests of a file. Each test begins with the platform's default settings, no recorded
 * requests and the same fleet of 250 devices.
 */
export function useBench(): { readonly bench: Bench } {
	let bench: Bench | undefined;
	let defaults: Bench['platform']['settings'] | undefined;
	beforeAll(async () => {
		bench = await openBench();
		defaults = { ...bench.platform.settings };
	});
	beforeEach(() => {
		if (bench === undefined || defaults === undefined) return;
		const { settings } = bench.platform;
		for (const key of Object.keys(settings)) Reflect.deleteProperty(settings, key);
		Object.assign(settings, defaults);
		bench.platform.fleet = Fleet.seeded({ size: 250, seed: 7 });
		bench.platform.forget();
	});
	afterAll(async () => await bench?.close());
	return {
		get bench() {
			if (bench === undefined) throw new Error('The bench opens with the first test');
			return bench;
		},
	};
}

export interface NodeRun {
	/** Items that come in; default: one without fields. */
	input?: readonly IDataObject[];
	/** Id of the credential; default: the API key. */
	credential?: string;
	/** The node's own settings, like `onError`. */
	settings?: Record<string, unknown>;
}

/** Runs the node once. The platform forgets what it was asked before, so that its `requests` are those of this run. */
export async function runNode(
	{ engine, platform, apiKey }: Bench,
	parameters: Record<string, unknown>,
	{ input, credential = apiKey, settings }: NodeRun = {},
): Promise<RunResult> {
	platform.forget();
	const workflow = deviceWorkflow(engine, credential, parameters, settings);
	return await engine.run(workflow, input === undefined ? {} : { input });
}

/** What the node put out. Throws what stopped the execution, so that no test takes a failed run for an empty one. */
export function outputOf(result: RunResult, nodeName = 'Devices'): INodeExecutionData[] {
	if (result.error !== undefined) throw result.error;
	return result.data(nodeName);
}

/** The data alone of what the node put out, the values in it typed as far as tests look at them. */
export function jsonOf(result: RunResult, nodeName = 'Devices'): IDataObject[] {
	return outputOf(result, nodeName).map(({ json }) => json);
}

/** The serial numbers of what the node put out. */
export function serialNumbersOf(result: RunResult, nodeName = 'Devices'): unknown[] {
	return jsonOf(result, nodeName).map(({ sn }) => sn);
}

/** The index of the input item that each output item belongs to. */
export function pairedItemsOf(result: RunResult, nodeName = 'Devices'): unknown[] {
	return outputOf(result, nodeName).map(({ pairedItem }) =>
		typeof pairedItem === 'object' && !Array.isArray(pairedItem) ? pairedItem.item : pairedItem,
	);
}

/**
 * Holds back answers until so many requests are waiting, then lets these go: whoever sends fewer at once waits for ever,
 * and the platform's `peakInFlight` shows whoever sends more.
 */
export function inGroupsOf(size: number): () => Promise<void> {
	let waiting: Array<() => void> = [];
	return async () => {
		const released = new Promise<void>((release) => waiting.push(release));
		if (waiting.length === size) {
			const group = waiting;
			waiting = [];
			for (const release of group) release();
		}
		await released;
	};
}
