import type {
	ICredentialDataDecryptedObject as CredentialData,
	IDataObject,
	ILoadOptionsFunctions,
	INodeCredentials,
	INodeCredentialTestResult,
	INodeListSearchResult,
	INodeParameters,
	IPollFunctions,
	IRun,
	IWorkflowExecuteAdditionalData,
	WorkflowActivateMode,
	WorkflowExecuteMode,
} from 'n8n-workflow';

import { checkout } from '../checkout.mts';
import { nodeType } from '../deviceWorkflow.mts';
import { testCredential } from './connectionTest.mts';
import { EngineCredentials } from './credentials.mts';
import { Container, core, workflow as n8n } from './host.cjs';
import { type LogEntry, startInstance } from './instance.mts';
import { NodePackage } from './nodePackage.mts';
import { nodeOf, type ParsedWorkflow, readWorkflow, type WorkflowJson } from './workflowFile.mts';

export type { LogEntry, WorkflowJson };

export interface RunOptions {
	/** Stops the execution as the Stop button does: n8n aborts the signal that nodes see. */
	signal?: AbortSignal;
	/** Output of the start node, as pinned data. */
	input?: readonly IDataObject[];
}

export type RunResult = ReturnType<typeof toResult>;

export interface PollingNodeOptions {
	/** The static data of an earlier poll; default: that of the workflow file. */
	staticData?: IDataObject;
	/** Default `trigger`: the workflow is active. `manual` is “Fetch Test Event”. */
	mode?: WorkflowExecuteMode;
	activation?: WorkflowActivateMode;
	/** The node's static data; default: the workflow's. Durable cursors use another one. */
	getNodeState?: () => IDataObject;
	/** The value of `getPollBudgetMs()`; default: n8n's. */
	budgetMs?: number;
}

/** A polling trigger in a workflow, as n8n holds it while the workflow is active. */
export type PollingNode = ReturnType<Engine['pollingNode']>;

/**
 * Loads the package of this checkout into n8n's engine: `WorkflowExecute`, its request helpers, its encryption and its expressions are the real
 * ones, and requests go over real sockets. What n8n's server adds to n8n-core (saved credentials, sign-in before a
 * request, credential tests, pinned data) is rebuilt after the server.
 * @param fromSources loads the sources behind the compiled files that package.json names: for tsx. Jest does so by its own settings
 * @throws n8n's error for a package that it refuses to load
 */
export async function createEngine(fromSources = false): Promise<Engine> {
	// Before n8n-core makes its logger, which the packages do.
	const logs = startInstance();
	logs.length = 0;
	return new Engine(logs, await NodePackage.load(checkout, fromSources));
}

export class Engine {
	private readonly credentials: EngineCredentials;
	private lastCredentialId = 0;
	private lastExecutionId = 0;

	/** @param logs all lines of n8n's logger in this process, at any level, since the last engine was created */
	constructor(
		readonly logs: LogEntry[],
		readonly packages: NodePackage,
	) {
		this.credentials = new EngineCredentials(packages);
	}

	/** How often credentials were decrypted for a node, and saved after a sign-in. */
	get credentialUse(): Readonly<EngineCredentials['use']> {
		return { ...this.credentials.use };
	}

	/**
	 * @param credential `id` is for workflow files that name a fixed one; otherwise ids count up from 1
	 * @returns the id to put into a node's `credentials`
	 */
	async saveCredential(credential: { name: string; type: string; data: CredentialData; id?: string }): Promise<string> {
		const { name, type, data, id = String(++this.lastCredentialId) } = credential;
		this.packages.getCredentialType(type);
		await this.credentials.save(id, name, type, data);
		return id;
	}

	/** Replaces the data, like a save in the editor. */
	async updateCredential(id: string, data: CredentialData): Promise<void> {
		const { name, type } = this.credentials.row(id);
		await this.credentials.save(id, name, type, data);
	}

	/** Changes some fields, like a user in the editor. */
	async editCredential(id: string, changes: CredentialData): Promise<void> {
		await this.updateCredential(id, { ...(await this.storedCredential(id)), ...changes });
	}

	/** @returns the data as stored, without the defaults that a node would get with it. */
	async storedCredential(id: string): Promise<CredentialData> {
		return await this.credentials.row(id).getData();
	}

	storedCiphertext(id: string): string | undefined {
		return this.credentials.row(id).data;
	}

	/** @returns what a node's `credentials` takes for a saved credential. */
	credentialReference(id: string): INodeCredentials {
		const { name, type } = this.credentials.row(id);
		return { [type]: { id, name } };
	}

	/**
	 * Runs a workflow to its end, like a click in the editor. If a node fails, this doesn't throw: see the
	 * result's `error`.
	 * @throws WorkflowHasIssuesError if a required field of a node is empty
	 */
	async run(source: WorkflowJson, options: RunOptions = {}): Promise<RunResult> {
		const { signal, input } = options;
		const parsed = readWorkflow(source);
		const workflow = this.toWorkflow(parsed);
		const startNode = workflow.getStartNode();
		if (!startNode) throw new n8n.UserError('The workflow has no node to start from');

		const { pinData } = parsed;
		if (input) pinData[startNode.name] = n8n.deepCopy(input.map((json) => ({ json })));

		const execute = new core.WorkflowExecute(this.additionalData(parsed, 'manual'), 'manual');
		const execution = execute.run({ workflow, startNode, pinData });
		const cancel = () => execution.cancel();
		if (signal?.aborted) cancel();
		signal?.addEventListener('abort', cancel, { once: true });
		try {
			return toResult(parsed, await execution);
		} finally {
			signal?.removeEventListener('abort', cancel);
		}
	}

	/** Prepares a polling trigger, with one context for all its polls: their `this`. */
	pollingNode(source: WorkflowJson, options: PollingNodeOptions = {}) {
		const { mode = 'trigger', activation = 'update' } = options;
		const parsed = readWorkflow(source);
		const workflow = this.toWorkflow({ ...parsed, staticData: n8n.deepCopy(options.staticData ?? parsed.staticData) });
		const [node] = workflow.getPollNodes();
		if (!node) throw new n8n.UserError('The workflow has no polling node');

		const { getNodeState, budgetMs } = options;
		const given = [workflow, node, this.additionalData(parsed, mode), mode, activation] as const;
		const emitters = [undefined, undefined, undefined, undefined] as const;
		const getBudget = budgetMs === undefined ? undefined : () => budgetMs;
		// The two types only differ in a missing workflow name: absent or undefined.
		const context = new core.PollContext(...given, ...emitters, getNodeState, getBudget) as IPollFunctions;
		/** Polls once. Returns null if nothing is new. Throws the error of the node. */
		const poll = async () => {
			const poller = Container.get(core.TriggersAndPollers);
			const run = async () => await poller.runPollFunction(workflow, node, context);
			const outputs = await workflow.expression.withIsolate(run);
			return outputs?.[0] ?? null;
		};
		return { workflow, context, poll };
	}

	/** Tests a saved credential: its declarative `test` request, and the rules for the response. */
	async testCredential(id: string): Promise<INodeCredentialTestResult> {
		const { name, type } = this.credentials.row(id);
		const { test } = this.packages.getCredentialType(type);
		if (test === undefined) throw new n8n.UserError(`The type ${type} has no test`);
		return await testCredential({ id, name, type }, test, this.additionalDataOf('internal'));
	}

	/**
	 * Opens the list of a resource locator (a `methods.listSearch` function) of the action node, as it is in the editor.
	 * @param credentials the node's `credentials`, see {@link credentialReference}
	 */
	async listSearch(
		nodeParameters: INodeParameters,
		credentials: INodeCredentials,
		methodName: string,
		filter?: string,
		paginationToken?: string,
		{ type = nodeType, path = 'parameters' } = {},
	): Promise<INodeListSearchResult> {
		const method = this.packages.getByNameAndVersion(type).methods?.listSearch?.[methodName];
		if (!method) throw new n8n.UserError(`Node type "${type}" has no listSearch method "${methodName}"`);

		const parameters = n8n.deepCopy(nodeParameters);
		const node = nodeOf({ name: 'Temp-Node', type, parameters, credentials });
		const workflow = new n8n.Workflow({ nodes: [node], connections: {}, active: false, nodeTypes: this.packages });
		const additionalData = { ...this.additionalDataOf('internal'), currentNodeParameters: node.parameters };
		// The two types only differ in a missing workflow name: absent or undefined.
		const context = new core.LoadOptionsContext(workflow, node, additionalData, path) as ILoadOptionsFunctions;
		return await workflow.expression.withIsolate(async () => await method.call(context, filter, paginationToken));
	}

	private toWorkflow({ id, name, nodes, connections, settings, staticData }: ParsedWorkflow) {
		const nodeTypes = this.packages;
		return new n8n.Workflow({ id, name, nodes, connections, settings, staticData, active: false, nodeTypes });
	}

	private additionalData(parsed: ParsedWorkflow, mode: WorkflowExecuteMode): IWorkflowExecuteAdditionalData {
		const executionId = String(++this.lastExecutionId);
		const now = new Date();
		const state = { active: false, isArchived: false, activeVersionId: null, createdAt: now, updatedAt: now };
		const hooks = new core.ExecutionLifecycleHooks(mode, executionId, { ...parsed, ...state });
		return { ...this.additionalDataOf(mode), executionId, workflowId: parsed.id, hooks };
	}

	/** What n8n's server passes to every context, without the parts for webhooks, sub-workflows and task runners. */
	private additionalDataOf(rootExecutionMode: WorkflowExecuteMode): IWorkflowExecuteAdditionalData {
		const url = 'http://n8n.invalid/';
		const needed: Partial<IWorkflowExecuteAdditionalData> = {
			credentialsHelper: this.credentials,
			rootExecutionMode,
			currentNodeExecutionIndex: 0,
			variables: {},
			// n8n makes values of expressions of them, and no request.
			formWaitingBaseUrl: url,
			webhookWaitingBaseUrl: url,
			externalSecretsProxy: Container.get(core.ExternalSecretsProxy),
		};
		return needed as IWorkflowExecuteAdditionalData;
	}
}

/** Returns n8n's record of a run, and functions that read it. */
function toResult({ nodes }: ParsedWorkflow, raw: IRun) {
	const { runData, error } = raw.data.resultData;
	const task = (nodeName: string) => {
		if (nodes.every(({ name }) => name !== nodeName)) throw new n8n.UserError(`The workflow has no node "${nodeName}"`);
		return runData[nodeName]?.[0];
	};
	return {
		/** Returns the items of a node at one output, with errors and paired items; empty if it never ran. */
		data: (nodeName: string, outputIndex = 0) => task(nodeName)?.data?.['main']?.[outputIndex] ?? [],
		/** The error that stopped the execution, as n8n keeps it: fields only, no longer an instance of its class. */
		error,
		/** The node's hints (`addExecutionHints`) in n8n's run data. */
		hints: (nodeName: string) => task(nodeName)?.hints ?? [],
		cancelled: raw.status === 'canceled',
		raw,
	};
}
