import { fileURLToPath } from 'node:url';
import { z } from 'zod/v4';
import { optionFields } from '../../nodes/DeviceManagement/fields/options.ts';
import { deviceWorkflow } from '../../testbed/deviceWorkflow.mts';
import { triggerWorkflow } from '../../testbed/watch.mts';
import { createEngine, type Engine, type RunResult, type WorkflowJson } from '../../testbed/engine/engine.mts';
import { checkout } from '../../testbed/checkout.mts';
import type { Served } from './platforms.mts';

/** How a list is read. */
export interface Contender {
	kind: 'node' | 'http request' | 'request helper';
	/** Default: that of the node; of the platform for the HTTP Request node. */
	pageSize?: number;
}

/** The node's own defaults. */
export const defaults = {
	pageSize: optionFields.pageSize.default,
	parallel: optionFields.parallelRequests.default,
};

const rivalPackage = fileURLToPath(new URL('rival', import.meta.url));

/** The parts of a page that are needed here. Checking every device would take time that other contenders don't need. */
const pageSchema = z.object({ data: z.object({ content: z.custom<unknown[]>(Array.isArray) }) });

/** Reads fleets in each compared way. */
export class Readers {
	private readonly credentials = new Map<string, string>();

	private constructor(private readonly engine: Engine) {}

	/**
	 * Loads this package and the rival's into n8n's engine.
	 * @param packageDirectory a checkout with a built package; default: this one
	 */
	static async load(packageDirectory = checkout): Promise<Readers> {
		return new Readers(await createEngine({ packageDirectory, otherPackages: [rivalPackage] }));
	}

	/** Reads a whole fleet. Throws if the number of devices is wrong. */
	async list({ kind, pageSize }: Contender, fleet: Served): Promise<void> {
		const credential = await this.credential(fleet);
		const options = pageSize === undefined ? {} : { pageSize };
		const parameters = { resource: 'device', operation: 'getAll', returnAll: true, options };
		const workflow =
			kind === 'node'
				? deviceWorkflow(this.engine, credential, parameters)
				: this.rivalWorkflow(credential, fleet, kind === 'http request', pageSize);
		const items = (await this.run(workflow)).data('Devices');
		const found =
			kind === 'http request'
				? items.reduce((sum, { json }) => sum + pageSchema.parse(json).data.content.length, 0)
				: items.length;
		if (found !== fleet.size) throw new Error(`${kind} read ${found} of ${fleet.size} devices`);
	}

	/** Reads devices by their serial numbers, one request each. */
	async get(fleet: Served): Promise<void> {
		const { serialNumbers } = fleet;
		const device = { __rl: true, mode: 'sn', value: '={{ $json.sn }}' };
		const parameters = { resource: 'device', operation: 'get', device };
		const workflow = deviceWorkflow(this.engine, await this.credential(fleet), parameters);
		const { length } = (await this.run(workflow, serialNumbers)).data('Devices');
		if (length !== serialNumbers.length) throw new Error(`Got ${length} of ${serialNumbers.length} devices`);
	}

	/**
	 * Polls the trigger once.
	 * @param name the trigger's name, different for each trigger
	 * @param state its memory; undefined records a baseline
	 */
	async poll(
		fleet: Served,
		name: string,
		parameters: Record<string, unknown>,
		state: string | undefined,
	): Promise<{ reported: number; state: string; requests: number }> {
		const workflow = triggerWorkflow(this.engine, await this.credential(fleet), parameters, `${name} ${fleet.size}`);
		const { context, poll } = this.engine.pollingNode(workflow);
		const kept = context.getWorkflowStaticData('node');
		if (state !== undefined) kept['state'] = state;
		let requests = 0;
		const { httpRequestWithAuthentication } = context.helpers;
		context.helpers.httpRequestWithAuthentication = async function (...request) {
			requests++;
			return await httpRequestWithAuthentication.call(this, ...request);
		};
		const items = await poll();
		this.engine.logs.length = 0;
		return { reported: items?.length ?? 0, state: String(kept['state']), requests };
	}

	async close(): Promise<void> {
		await this.engine.close();
	}

	private async run(workflow: WorkflowJson, serialNumbers?: readonly string[]): Promise<RunResult> {
		const input = serialNumbers?.map((sn) => ({ sn }));
		const result = await this.engine.run(workflow, input === undefined ? {} : { input });
		this.engine.logs.length = 0;
		if (result.error !== undefined) throw new Error(result.error.message);
		return result;
	}

	private rivalWorkflow(
		credential: string,
		{ baseUrl, tls }: Served,
		isPaged: boolean,
		pageSize = isPaged ? 0 : defaults.pageSize,
	): WorkflowJson {
		const url = `${baseUrl}/api/device/list`;
		const { parallel } = defaults;
		return {
			nodes: [
				{ name: 'Start', type: 'n8n-nodes-base.manualTrigger' },
				{
					name: 'Devices',
					type: 'n8n-nodes-bench-rival.rivalList',
					parameters: { isPaged, url, pageSize, parallel, allowUnauthorizedCerts: tls },
					credentials: this.engine.credentialReference(credential),
				},
			],
			connections: { Start: { main: [[{ node: 'Devices', type: 'main', index: 0 }]] } },
		};
	}

	private async credential({ baseUrl, apiKey, tls }: Served): Promise<string> {
		let id = this.credentials.get(baseUrl);
		if (id === undefined) {
			id = await this.engine.saveCredential({
				name: baseUrl,
				type: 'deviceManagementApi',
				data: { baseUrl, authentication: 'apiKey', apiKey, allowUnauthorizedCerts: tls },
			});
			this.credentials.set(baseUrl, id);
		}
		return id;
	}
}
