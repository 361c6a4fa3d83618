import type {
	IDataObject,
	IExecuteFunctions,
	IHttpRequestMethods,
	INodeExecutionData,
	INodeProperties,
	INodeType,
	ITriggerFunctions,
	ITriggerResponse,
	JsonObject,
} from 'n8n-workflow';

import { workflow } from './host.cjs';

const { NodeApiError, NodeConnectionTypes } = workflow;

/** Starts a workflow with one empty item; a run's `input` takes the place of that item, as pinned data does. */
const manualTrigger: INodeType = {
	description: {
		displayName: 'Manual Trigger',
		name: 'manualTrigger',
		group: ['trigger'],
		version: 1,
		description: 'Runs the flow on clicking a button',
		maxNodes: 1,
		defaults: { name: 'Manual Trigger' },
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		properties: [],
	},
	async trigger(this: ITriggerFunctions): Promise<ITriggerResponse> {
		return {
			manualTriggerFunction: async () => {
				this.emit([this.helpers.returnJsonArray([{}])]);
			},
		};
	},
};

/** Hands its items on. n8n also tests credentials under this type's name. */
const noOp: INodeType = {
	description: {
		displayName: 'No Operation',
		name: 'noOp',
		group: ['organization'],
		version: 1,
		description: 'No Operation',
		defaults: { name: 'No Operation' },
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		properties: [],
	},
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
 * The HTTP Request node as far as credentials of other packages go: parameters of the same names, and the right to use any
 * credential, which n8n grants by this node's name. `helper` chooses between the request function that the real node calls
 * (`legacy`) and the one that nodes of today call (`current`).
 */
const httpRequest: INodeType = {
	description: {
		displayName: 'HTTP Request',
		name: 'httpRequest',
		group: ['output'],
		version: [1, 2, 3, 4, 4.1, 4.2, 4.3, 4.4],
		description: 'Makes an HTTP request and returns the response data',
		defaults: { name: 'HTTP Request' },
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		properties: [
			property('method', 'string', 'GET'),
			property('url', 'string', ''),
			property('authentication', 'string', 'none'),
			property('nodeCredentialType', 'string', ''),
			property('jsonBody', 'json', ''),
			property('helper', 'string', 'legacy'),
		],
	},
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

/** By node name within `n8n-nodes-base`. */
export const builtInNodes: Readonly<Record<string, INodeType>> = { manualTrigger, noOp, httpRequest };

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
		return await this.helpers.httpRequestWithAuthentication.call(this, credentialType, { method, url, json: true, ...body });
	}
	const request = { method, uri: url, json: true, ...body };
	return await this.helpers.requestWithAuthentication.call(this, credentialType, request, undefined, item);
}

function asNodeError(this: IExecuteFunctions, error: unknown, itemIndex: number): unknown {
	return error instanceof NodeApiError ? error : new NodeApiError(this.getNode(), error as JsonObject, { itemIndex });
}
