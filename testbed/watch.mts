import type { IDataObject, INodeExecutionData, INodeParameters, WorkflowActivateMode } from 'n8n-workflow';
import { z } from 'zod/v4';

import { forgetPolls } from '../nodes/DeviceManagement/trigger/poll/memory.ts';
import type { Engine, PollingNode, PollingNodeOptions, WorkflowJson } from './engine/engine.mts';

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

/**
 * The three ways in which n8n 2.39 runs a polling trigger and keeps its state, by their letters in docs/maintainers/trigger.md:
 * - A, the default: one workflow in memory, and one context for all polls until it is registered again.
 * - B, the durable scheduler: it reads everything from the database at each poll.
 * - C, the scheduler with durable cursors: the state has its own row. n8n writes it together with the execution, or alone without one.
 */
export type HostLetter = 'A' | 'B' | 'C';

export interface WatchOptions {
	/** Default: A, n8n's own default. */
	host?: HostLetter;
	/** Id of the credential; default: the API key. */
	credential?: string;
	workflowId?: string;
	nodeName?: string;
	/** The time of each poll that n8n names, in milliseconds; null: as in n8n before 2.38, which names none. Default: as in n8n 2.39. */
	budgetMs?: number | null;
}

/** The parts of a polling node that a host needs. */
export type HostedNode = Pick<PollingNode, 'context' | 'poll'> & { workflow: { staticData: IDataObject } };

/** What runs the trigger: n8n's engine, or a replacement. */
export interface WatchBench {
	readonly engine: Pick<Engine, 'credentialReference'> & {
		pollingNode(source: WorkflowJson, options?: PollingNodeOptions): HostedNode;
	};
	/** Id of a credential. */
	readonly apiKey: string;
}

/** What a poll returns; null if there is nothing to report. */
type Items = INodeExecutionData[] | null;

const FIVE_MINUTES = 300_000;
/** The rest of the 45 seconds after which the scheduler abandons a poll. */
const LEASED = 36_000;

/**
 * A published workflow with the trigger, on one of n8n's hosts, and an embedded platform. The hosts are rebuilt from n8n-core's
 * `poll-trigger-executor.js` and `active-workflow-triggers.js` and from n8n's `trigger-execution-context.factory.js`,
 * `poll-trigger-task-handler.js` and `poll-cursor.service.js`.
 */
export class Watch {
	readonly database = new PollDatabase();
	/** Of host A: the node of the last activation. */
	private registered: HostedNode | undefined;
	/** Of the other hosts: if the workflow is published again, the job already exists. Only the first time, n8n polls at once. */
	private hasJob = false;

	/** @param parameters as the editor saves them; they and the options may be changed between polls */
	constructor(
		private readonly bench: WatchBench,
		public parameters: IDataObject,
		readonly options: WatchOptions = {},
	) {}

	/** The workflow as the editor saves it. */
	workflow(): WorkflowJson {
		const { engine, apiKey } = this.bench;
		const { credential = apiKey, workflowId, nodeName } = this.options;
		return triggerWorkflow(engine, credential, this.parameters, workflowId, nodeName);
	}

	/**
	 * Registers the workflow and polls it for the first time: the user publishes it (`activate`, `update`), or n8n starts.
	 * @returns the items of the execution; null if none started
	 * @throws the error of the node
	 */
	async activate(mode: WorkflowActivateMode = 'activate'): Promise<IDataObject[] | null> {
		if (this.hasJob) return null;
		if (this.host === 'A') this.registered = this.load(mode, FIVE_MINUTES);
		const items = await this.begin(mode, FIVE_MINUTES).done;
		this.hasJob = this.host !== 'A';
		return jsonOf(items);
	}

	/**
	 * Polls once, as the schedule does.
	 * @throws the error of the node
	 */
	async poll(): Promise<IDataObject[] | null> {
		return jsonOf(await this.tick().done);
	}

	/** Starts a scheduled poll. Running polls continue. */
	tick() {
		return this.begin('update', LEASED);
	}

	/** Presses “Fetch Test Event”. */
	async test(): Promise<IDataObject[]> {
		return jsonOf(await this.bench.engine.pollingNode(this.workflow(), { mode: 'manual' }).poll()) ?? [];
	}

	/** Restarts the process, which then reads what was saved. */
	async restart(): Promise<IDataObject[] | null> {
		forgetPolls();
		return await this.activate('init');
	}

	/** The state that n8n's database holds for the node. */
	get state(): string | undefined {
		const { staticData, cursor = '{}' } = this.database;
		const key = `node:${this.options.nodeName ?? 'Watch'}`;
		return stateSchema.parse({ ...JSON.parse(staticData)[key], ...JSON.parse(cursor) }).state;
	}

	private get host(): HostLetter {
		return this.options.host ?? 'A';
	}

	/**
	 * Begins a poll.
	 * @returns as `done` the items of the poll, or the error of the node; and `abandon`, which makes n8n ignore the result: the poll
	 * took too long, the workflow was published again, or its lease was lost
	 */
	private begin(activation: WorkflowActivateMode, budgetMs: number) {
		const { cursor: seed = '{}' } = this.database;
		const staged: IDataObject = JSON.parse(seed);
		const { registered } = this;
		const node =
			this.host === 'A' ? registered : this.load(activation, budgetMs, this.host === 'C' ? () => staged : undefined);
		if (node === undefined) throw new Error('The workflow is not active');
		let abandoned = false;
		const done = node.poll().then((items) => {
			// n8n discards the output of a replaced registration.
			if (abandoned || registered !== this.registered) return items;
			if (this.host === 'C') this.database.saveCursor(seed, JSON.stringify(staged));
			// The first poll also saves its state without items.
			else if (items !== null || budgetMs === FIVE_MINUTES) this.database.saveMarked(node.workflow.staticData);
			if (items !== null) this.database.executions.push(items);
			return items;
		});
		// A test may await it later.
		done.catch(() => {});
		return { done, abandon: () => void (abandoned = true) };
	}

	/** Loads the workflow from the database, and a context for its node. */
	private load(activation: WorkflowActivateMode, budgetMs: number, getNodeState?: () => IDataObject): HostedNode {
		const { budgetMs: named = budgetMs } = this.options;
		const staticData: IDataObject = JSON.parse(this.database.staticData);
		return this.bench.engine.pollingNode(this.workflow(), {
			activation,
			staticData,
			...(named === null ? {} : { budgetMs: named }),
			...(getNodeState === undefined ? {} : { getNodeState }),
		});
	}
}

const jsonOf = (items: Items) => items?.map(({ json }) => json) ?? null;

const stateSchema = z.object({ state: z.string().optional() });

/** The workflow in n8n's database. Every host writes it like n8n. Only this data survives a restart. */
class PollDatabase {
	/** The workflow's static data. */
	staticData = '{}';
	/** The state of a node with durable cursors. */
	cursor: string | undefined;
	/** The items of the started executions. */
	readonly executions: INodeExecutionData[][] = [];
	/** All states that were saved, the oldest first. */
	readonly history: Array<{ staticData: string; cursor: string | undefined }> = [];

	save(what: { staticData: string } | { cursor: string }): void {
		Object.assign(this, what);
		this.history.push({ staticData: this.staticData, cursor: this.cursor });
	}

	saveCursor(seed: string, cursor: string): void {
		if (cursor !== seed) this.save({ cursor });
	}

	/** Saves static data that n8n marked as changed. */
	saveMarked(staticData: IDataObject): void {
		if (staticData['__dataChanged'] !== true) return;
		this.save({ staticData: JSON.stringify(staticData) });
		staticData['__dataChanged'] = false;
	}

	/** Restores an older state, like a backup or a Code node that writes static data. */
	rewind(to: number): void {
		const older = this.history[to];
		if (older === undefined) throw new Error(`No state was saved as number ${to}`);
		Object.assign(this, older);
	}
}
