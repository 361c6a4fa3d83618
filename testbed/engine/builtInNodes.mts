import type {
	IDataObject,
	IExecuteFunctions,
	IHttpRequestMethods,
	INodeExecutionData,
	INodeProperties,
	INodeType,
	INodeTypeDescription,
	ITriggerFunctions,
	ITriggerResponse,
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

/** Starts a workflow with one empty item. A run's `input` replaces that item, like pinned data. */
const manualTrigger: INodeType = {
	description: description('manualTrigger', 'Manual Trigger', { group: ['trigger'], maxNodes: 1, inputs: [] }),
	async trigger(this: ITriggerFunctions): Promise<ITriggerResponse> {
		return {
			manualTriggerFunction: async () => {
				this.emit([this.helpers.returnJsonArray([{}])]);
			},
		};
	},
};

/** Returns its input. n8n also tests credentials under this type's name. */
const noOp: INodeType = {
	description: description('noOp', 'No Operation', { group: ['organization'] }),
	async execute(this: IExecuteFunctions) {
		return [this.getInputData()];
	},
};

const property = (name: string, type: INodeProperties['type'], value: INodeProperties['default']): INodeProperties => ({
	displayName: name,
	name,
	type,
	default: value,
});

/**
 * The parts of the HTTP Request node that credentials of other packages need. It has the same parameters. n8n allows it any
 * credential because of its name. `helper` chooses the request function: the real node's (`legacy`), or that of newer
 * nodes (`current`).
 */
const httpRequest: INodeType = {
	description: description('httpRequest', 'HTTP Request', {
		group: ['output'],
		version: [1, 2, 3, 4, 4.1, 4.2, 4.3, 4.4],
		properties: [
			property('method', 'string', 'GET'),
			property('url', 'string', ''),
			property('authentication', 'string', 'none'),
			property('nodeCredentialType', 'string', ''),
			property('jsonBody', 'json', ''),
			property('helper', 'string', 'legacy'),
		],
	}),
	async execute(this: IExecuteFunctions) {
		const output: INodeExecutionData[] = [];
		for (const item of this.getInputData().keys()) {
			try {
				const answer = await requestForItem.call(this, item);
				for (const json of Array.isArray(answer) ? answer : [answer]) {
					output.push({ json, pairedItem: { item } });
				}
			} catch (error) {
				if (!this.continueOnFail()) throw asNodeError.call(this, error, item);
				output.push({ json: { error: error instanceof Error ? error.message : String(error) }, pairedItem: { item } });
			}
		}
		return [output];
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

async function requestForItem(this: IExecuteFunctions, item: number): Promise<IDataObject | IDataObject[]> {
	const method = this.getNodeParameter('method', item, 'GET') as IHttpRequestMethods;
	const url = this.getNodeParameter('url', item) as string;
	const authentication = this.getNodeParameter('authentication', item, 'none') as string;
	const credentialType = this.getNodeParameter('nodeCredentialType', item, '') as string;
	const jsonBody = this.getNodeParameter('jsonBody', item, '') as string;
	const body = jsonBody === '' ? {} : { body: workflow.jsonParse<IDataObject>(jsonBody) };

	if (authentication !== 'predefinedCredentialType') {
		return await this.helpers.httpRequest({ method, url, json: true, ...body });
	}
	if (this.getNodeParameter('helper', item, 'legacy') === 'current') {
		return await this.helpers.httpRequestWithAuthentication.call(this, credentialType, {
			method,
			url,
			json: true,
			...body,
		});
	}
	const request = { method, uri: url, json: true, followRedirect: true, followAllRedirects: true, ...body };
	return await this.helpers.requestWithAuthentication.call(this, credentialType, request, undefined, item);
}

function asNodeError(this: IExecuteFunctions, error: unknown, itemIndex: number): unknown {
	return error instanceof NodeApiError ? error : new NodeApiError(this.getNode(), error as JsonObject, { itemIndex });
}
