/**
 * A polling node without n8n's engine, for tests that poll tens of thousands of times. It has the parts of n8n's poll
 * context that the trigger reads. Other tests show that n8n's engine does the same.
 */
import type { IDataObject, IPollFunctions } from 'n8n-workflow';

import { checkPayload, unwrap } from '../../nodes/DeviceManagement/core/envelope.ts';
import { inWords } from '../../nodes/DeviceManagement/core/errors/purpose.ts';
import { Account } from '../../nodes/DeviceManagement/transport/auth/account.ts';
import { replaceClock, systemClock } from '../../nodes/DeviceManagement/transport/waiting/clock.ts';
import type { openPlatform } from '../../nodes/DeviceManagement/transport/platform.ts';
import { pollDevices } from '../../nodes/DeviceManagement/trigger/poll.ts';
import type { InProcessPlatform, InProcessRequest } from '../platform/inProcess.mts';
import type { LogEntry, PollingNodeOptions, WorkflowJson } from './engine.mts';
import type { HostedNode, HostEngine } from './pollHosts.mts';

/** Replaces n8n, with an embedded platform. */
export class BareEngine implements HostEngine {
	readonly logs: Array<Pick<LogEntry, 'level' | 'message'>> = [];
	/** The states before and after the last poll; empty if there is none. */
	handed = '';
	written = '';

	constructor(readonly platform: InProcessPlatform) {}

	/** Any credential, because this platform needs none. */
	credentialReference(id: string): Record<string, { id: string; name: string }> {
		return { deviceManagementApi: { id, name: 'key' } };
	}

	private readonly account = new Account();

	/** The platform without HTTP, sign-in, retries and timeouts. Its responses are read as usual. */
	private readonly reach: typeof openPlatform = async () => ({
		request: async ({ schema, method, path, query, body, purpose }) => {
			const request: InProcessRequest = { method, url: path, ...(query === undefined ? {} : { qs: query }), body };
			const { status, text } = await this.platform.respond(request);
			const answer = { status, body: Buffer.from(text), retryAfterMs: undefined, redirectOrigin: undefined };
			try {
				return checkPayload(unwrap(answer, purpose), schema);
			} catch (error) {
				throw inWords(error, purpose, String);
			}
		},
		...this.account,
		stop: () => {},
	});

	pollingNode(source: WorkflowJson, options: PollingNodeOptions = {}): HostedNode {
		if (typeof source === 'string') throw new Error('A workflow without an engine is given as an object');
		const [node] = source.nodes;
		if (node === undefined) throw new Error('The workflow has no node');
		const staticData = options.staticData ?? {};
		const parameters: Record<string, unknown> = { ...node.parameters };
		const log = (level: string) => (message: string) => void this.logs.push({ level, message });
		const context = {
			getMode: () => options.mode ?? 'trigger',
			getActivationMode: () => options.activation ?? 'update',
			getNode: () => node,
			getWorkflow: () => ({ id: source.id }),
			getNodeParameter: (name: string, fallback: unknown) => parameters[name] ?? DEFAULTS[name] ?? fallback,
			getWorkflowStaticData: () => options.getNodeState?.() ?? observed(staticData, `node:${node.name}`),
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

/** Marks a change of a node's own static data, as n8n does. */
function observed(staticData: IDataObject, key: string): IDataObject {
	const own = (staticData[key] ??= {}) as IDataObject;
	const mark = { value: true, writable: true, configurable: true };
	return new Proxy(own, {
		set(target, name, value) {
			Object.defineProperty(staticData, '__dataChanged', mark);
			return Reflect.set(target, name, value);
		},
	});
}

/** A clock that only moves when a test moves it. Waits take no time; timeouts never occur. */
export function stopClock(date: () => number): () => void {
	const began = date();
	const now = () => date() - began;
	const timeout = () => new AbortController().signal;
	return replaceClock({ ...systemClock, now, date, random: () => 0.5, sleep: async () => {}, timeout });
}
