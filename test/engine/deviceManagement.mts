import { resolve } from 'node:path';

import { type Platform, type StartOptions, startPlatform } from '../platform/server.mts';
import { createEngine, type Engine, type WorkflowJson } from './engine.mts';

/** The package under test in n8n's engine, beside an embedded platform that it talks to over HTTP. */
export interface Bench {
	engine: Engine;
	platform: Platform;
	/** Ids of saved credentials for that platform. */
	apiKey: string;
	login: string;
	close(): Promise<void>;
}

/** Starts a platform and an engine, and saves a credential for each way to sign in. */
export async function openBench(options: StartOptions = {}): Promise<Bench> {
	const platform = await startPlatform(options);
	const engine = await createEngine({ packageDirectory: resolve(__dirname, '../..') });
	const save = async (name: string, data: Record<string, string>) =>
		await engine.saveCredential({ name, type: 'deviceManagementApi', data: { baseUrl: platform.baseUrl, ...data } });
	return {
		engine,
		platform,
		apiKey: await save('API key', { authentication: 'apiKey', apiKey: platform.apiKey }),
		login: await save('Login', {
			authentication: 'login',
			loginName: platform.loginName,
			password: platform.password,
		}),
		async close() {
			await engine.close();
			await platform.stop();
		},
	};
}

/** A workflow: a manual trigger, then this package's node under the name `Devices`, then whatever follows each output. */
export function deviceWorkflow(
	engine: Engine,
	credential: string,
	parameters: Record<string, unknown>,
	settings: Record<string, unknown> = {},
): WorkflowJson {
	return {
		nodes: [
			{ name: 'Start', type: 'n8n-nodes-base.manualTrigger' },
			{
				name: 'Devices',
				type: 'n8n-nodes-device-management.deviceManagement',
				typeVersion: 1,
				parameters,
				credentials: engine.credentialReference(credential),
				...settings,
			},
		],
		connections: { Start: { main: [[{ node: 'Devices', type: 'main', index: 0 }]] } },
	} as WorkflowJson;
}
