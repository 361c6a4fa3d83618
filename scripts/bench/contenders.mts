/**
 * Reads fleets in each compared way, with this package and its rivals in n8n's engine. Each read is a whole execution, and fails if a
 * device is missing. It measures no time.
 */
import { fileURLToPath } from 'node:url';
import { z } from 'zod/v4';

import { optionFields } from '../../nodes/DeviceManagement/fields/options.ts';
import { checkout } from '../../testbed/checkout.mts';
import { deviceWorkflow } from '../../testbed/deviceWorkflow.mts';
import { createEngine, type Engine, type WorkflowJson } from '../../testbed/engine/engine.mts';
import { triggerWorkflow } from '../../testbed/watch.mts';
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

/** The parts of a page that are needed here. Checking every device would take time that other contenders don't need. */
const pageSchema = z.object({ data: z.object({ content: z.custom<unknown[]>(Array.isArray) }) });

/** Reads fleets in each compared way. */
export class Readers {
	private readonly credentials = new Map<string, string>();

	private constructor(private readonly engine: Engine) {}

	/** Loads this package and its rivals into n8n's engine. */
	static async load(): Promise<Readers> {
		const rivals = fileURLToPath(new URL('rival', import.meta.url));
		return new Readers(await createEngine({ packageDirectory: checkout, otherPackages: [rivals] }));
	}

	/** Reads a whole fleet. Throws if the number of devices is wrong. */
	async list({ kind, pageSize }: Contender, fleet: Served): Promise<void> {
		const credential = await this.credential(fleet);
		const options = pageSize === undefined ? {} : { pageSize };
		const parameters = { resource: 'device', operation: 'getAll', returnAll: true, options };
		const workflow = deviceWorkflow(this.engine, credential, parameters);
		const result = await this.engine.run(kind === 'node' ? workflow : rivalOf(workflow, kind, fleet, pageSize));
		this.engine.logs.length = 0;
		if (result.error !== undefined) throw new Error(result.error.message);
		const items = result.data('Devices');
		const lengthOf = (page: unknown) => pageSchema.parse(page).data.content.length;
		const found = kind === 'http request' ? items.reduce((sum, { json }) => sum + lengthOf(json), 0) : items.length;
		if (found !== fleet.size) throw new Error(`${kind} read ${found} of ${fleet.size} devices`);
	}

	/**
	 * Lets a trigger record its baseline.
	 * @param name different for each trigger
	 * @returns a function that polls once and returns the number of requests. It throws if the poll reported an event.
	 */
	async trigger(fleet: Served, name: string, events: readonly string[]): Promise<() => Promise<number>> {
		const workflow = triggerWorkflow(this.engine, await this.credential(fleet), { events }, `${name} ${fleet.size}`);
		const { context, poll } = this.engine.pollingNode(workflow);
		let requests = 0;
		const { httpRequestWithAuthentication } = context.helpers;
		context.helpers.httpRequestWithAuthentication = async function (...request) {
			requests++;
			return await httpRequestWithAuthentication.call(this, ...request);
		};
		await poll();
		return async () => {
			requests = 0;
			const items = await poll();
			this.engine.logs.length = 0;
			if (items !== null) throw new Error(`${name} reported ${items.length} events`);
			return requests;
		};
	}

	async close(): Promise<void> {
		await this.engine.close();
	}

	private async credential({ baseUrl, apiKey, tls }: Served): Promise<string> {
		let id = this.credentials.get(baseUrl);
		if (id === undefined) {
			const data = { baseUrl, authentication: 'apiKey', apiKey, allowUnauthorizedCerts: tls };
			id = await this.engine.saveCredential({ name: baseUrl, type: 'deviceManagementApi', data });
			this.credentials.set(baseUrl, id);
		}
		return id;
	}
}

/** The same workflow with a rival in the place of this package's node. */
function rivalOf(workflow: WorkflowJson, kind: Contender['kind'], fleet: Served, pageSize?: number): WorkflowJson {
	const isPaged = kind === 'http request';
	const parameters = {
		isPaged,
		url: `${fleet.baseUrl}/api/device/list`,
		pageSize: pageSize ?? (isPaged ? 0 : defaults.pageSize),
		parallel: defaults.parallel,
		allowUnauthorizedCerts: fleet.tls,
	};
	const nodes = workflow.nodes.map((node) =>
		node.name === 'Devices' ? { ...node, type: 'n8n-nodes-bench-rival.rivalList', parameters } : node,
	);
	return { ...workflow, nodes };
}
