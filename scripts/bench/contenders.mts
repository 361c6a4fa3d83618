import { fileURLToPath } from 'node:url';
import pLimit from 'p-limit';
import { Agent, request } from 'undici';
import { z } from 'zod/v4';
import { optionFields } from '../../nodes/DeviceManagement/fields/options.ts';
import { deviceWorkflow } from '../../testbed/deviceWorkflow.mts';
import { triggerWorkflow } from '../../testbed/watch.mts';
import { createEngine, type Engine, type RunResult, type WorkflowJson } from '../../testbed/engine/engine.mts';
import { checkout } from '../../testbed/checkout.mts';
import type { Contender, Served } from './protocol.mts';

/** The node's own defaults. */
export const defaults = {
	pageSize: optionFields.pageSize.default,
	parallel: optionFields.parallelRequests.default,
};

const rivalPackage = fileURLToPath(new URL('rival', import.meta.url));

/** A list that a contender read. It keeps the devices in memory. */
export interface Read {
	count: number;
	devices: unknown;
}

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
	async list(contender: Contender, fleet: Served): Promise<Read> {
		const read = await this.listUnchecked(contender, fleet);
		if (read.count === fleet.size) return read;
		throw new Error(`${contender.kind} read ${read.count} of ${fleet.size} devices`);
	}

	/** Reads devices by their serial numbers, one request each. */
	async get({ kind, parallel }: Contender, fleet: Served): Promise<void> {
		const { serialNumbers } = fleet;
		let count: number;
		if (kind === 'undici') {
			count = (await getWithUndici(fleet, parallel ?? defaults.parallel)).length;
		} else {
			const parameters = {
				resource: 'device',
				operation: 'get',
				device: { __rl: true, mode: 'sn', value: '={{ $json.sn }}' },
				options: parallel === undefined ? {} : { parallelRequests: parallel },
			};
			const workflow = deviceWorkflow(this.engine, await this.credential(fleet), parameters);
			const result = await this.run(workflow, serialNumbers);
			count = result.data('Devices').length;
		}
		if (count !== serialNumbers.length) throw new Error(`${kind} got ${count} of ${serialNumbers.length} devices`);
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

	private async listUnchecked(contender: Contender, fleet: Served): Promise<Read> {
		const { kind, pageSize, parallel, output = 'simplified' } = contender;
		if (kind === 'undici') {
			const devices = await listWithUndici(fleet, pageSize ?? defaults.pageSize, parallel ?? defaults.parallel);
			return { count: devices.length, devices };
		}
		const credential = await this.credential(fleet);
		if (kind === 'node') {
			const options = {
				...(pageSize === undefined ? {} : { pageSize }),
				...(parallel === undefined ? {} : { parallelRequests: parallel }),
			};
			const parameters = { resource: 'device', operation: 'getAll', returnAll: true, output, options };
			const result = await this.run(deviceWorkflow(this.engine, credential, parameters));
			const devices = result.data('Devices');
			return { count: devices.length, devices };
		}
		const workflow =
			kind === 'http request'
				? this.rivalWorkflow(credential, fleet, 'pagedHttpRequest', { pageSize: pageSize ?? 0 })
				: this.rivalWorkflow(credential, fleet, 'parallelPages', {
						pageSize: pageSize ?? defaults.pageSize,
						parallel: parallel ?? defaults.parallel,
					});
		const pages = (await this.run(workflow)).data('Pages');
		const count = pages.reduce((sum, { json }) => sum + pageSchema.parse(json).data.content.length, 0);
		return { count, devices: pages };
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
		node: 'pagedHttpRequest' | 'parallelPages',
		parameters: Record<string, number>,
	): WorkflowJson {
		return {
			nodes: [
				{ name: 'Start', type: 'n8n-nodes-base.manualTrigger' },
				{
					name: 'Pages',
					type: `n8n-nodes-bench-rival.${node}`,
					parameters: { ...parameters, url: `${baseUrl}/api/device/list`, allowUnauthorizedCerts: tls },
					credentials: this.engine.credentialReference(credential),
				},
			],
			connections: { Start: { main: [[{ node: 'Pages', type: 'main', index: 0 }]] } },
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

/** The parts of a page that are needed here. Checking every device would take time that other contenders don't need. */
const pageSchema = z.object({
	data: z.object({ content: z.custom<unknown[]>(Array.isArray), totalPages: z.number() }),
});

/** Outside n8n: only the requests, on reused connections, with known page numbers. */
async function listWithUndici(fleet: Served, pageSize: number, parallel: number): Promise<unknown[]> {
	const client = new UndiciClient(fleet, parallel);
	const fetchPage = async (page: number) =>
		pageSchema.parse(await client.send('POST', `/api/device/list?page=${page}&size=${pageSize}`, '{}')).data;
	try {
		const first = await fetchPage(1);
		const rest = Array.from({ length: first.totalPages - 1 }, (_, index) => index + 2);
		const inTurn = pLimit(parallel);
		const pages = await Promise.all(rest.map(async (page) => await inTurn(fetchPage, page)));
		return [first, ...pages].flatMap(({ content }) => content);
	} finally {
		await client.close();
	}
}

async function getWithUndici(fleet: Served, parallel: number): Promise<unknown[]> {
	const client = new UndiciClient(fleet, parallel);
	try {
		const inTurn = pLimit(parallel);
		return await Promise.all(
			fleet.serialNumbers.map(
				async (sn) => await inTurn(async () => await client.send('GET', `/api/device/sn/${encodeURIComponent(sn)}`)),
			),
		);
	} finally {
		await client.close();
	}
}

class UndiciClient {
	private readonly agent: Agent;

	constructor(
		private readonly fleet: Served,
		connections: number,
	) {
		this.agent = new Agent({ connections, connect: { rejectUnauthorized: false } });
	}

	async send(method: 'GET' | 'POST', path: string, body?: string): Promise<unknown> {
		const { body: answer } = await request(`${this.fleet.baseUrl}${path}`, {
			method,
			dispatcher: this.agent,
			headers: {
				authorization: `ApiKey ${this.fleet.apiKey}`,
				accept: 'application/json',
				...(body === undefined ? {} : { 'content-type': 'application/json' }),
			},
			...(body === undefined ? {} : { body }),
		});
		return await answer.json();
	}

	async close(): Promise<void> {
		await this.agent.close();
	}
}
