/** The ways to read a whole fleet that `npm run bench` compares. Each is a workflow in a real n8n. */
import { nodeType } from '../../testbed/deviceWorkflow.mts';
import { chain, type Step } from '../../testbed/n8n/workflows.mts';

/** A platform with a fleet. Its credential in n8n has the same id. */
export interface Served {
	id: string;
	size: number;
	baseUrl: string;
	apiKey: string;
}

export interface Way {
	/** Its row in the table. */
	name: string;
	/** What the workflow does, in one execution. */
	steps(fleet: Served): Step[];
}

export const ways: readonly Way[] = [
	{ name: 'Get Many, Simplified', steps: () => [getMany({ output: 'simplified' })] },
	{ name: 'Get Many, Selected Fields', steps: () => [getMany({ output: 'selected', fields: ['sn', 'status'] })] },
	{ name: 'HTTP Request, 2,000 per page', steps: (fleet) => [httpRequest(fleet), splitOut] },
];

/** Instead of the others for a million devices. */
export const count: Way = { name: 'Count', steps: () => [getMany({ operation: 'count' })] };

/** Returns the workflow of a way for a fleet. A webhook with the workflow's id starts it, and responds at once. */
export function workflowOf({ steps }: Way, id: string, fleet: Served): object {
	const parameters = { httpMethod: 'POST', path: id, responseMode: 'onReceived', options: {} };
	const webhook = { name: 'Webhook', type: 'n8n-nodes-base.webhook', typeVersion: 2, webhookId: id, parameters };
	return chain(id, fleet.id, [webhook, ...steps(fleet)]);
}

const splitOut: Step = {
	name: 'Split Out',
	type: 'n8n-nodes-base.splitOut',
	typeVersion: 1,
	parameters: { fieldToSplitOut: 'data.content', options: {} },
};

function getMany(parameters: object): Step {
	return {
		name: 'Get many devices',
		type: nodeType,
		typeVersion: 1,
		parameters: { resource: 'device', operation: 'getAll', returnAll: true, ...parameters },
	};
}

function httpRequest({ baseUrl }: Served): Step {
	return {
		name: 'HTTP Request',
		type: 'n8n-nodes-base.httpRequest',
		typeVersion: 4.2,
		parameters: {
			method: 'POST',
			url: `${baseUrl}/api/device/list`,
			authentication: 'predefinedCredentialType',
			nodeCredentialType: 'deviceManagementApi',
			sendQuery: true,
			queryParameters: { parameters: [{ name: 'size', value: '2000' }] },
			sendBody: true,
			specifyBody: 'json',
			jsonBody: '{}',
			options: {
				pagination: {
					pagination: {
						paginationMode: 'updateAParameterInEachRequest',
						parameters: { parameters: [{ type: 'qs', name: 'page', value: '={{ $pageCount + 1 }}' }] },
						paginationCompleteWhen: 'other',
						completeExpression: '={{ $response.body.data.last }}',
					},
				},
			},
		},
	};
}
