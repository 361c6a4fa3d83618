import type {
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
	JsonObject,
} from 'n8n-workflow';

import * as z from 'zod/v4';

import { workflow } from './host.cjs';

const { NodeApiError, NodeConnectionTypes } = workflow;

const description = (name: string, displayName: string, more: Partial<INodeTypeDescription>): INodeTypeDescription => ({
	displayName,
	name,
	group: ['transform'],
	version: 1,
	description: displayName,
	defaults: { name: displayName },
	inputs: [NodeConnectionTypes.Main],
	outputs: [NodeConnectionTypes.Main],
	properties: [],
	...more,
});

/** Returns its input. n8n also tests credentials under this type's name. */
export const noOp: INodeType = {
	description: description('noOp', 'No Operation', { group: ['organization'] }),
	async execute(this: IExecuteFunctions) {
		return [this.getInputData()];
	},
};

/** Returns the empty item with which n8n starts a workflow. A run's `input` replaces that item, like pinned data. */
const manualTrigger: INodeType = {
	...noOp,
	description: description('manualTrigger', 'Manual Trigger', { group: ['trigger'], maxNodes: 1, inputs: [] }),
};

/**
 * The parts of the HTTP Request node that credentials of other packages need: one GET with a predefined credential. n8n allows
 * it any credential because of its name. `helper` chooses the request function: the real node's (`legacy`), or that of newer
 * nodes (`current`).
 */
const httpRequest: INodeType = {
	description: description('httpRequest', 'HTTP Request', {
		group: ['output'],
		version: 4.2,
		properties: ['url', 'authentication', 'nodeCredentialType', 'helper'].map((name) => ({
			...{ displayName: name, name, type: 'string', default: '' },
		})),
	}),
	async execute(this: IExecuteFunctions) {
		const names = ['url', 'nodeCredentialType', 'helper'];
		const [url = '', type = '', helper] = names.map((name) => String(this.getNodeParameter(name, 0)));
		const { requestWithAuthentication: legacy, httpRequestWithAuthentication: current } = this.helpers;
		const request = { method: 'GET' as const, json: true };
		try {
			const answer: IDataObject | IDataObject[] =
				helper === 'current'
					? await current.call(this, type, { ...request, url })
					: await legacy.call(this, type, { ...request, uri: url, followAllRedirects: true }, undefined, 0);
			return [this.helpers.returnJsonArray(answer)];
		} catch (error) {
			if (error instanceof NodeApiError) throw error;
			// n8n's own node casts the error, too.
			throw new NodeApiError(this.getNode(), error as JsonObject, { itemIndex: 0 });
		}
	},
};

/**
 * An agent without a model. Each input item is a call, with its fields as the arguments. All calls run at once, like those
 * of a model. The output has one item per call, with the tool's `response` or its `error`.
 */
const toolExecutor: INodeType = {
	description: description('toolExecutor', 'Tool Executor', {
		inputs: [NodeConnectionTypes.Main, { type: NodeConnectionTypes.AiTool, maxConnections: 1 }],
	}),
	async execute(this: IExecuteFunctions) {
		const tool = toolSchema.parse(await this.getInputConnectionData(NodeConnectionTypes.AiTool, 0));
		const calls = this.getInputData().map(async ({ json }, item): Promise<INodeExecutionData> => {
			try {
				const response = workflow.jsonParse<IDataObject>(z.string().parse(await tool.invoke(json)));
				return { json: { response }, pairedItem: { item } };
			} catch (error) {
				return { json: { error: error instanceof Error ? error.message : String(error) }, pairedItem: { item } };
			}
		});
		return [await Promise.all(calls)];
	},
};

const toolSchema = z.custom<{ invoke(args: IDataObject): Promise<unknown> }>(
	(value) => typeof Object(value).invoke === 'function',
);

/** By the names that workflows use. */
export const builtInNodes: Readonly<Record<string, INodeType>> = {
	'n8n-nodes-base.manualTrigger': manualTrigger,
	'n8n-nodes-base.noOp': noOp,
	'n8n-nodes-base.httpRequest': httpRequest,
	'@n8n/n8n-nodes-langchain.toolExecutor': toolExecutor,
};
