import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { INodeCredentialTestResult } from 'n8n-workflow';

import { type Bench, type NodeRun, openBench } from './bench.mts';
import { deviceWorkflow } from './deviceWorkflow.mts';
import type { EngineProcess } from './engine/engineProcess.mts';
import type { StartOptions } from './platform/server.mts';
import { removing } from './removing.mts';

/** A bench whose credentials several processes use, like the workers of one n8n. */
export interface ProcessBench extends Bench {
	readonly processes: ReadonlyArray<{
		/** Runs the node in that process. */
		run: Bench['run'];
		/** Tests a credential in that process. */
		testCredential(id: string): Promise<INodeCredentialTestResult>;
	}>;
}

/** Opens a bench over processes with the same encryption key. */
export async function openProcessBench(
	processes: readonly EngineProcess[],
	options?: StartOptions,
): Promise<ProcessBench> {
	const folder = await mkdtemp(join(tmpdir(), 'credentials-'));
	const bench = await openBench(options, folder);
	return {
		...bench,
		get fleet() {
			return bench.fleet;
		},
		processes: processes.map((process) => ({
			run: async (parameters, { credential = bench.apiKey, onError, ...run }: NodeRun = {}) =>
				await process.run(folder, deviceWorkflow(bench.engine, credential, parameters, onError), run),
			testCredential: async (id) => await process.testCredential(folder, id),
		})),
		close: async () => {
			await bench.close();
			await rm(folder, removing);
		},
	};
}
