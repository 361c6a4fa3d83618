import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { INodeCredentialTestResult, IRun } from 'n8n-workflow';
import * as z from 'zod/v4';

import { checkout } from '../checkout.mts';
import { type RunOptions, type RunResult, toResult } from './engine.mts';
import { readWorkflow, type WorkflowJson } from './workflowFile.mts';

/** An engine in a process of its own, as a worker of n8n is. It loads this package from its sources. */
export interface EngineProcess {
	readonly pid: number;
	/** As `Engine.run`, with credentials out of a folder that other processes may use, too. Any number run at once. */
	run(credentialFolder: string, workflow: WorkflowJson, options?: ProcessRunOptions): Promise<RunResult>;
	/** As `Engine.testCredential`. */
	testCredential(credentialFolder: string, id: string): Promise<INodeCredentialTestResult>;
	/** Ends the process; what it is running rejects. */
	close(): Promise<void>;
}

export type ProcessRunOptions = Pick<RunOptions, 'input' | 'mode' | 'signal'>;

/** What a parent asks for, beside the number that the answer bears. */
export type Command =
	| { run: { credentialFolder: string; workflow: WorkflowJson; options: Pick<RunOptions, 'input' | 'mode'> } }
	| { test: { credentialFolder: string; id: string } };

/** Where a process finds its encryption key, which other users of the machine could read among its arguments. */
export const encryptionKeyVariable = 'ENGINE_PROCESS_ENCRYPTION_KEY';

const answerSchema = z.union([
	z.strictObject({ ready: z.literal(true) }),
	z.strictObject({ id: z.int(), result: z.unknown() }),
	z.strictObject({ id: z.int(), error: z.string() }),
]);

/**
 * Starts one and waits until it is ready, which takes some seconds.
 * @param encryptionKey what the credentials in its folders are encrypted with
 * @param environment what it is told beside what this process was told
 */
export async function startEngineProcess(
	encryptionKey: string,
	environment: Readonly<Record<string, string>> = {},
): Promise<EngineProcess> {
	const child = fork(fileURLToPath(new URL('engineProcessEntry.mts', import.meta.url)), {
		cwd: checkout,
		execArgv: ['--import', 'tsx'],
		env: { ...process.env, ...environment, [encryptionKeyVariable]: encryptionKey },
	});
	const exited = once(child, 'exit');
	const waiting = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>();
	const ready = new Promise<void>((resolve, reject) => {
		child.on('message', (message) => {
			const answer = answerSchema.parse(message);
			if ('ready' in answer) return resolve();
			const { id } = answer;
			if ('error' in answer) waiting.get(id)?.reject(new Error(answer.error));
			else waiting.get(id)?.resolve(answer.result);
			waiting.delete(id);
		});
		void exited.then(() => {
			const error = new Error('The engine process ended');
			reject(error);
			for (const { reject: fail } of waiting.values()) fail(error);
			waiting.clear();
		});
	});
	await ready;

	let last = 0;
	const send = async (command: Command, signal?: AbortSignal): Promise<unknown> => {
		const id = ++last;
		const answer = new Promise<unknown>((resolve, reject) => waiting.set(id, { resolve, reject }));
		child.send({ id, ...command });
		const cancel = () => child.connected && child.send({ id, cancel: true });
		if (signal?.aborted) cancel();
		signal?.addEventListener('abort', cancel, { once: true });
		try {
			return await answer;
		} finally {
			signal?.removeEventListener('abort', cancel);
		}
	};
	return {
		pid: child.pid ?? 0,
		async run(credentialFolder, workflow, { signal, ...options } = {}) {
			const result = await send({ run: { credentialFolder, workflow, options } }, signal);
			// What n8n saves of a run; it came out of n8n's own hands a process away.
			return toResult(readWorkflow(workflow), result as IRun);
		},
		testCredential: async (credentialFolder, id) =>
			(await send({ test: { credentialFolder, id } })) as INodeCredentialTestResult,
		async close() {
			if (child.connected) child.disconnect();
			await exited;
		},
	};
}
