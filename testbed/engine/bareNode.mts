/**
 * A polling node without n8n's engine, for tests that poll tens of thousands of times. It has the parts of n8n's poll
 * context that the trigger reads. Other tests show that n8n's engine does the same.
 */
import { stringify } from 'node:querystring';

import { type IPollFunctions, ObservableObject } from 'n8n-workflow';

import { checkPayload, payloadOf } from '../../nodes/DeviceManagement/core/response.ts';
import type { openPlatform } from '../../nodes/DeviceManagement/transport/platform.ts';
import { pollDevices } from '../../nodes/DeviceManagement/trigger/poll/poll.ts';
import type { EmbeddedPlatform } from '../platform/server.mts';
import type { LogEntry, PollingNodeOptions, WorkflowJson } from './engine.mts';
import type { HostedNode } from '../watch.mts';

/** Replaces n8n, with an embedded platform. */
export class BareEngine {
	readonly logs: Array<Pick<LogEntry, 'level' | 'message'>> = [];
	/** The states before and after the last poll; empty if there is none. */
	handed = '';
	written = '';

	constructor(readonly platform: EmbeddedPlatform) {}

	/** Any credential: each request has the API key. */
	credentialReference(id: string): Record<string, { id: string; name: string }> {
		return { deviceManagementApi: { id, name: 'key' } };
	}

	/** The platform without HTTP, tokens, retries and timeouts. Its responses are read as usual. */
	private readonly reach: typeof openPlatform = async () => ({
		request: async ({ schema, method, path, query, body, words }) => {
			const url = query === undefined ? path : `${path}?${stringify(query)}`;
			const headers = { authorization: `ApiKey ${this.platform.apiKey}`, 'content-type': 'application/json' };
			const { status, body: text } = await this.platform.respond({ method, url, headers }, body);
			const asked = { words, mayChange: false, redact: String };
			return checkPayload(payloadOf({ status, body: Buffer.from(text) }, asked), schema);
		},
		stop: () => {},
	});

	pollingNode(source: WorkflowJson, options: PollingNodeOptions = {}): HostedNode {
		const [node] = source.nodes;
		if (node === undefined) throw new Error('The workflow has no node');
		const marked = ObservableObject.create(options.staticData ?? {}, undefined, { ignoreEmptyOnFirstChild: true });
		const staticData = Object.assign(marked, { __dataChanged: false });
		const ownData = () => (staticData[`node:${node.name}`] ??= ObservableObject.create({}, staticData));
		const parameters: Record<string, unknown> = { ...DEFAULTS, ...node.parameters };
		const log = (level: string) => (message: string) => void this.logs.push({ level, message });
		const context = {
			getMode: () => options.mode ?? 'trigger',
			getActivationMode: () => options.activation ?? 'update',
			getNode: () => node,
			getWorkflow: () => ({ id: source.id }),
			getNodeParameter: (name: string, fallback: unknown) => (name in parameters ? parameters[name] : fallback),
			getWorkflowStaticData: () => options.getNodeState?.() ?? ownData(),
			getCredentials: async () => ({ baseUrl: 'http://platform.invalid', authentication: 'apiKey', apiKey: 'key' }),
			...(options.budgetMs === undefined ? {} : { getPollBudgetMs: () => options.budgetMs }),
			logger: { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') },
			// The rest of n8n's interface is missing.
		} as unknown as IPollFunctions;
		const state = () => String(context.getWorkflowStaticData('node')['state'] ?? '');
		const poll = async () => {
			this.handed = state();
			const output = await pollDevices(context, this.reach).finally(() => (this.written = state()));
			return output?.[0] ?? null;
		};
		return { workflow: { staticData }, context, poll };
	}
}

/** The form's defaults. */
const DEFAULTS: Record<string, unknown> = { events: ['deviceCreated'], output: 'simplified' };
