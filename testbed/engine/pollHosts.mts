import type { IDataObject, INodeExecutionData, WorkflowActivateMode } from 'n8n-workflow';

import type { PollingNode, PollingNodeOptions, WorkflowJson } from './engine.mts';

/** A poll that the schedule started. */
export interface Tick {
	/** Resolves when the poll ended, with or without an error. */
	readonly done: Promise<TickEnd>;
	/** Makes n8n ignore the result of the poll: it took too long, the workflow was published again, or its lease was lost. */
	abandon(): void;
}

/** How a poll ended, as the host sees it. */
export type TickEnd = { items: INodeExecutionData[] | null } | { error: unknown };

/** The workflow in n8n's database. Every host writes it like n8n. Only this data survives a restart. */
export class PollDatabase {
	/** The workflow's static data. */
	staticData = '{}';
	/** The state of a node with durable cursors. */
	cursor: string | undefined;
	/** The items of the started executions. */
	readonly executions: INodeExecutionData[][] = [];
	/** The errors of executions that report a failed poll. */
	readonly errorExecutions: unknown[] = [];
	/** All states that were saved, the oldest first. */
	readonly history: Array<{ staticData: string; cursor: string | undefined }> = [];

	save(what: { staticData: string } | { cursor: string }): void {
		Object.assign(this, what);
		this.history.push({ staticData: this.staticData, cursor: this.cursor });
	}

	/** Restores an older state, like a backup or a Code node that writes static data. */
	rewind(to: number): void {
		const older = this.history[to];
		if (older === undefined) throw new Error(`No state was saved as number ${to}`);
		Object.assign(this, older);
	}
}

/** The parts of a polling node that a host needs. */
export type HostedNode = Pick<PollingNode, 'context' | 'poll'> & { workflow: { staticData: IDataObject } };

/** Prepares nodes: n8n's engine, or a replacement. */
export interface HostEngine {
	pollingNode(source: WorkflowJson, options?: PollingNodeOptions): HostedNode;
}

export interface HostOptions {
	engine: HostEngine;
	database: PollDatabase;
	/** The published workflow. */
	workflow: () => WorkflowJson;
	/** The time of each poll that n8n names, in milliseconds; null: as in n8n before 2.38, which names none. Default: as in n8n 2.39. */
	budgetMs?: number | null;
	/** Called when the process ends and loses its memory. */
	onProcessEnd: () => void;
}

/** A poll, and what the host does with its result. */
interface BegunPoll {
	node: HostedNode;
	commit(items: INodeExecutionData[] | null): void;
}

const FIVE_MINUTES = 300_000;
/** The rest of the 45 seconds after which the scheduler abandons a poll. */
const LEASED = 36_000;

/**
 * The three ways in which n8n 2.39 runs a polling trigger and keeps its state, rebuilt from n8n-core's
 * `poll-trigger-executor.js` and `active-workflow-triggers.js` and from n8n's `trigger-execution-context.factory.js`,
 * `poll-trigger-task-handler.js` and `poll-cursor.service.js`.
 */
export abstract class PollHost {
	constructor(protected readonly options: HostOptions) {}

	/**
	 * Registers the workflow and polls it for the first time: the user publishes it (`activate`, `update`), or n8n starts.
	 * @throws the error of the node
	 */
	abstract activate(mode: WorkflowActivateMode): Promise<void>;

	/** Loads or takes a node for a poll. */
	protected abstract begin(activation: WorkflowActivateMode, budgetMs: number): BegunPoll;

	/** Starts a scheduled poll. Running polls continue. */
	tick(): Tick {
		const { node, commit } = this.begin('update', LEASED);
		let abandoned = false;
		const done = node.poll().then(
			(items) => {
				if (!abandoned) commit(items);
				return { items };
			},
			(error: unknown) => {
				if (!abandoned) this.options.database.errorExecutions.push(error);
				return { error };
			},
		);
		return { done, abandon: () => void (abandoned = true) };
	}

	/** Restarts the process, which then reads what was saved. */
	async restart(): Promise<void> {
		this.options.onProcessEnd();
		await this.activate('init');
	}

	/** Loads the workflow from the database, and a context for its node. */
	protected load(activation: WorkflowActivateMode, budgetMs: number, getNodeState?: () => IDataObject): HostedNode {
		const { engine, database, workflow, budgetMs: named = budgetMs } = this.options;
		const staticData: IDataObject = JSON.parse(database.staticData);
		return engine.pollingNode(workflow(), {
			activation,
			staticData,
			...(named === null ? {} : { budgetMs: named }),
			...(getNodeState === undefined ? {} : { getNodeState }),
		});
	}

	/** Starts an execution if there are items. The first poll also saves its state without any. */
	protected emit({ workflow }: HostedNode, items: INodeExecutionData[] | null, isFirst = false): void {
		const { staticData } = workflow;
		const { database } = this.options;
		if ((items !== null || isFirst) && staticData['__dataChanged'] === true) {
			database.save({ staticData: JSON.stringify(staticData) });
			staticData['__dataChanged'] = false;
		}
		if (items !== null) database.executions.push(items);
	}
}

/** A, the default: one workflow in memory, and one context for all polls until it is registered again. */
class InMemoryHost extends PollHost {
	private registered: HostedNode | undefined;

	async activate(mode: WorkflowActivateMode): Promise<void> {
		const node = this.load(mode, FIVE_MINUTES);
		this.registered = node;
		this.emit(node, await node.poll(), true);
	}

	protected begin(): BegunPoll {
		const node = this.registered;
		if (node === undefined) throw new Error('The workflow is not active');
		// n8n discards the output of a replaced registration.
		return { node, commit: (items) => this.registered === node && this.emit(node, items) };
	}
}

/** The durable scheduler, which reads everything from the database at each poll. */
abstract class ScheduledHost extends PollHost {
	/** If the workflow is published again, the job already exists. Only the first time, n8n polls at once. */
	private hasJob = false;

	async activate(mode: WorkflowActivateMode): Promise<void> {
		if (this.hasJob) return;
		const { node, commit } = this.begin(mode, FIVE_MINUTES);
		commit(await node.poll());
		this.hasJob = true;
	}
}

/** B, the scheduler without cursors. */
class FreshHost extends ScheduledHost {
	protected begin(activation: WorkflowActivateMode, budgetMs: number): BegunPoll {
		const node = this.load(activation, budgetMs);
		return { node, commit: (items) => this.emit(node, items, budgetMs === FIVE_MINUTES) };
	}
}

/** C, durable cursors: the state has its own row. n8n writes it together with the execution, or alone without one. */
class CursorHost extends ScheduledHost {
	protected begin(activation: WorkflowActivateMode, budgetMs: number): BegunPoll {
		const { database } = this.options;
		const seed = database.cursor ?? '{}';
		const staged: IDataObject = JSON.parse(seed);
		return {
			node: this.load(activation, budgetMs, () => staged),
			commit: (items) => {
				const cursor = JSON.stringify(staged);
				if (cursor !== seed) database.save({ cursor });
				if (items !== null) database.executions.push(items);
			},
		};
	}
}

/** n8n's three hosts, by their letters in docs/maintainers/trigger.md. */
export const HOSTS = { A: InMemoryHost, B: FreshHost, C: CursorHost };

export type HostLetter = keyof typeof HOSTS;
