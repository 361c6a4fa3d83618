import type { IDataObject, INodeParameters, WorkflowActivateMode } from 'n8n-workflow';
import { z } from 'zod/v4';

import { forgetPolls } from '../nodes/DeviceManagement/trigger/memory.ts';
import type { Engine, WorkflowJson } from './engine/engine.mts';
import { type HostEngine, type HostLetter, HOSTS, PollDatabase, type PollHost } from './engine/pollHosts.mts';

export { type HostLetter, HOSTS };

/** The trigger's type, as workflows name it. */
export const triggerType = 'n8n-nodes-device-management.deviceManagementTrigger';

/** A workflow that begins with the trigger. */
export function triggerWorkflow(
	engine: Pick<Engine, 'credentialReference'>,
	credential: string,
	parameters: Record<string, unknown>,
	workflowId = 'watching',
	nodeName = 'Watch',
): WorkflowJson {
	const node = {
		id: 'watch',
		name: nodeName,
		type: triggerType,
		credentials: engine.credentialReference(credential),
		// Tests also pass values that the editor would never save.
		parameters: parameters as INodeParameters,
	};
	return { id: workflowId, nodes: [node], connections: {} };
}

export interface WatchOptions {
	/** Default: A, n8n's own default. */
	host?: HostLetter;
	/** Id of the credential; default: the API key. */
	credential?: string;
	workflowId?: string;
	nodeName?: string;
	budgetMs?: number | null;
}

/** What runs the trigger: n8n's engine, or a replacement. */
export interface WatchBench {
	readonly engine: HostEngine & Pick<Engine, 'credentialReference'>;
	/** Id of a credential. */
	readonly apiKey: string;
}

/** A published workflow with the trigger, in n8n's engine, and an embedded platform. */
export class Watch {
	readonly database = new PollDatabase();
	readonly host: PollHost;
	private handedOver = 0;

	/** @param parameters as the editor saves them; they and the options may be changed between polls */
	constructor(
		private readonly bench: WatchBench,
		public parameters: IDataObject,
		readonly options: WatchOptions = {},
	) {
		const { engine } = bench;
		this.host = new HOSTS[options.host ?? 'A']({
			engine,
			database: this.database,
			workflow: () => this.workflow(),
			...(options.budgetMs === undefined ? {} : { budgetMs: options.budgetMs }),
			onProcessEnd: forgetPolls,
		});
	}

	/** The workflow as the editor saves it. */
	workflow(): WorkflowJson {
		const { engine, apiKey } = this.bench;
		const { credential = apiKey, workflowId, nodeName } = this.options;
		return triggerWorkflow(engine, credential, this.parameters, workflowId, nodeName);
	}

	/**
	 * Publishes the workflow, which polls once on the default host.
	 * @returns the items of the execution; null if none started
	 * @throws the error of the node
	 */
	async activate(mode: WorkflowActivateMode = 'activate'): Promise<IDataObject[] | null> {
		await this.host.activate(mode);
		return this.news();
	}

	/**
	 * Polls once, as the schedule does.
	 * @throws the error of the node
	 */
	async poll(): Promise<IDataObject[] | null> {
		const end = await this.host.tick().done;
		if ('error' in end) throw end.error;
		return this.news();
	}

	/** Restarts the process. */
	async restart(): Promise<IDataObject[] | null> {
		await this.host.restart();
		return this.news();
	}

	/** The state that n8n's database holds for the node. */
	get state(): string | undefined {
		const { staticData, cursor = '{}' } = this.database;
		const key = `node:${this.options.nodeName ?? 'Watch'}`;
		return stateSchema.parse({ ...JSON.parse(staticData)[key], ...JSON.parse(cursor) }).state;
	}

	/** Returns the items of executions since the last call. */
	private news(): IDataObject[] | null {
		const executions = this.database.executions.slice(this.handedOver);
		this.handedOver = this.database.executions.length;
		return executions.length === 0 ? null : executions.flat().map(({ json }) => json);
	}
}

const stateSchema = z.object({ state: z.string().optional() });
