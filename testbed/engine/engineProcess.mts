import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { INodeCredentialTestResult, IRun } from 'n8n-workflow';
import * as z from 'zod/v4';

import { checkout } from '../checkout.mts';
import { type RunOptions, type RunResult, toResult } from './engine.mts';
import { readWorkflow, type WorkflowJson } from './workflowFile.mts';

/** An engine in a separate process, like an n8n worker. It loads this package from its sources. */
export interface EngineProcess {
	readonly pid: number;
	/** Like `Engine.run`, with credentials from a folder that other processes may share. Any number can run at once. */
	run(credentialFolder: string, workflow: WorkflowJson, options?: RunOptions): Promise<RunResult>;
	/** Like `Engine.testCredential`. */
	testCredential(credentialFolder: string, id: string): Promise<INodeCredentialTestResult>;
	/** Ends the process; its running calls reject. */
	close(): Promise<void>;
}

/** A request of the parent process, without its number. */
export type Command =
	| { run: { credentialFolder: string; workflow: WorkflowJson; options: Pick<RunOptions, 'input'> } }
	| { test: { credentialFolder: string; id: string } };

/** The environment variable of the encryption key. Other users of the machine could read command-line arguments. */
export const encryptionKeyVariable = 'ENGINE_PROCESS_ENCRYPTION_KEY';

const answerSchema = z.union([
	z.strictObject({ ready: z.literal(true) }),
	z.strictObject({ id: z.int(), result: z.unknown() }),
	z.strictObject({ id: z.int(), error: z.string() }),
]);

/**
 * Starts a process and waits until it is ready, which takes some seconds.
 * @param encryptionKey encrypts the credentials in its folders
 * @param environment additional environment variables
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
			// n8n's record of a run, made by n8n in the other process.
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
