import type { IDataObject, INodeExecutionData, IPollFunctions, WorkflowActivateMode } from 'n8n-workflow';

import type { PollingNode, PollingNodeOptions, WorkflowJson } from './engine.mts';

/**
 * The three ways in which n8n 2.39 runs a polling trigger and keeps its state, rebuilt from n8n-core's
 * `poll-trigger-executor.js` and `active-workflow-triggers.js` and from n8n's `trigger-execution-context.factory.js`,
 * `poll-trigger-task-handler.js` and `poll-cursor.service.js`.
 */
export interface PollHost {
	/**
	 * Registers the workflow and polls it for the first time: a person publishes it (`activate`, `update`), or n8n starts.
	 * @throws what the node throws
	 */
	activate(mode: WorkflowActivateMode): Promise<void>;
	/** Asks the trigger because it is time to. Polls that are under way go on. */
	tick(): Tick;
	/** Ends the process and starts another one, which knows what was saved. */
	restart(): Promise<void>;
}

/** A poll that the schedule started. */
export interface Tick {
	/** Resolves when the poll ended, whatever its end is. */
	readonly done: Promise<TickEnd>;
	/** Makes n8n ignore how the poll ends: it took too long, the workflow was published anew, or its lease was lost. */
	abandon(): void;
}

/** How a poll ended, as the host sees it. */
export type TickEnd = { items: INodeExecutionData[] | null } | { error: unknown };

/** What n8n's database holds of the workflow. Every host writes it as n8n does, and nothing else outlives a restart. */
export class PollDatabase {
	/** The workflow's static data. */
	staticData = '{}';
	/** The state of a node with durable cursors. */
	cursor: string | undefined;
	/** What was handed to executions. */
	readonly executions: INodeExecutionData[][] = [];
	/** Executions that say that polling failed. */
	readonly errorExecutions: unknown[] = [];
	/** Every state that was saved so far, the oldest first. */
	readonly history: Array<{ staticData: string; cursor: string | undefined }> = [];

	save(what: { staticData: string } | { cursor: string }): void {
		Object.assign(this, what);
		this.history.push({ staticData: this.staticData, cursor: this.cursor });
	}

	/** What a Code node does that writes static data of its own, or whoever restores a backup: an older state is back. */
	rewind(to: number): void {
		const older = this.history[to];
		if (older === undefined) throw new Error(`No state was saved as number ${to}`);
		Object.assign(this, older);
	}
}

/** A polling node as a host needs it. */
export type HostedNode = Pick<PollingNode, 'context' | 'poll'> & { workflow: { staticData: IDataObject } };

/** What makes nodes ready: n8n's engine, or something that stands in for it. */
export interface HostEngine {
	pollingNode(source: WorkflowJson | string, options?: PollingNodeOptions): HostedNode;
}

export interface HostOptions {
	engine: HostEngine;
	database: PollDatabase;
	/** The workflow as it is published now. */
	workflow: () => WorkflowJson;
	/** Called with each context before its first poll. */
	prepare?: (context: IPollFunctions) => void;
	/** Called when the process ends: what only it knows is gone. */
	onProcessEnd: () => void;
}

const FIVE_MINUTES = 300_000;
/** What remains of the 45 seconds after which the scheduler abandons a poll. */
const LEASED = 36_000;

abstract class Host implements PollHost {
	constructor(protected readonly options: HostOptions) {}

	abstract activate(mode: WorkflowActivateMode): Promise<void>;
	abstract tick(): Tick;
	abstract restart(): Promise<void>;

	/** A workflow fresh from the database, and a context for its node. */
	protected load(activation: WorkflowActivateMode, budgetMs: number, getNodeState?: () => IDataObject): HostedNode {
		const { engine, database, workflow, prepare } = this.options;
		const staticData: IDataObject = JSON.parse(database.staticData);
		const node = engine.pollingNode(workflow(), {
			activation,
			staticData,
			budgetMs,
			...(getNodeState === undefined ? {} : { getNodeState }),
		});
		prepare?.(node.context);
		return node;
	}

	protected saveStaticData({ workflow: { staticData } }: HostedNode): void {
		if (staticData['__dataChanged'] !== true) return;
		this.options.database.save({ staticData: JSON.stringify(staticData) });
		staticData['__dataChanged'] = false;
	}

	/** Runs a poll and, unless it was abandoned meanwhile, does with its end what the host does. */
	protected run(
		poll: () => Promise<INodeExecutionData[] | null>,
		onItems: (items: INodeExecutionData[] | null) => void,
	): Tick {
		let abandoned = false;
		const finish = (end: TickEnd): TickEnd => {
			if (abandoned) return end;
			if ('error' in end) this.options.database.errorExecutions.push(end.error);
			else onItems(end.items);
			return end;
		};
		return {
			done: poll().then(
				(items) => finish({ items }),
				(error: unknown) => finish({ error }),
			),
			abandon() {
				abandoned = true;
			},
		};
	}
}

/** A, the default: one workflow in memory, and one context for all polls until it is registered again. */
export class InMemoryHost extends Host {
	private registered: HostedNode | undefined;

	async activate(mode: WorkflowActivateMode): Promise<void> {
		const node = this.load(mode, FIVE_MINUTES);
		this.registered = node;
		const items = await node.poll();
		if (items !== null) this.emit(node, items);
		this.saveStaticData(node);
	}

	tick(): Tick {
		const node = this.registered;
		if (node === undefined) throw new Error('The workflow is not active');
		// What a registration puts out that another one has replaced is thrown away.
		const isCurrent = () => this.registered === node;
		const tick = this.run(
			async () => await node.poll(),
			(items) => {
				if (items !== null && isCurrent()) this.emit(node, items);
			},
		);
		return tick;
	}

	async restart(): Promise<void> {
		this.registered = undefined;
		this.options.onProcessEnd();
		await this.activate('init');
	}

	private emit(node: HostedNode, items: INodeExecutionData[]): void {
		this.saveStaticData(node);
		this.options.database.executions.push(items);
	}
}

/** B, the durable scheduler without cursors: everything fresh from the database at each poll. */
export class FreshHost extends Host {
	/** The job is there already when the workflow is published anew; only the first time it is polled at once. */
	private hasJob = false;

	async activate(mode: WorkflowActivateMode): Promise<void> {
		if (this.hasJob) return;
		const node = this.load(mode, FIVE_MINUTES);
		const items = await node.poll();
		if (items !== null) this.emit(node, items);
		this.saveStaticData(node);
		this.hasJob = true;
	}

	tick(): Tick {
		const node = this.load('update', LEASED);
		return this.run(
			async () => await node.poll(),
			(items) => {
				if (items !== null) this.emit(node, items);
			},
		);
	}

	async restart(): Promise<void> {
		this.options.onProcessEnd();
		await this.activate('init');
	}

	private emit(node: HostedNode, items: INodeExecutionData[]): void {
		this.saveStaticData(node);
		this.options.database.executions.push(items);
	}
}

/** C, durable cursors: the state in a row of its own, written together with the execution, or alone where there is none. */
export class CursorHost extends Host {
	private hasJob = false;

	async activate(mode: WorkflowActivateMode): Promise<void> {
		if (this.hasJob) return;
		const { node, commit } = this.begin(mode, FIVE_MINUTES);
		commit(await node.poll());
		this.hasJob = true;
	}

	tick(): Tick {
		const { node, commit } = this.begin('update', LEASED);
		return this.run(async () => await node.poll(), commit);
	}

	async restart(): Promise<void> {
		this.options.onProcessEnd();
		await this.activate('init');
	}

	private begin(activation: WorkflowActivateMode, budgetMs: number) {
		const { database } = this.options;
		const seed = database.cursor ?? '{}';
		const staged: IDataObject = JSON.parse(seed);
		return {
			node: this.load(activation, budgetMs, () => staged),
			commit: (items: INodeExecutionData[] | null) => {
				const cursor = JSON.stringify(staged);
				if (cursor !== seed) database.save({ cursor });
				if (items !== null) database.executions.push(items);
			},
		};
	}
}
