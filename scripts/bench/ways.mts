/** The ways to read a whole fleet that `npm run bench` compares. Each is a workflow in a real n8n. */
import assert from 'node:assert/strict';

import { nodeType } from '../../testbed/deviceWorkflow.mts';
import type { Main } from '../../testbed/n8n/main.mts';
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
	/** Returns the workflow for a fleet, under this id. */
	workflow(id: string, fleet: Served): object;
	/** Starts the workflow. */
	start(main: Main, id: string): Promise<unknown>;
}

export const ways: readonly Way[] = [
	{ name: 'Get Many, Simplified', ...steps(getMany({ output: 'simplified' })) },
	{ name: 'Get Many, Selected Fields', ...steps(getMany({ output: 'selected', fields: ['sn', 'status'] })) },
	{ name: 'HTTP Request, 2,000 per page', ...steps(httpRequest, splitOut) },
];

/** Instead of the others for a million devices. */
export const count: Way = { name: 'Count', ...steps(getMany({ operation: 'count' })) };

function getMany(parameters: object) {
	return (): Step => ({
		name: 'Get many devices',
		type: nodeType,
		typeVersion: 1,
		parameters: { resource: 'device', operation: 'getAll', returnAll: true, ...parameters },
	});
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

function splitOut(): Step {
	const parameters = { fieldToSplitOut: 'data.content', options: {} };
	return { name: 'Split Out', type: 'n8n-nodes-base.splitOut', typeVersion: 1, parameters };
}

/** A workflow of these steps, in one execution. A webhook with the workflow's id starts it and responds at once. */
function steps(...all: ReadonlyArray<(fleet: Served) => Step>): Omit<Way, 'name'> {
	return {
		workflow: (id, fleet) => chain(id, fleet.id, [webhook(id), ...all.map((step) => step(fleet))]),
		start: async (main, id) => assert.equal((await main.webhook(id, {})).status, 200),
	};
}

function webhook(path: string): Step {
	const parameters = { httpMethod: 'POST', path, responseMode: 'onReceived', options: {} };
	return { name: 'Webhook', type: 'n8n-nodes-base.webhook', typeVersion: 2, webhookId: path, parameters };
}
