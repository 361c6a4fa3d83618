import type { IDataObject, OnError } from 'n8n-workflow';

import { credentialOf } from '../nodes/DeviceManagement/transport/auth/credential.ts';
import { deviceToolWorkflow, deviceWorkflow } from './deviceWorkflow.mts';
import { createEngine, type Engine, type RunOptions } from './engine/engine.mts';
import { jsonOf } from './output.mts';
import { type StartOptions, startPlatform } from './platform/server.mts';

/** The package under test in n8n's engine, and an embedded platform that it uses over HTTP. */
export type Bench = Awaited<ReturnType<typeof openBench>>;

/** How a node runs. The default input is one item without fields. */
export interface NodeRun extends RunOptions {
	/** Id of the credential; default: the API key. */
	credential?: string;
	onError?: OnError;
}

/** Starts a platform and an engine, and saves a credential for each way to sign in. */
export async function openBench(options: StartOptions = {}) {
	const platform = await startPlatform(options);
	const engine = await createEngine();
	const keyData = () => ({ baseUrl: platform.baseUrl, authentication: 'apiKey', apiKey: platform.apiKey });
	const account = () => ({ loginName: platform.loginName, password: platform.password });
	const loginData = () => ({ baseUrl: platform.baseUrl, authentication: 'login', ...account() });
	const type = 'deviceManagementApi';
	const apiKey = await engine.saveCredential({ name: 'API key', type, data: keyData() });
	const login = await engine.saveCredential({ name: 'Login', type, data: loginData() });
	return {
		engine,
		platform,
		/** The platform's devices as they are now. */
		get fleet() {
			return platform.fleet;
		},
		/** Ids of saved credentials for that platform. */
		apiKey,
		login,
		...runsOf(engine, apiKey),
		/** Stores a valid token in the login credential, as an earlier execution would. Returns the token. */
		async signInEarlier() {
			const token = platform.issueToken();
			const { data } = credentialOf(await engine.storedCredential(login)).withToken(token);
			await engine.updateCredential(login, data);
			return token;
		},
		/** Begins again with these settings and devices, at the same address, without log lines and with the original credentials. */
		async reset(again?: StartOptions) {
			platform.reset(again);
			engine.logs.length = 0;
			await engine.updateCredential(apiKey, keyData());
			await engine.updateCredential(login, loginData());
		},
		close: async () => await platform.stop(),
	};
}

/** @param apiKey id of the credential of runs that name none */
function runsOf(engine: Engine, apiKey: string) {
	return {
		/**
		 * Runs the node once, under the name `Devices`, after a manual trigger. If the node fails, this doesn't throw: see the
		 * result's `error`.
		 * @param parameters as the editor saves them; `operations` has a set for each operation
		 */
		run: async (parameters: Record<string, unknown>, { credential = apiKey, onError, ...run }: NodeRun = {}) =>
			await engine.run(deviceWorkflow(engine, credential, parameters, onError), run),
		/**
		 * Calls the node as a tool, all calls at once, as a model does.
		 * @param parameters may take arguments by `$fromAI('name')`
		 * @param calls the arguments of each
		 * @returns for each call the node's output items as `response`, or an `error`
		 */
		async callTool(
			parameters: Record<string, unknown>,
			calls: readonly IDataObject[],
			{ credential = apiKey, ...run }: Pick<NodeRun, 'credential' | 'signal'> = {},
		) {
			const workflow = deviceToolWorkflow(engine, credential, parameters);
			return jsonOf(await engine.run(workflow, { ...run, input: calls }), 'Agent');
		},
	};
}
