/** The measured workflows. A webhook with the workflow's id starts each one and responds at once. */
import type { ExampleWorkflow } from '../../testbed/n8n/examples.mts';

/** A way to read a fleet. */
export interface Way {
	/** Used in ids. */
	id: string;
	name: string;
	/** Largest fleet for this way; larger ones take too long. */
	largest?: number;
	/** Without the webhook before them. Each gets the output of the one before. */
	steps(fleet: { id: string; baseUrl: string }): Step[];
}

interface Step {
	name: string;
	type: string;
	typeVersion: number;
	parameters: object;
}

const getMany =
	(parameters: object): Way['steps'] =>
	() => [
		{
			name: 'Get many devices',
			type: 'n8n-nodes-device-management.deviceManagement',
			typeVersion: 1,
			parameters: { resource: 'device', operation: 'getAll', returnAll: true, ...parameters },
		},
	];

/** HTTP Request and Split Out. */
const requestSteps: Way['steps'] = ({ baseUrl }) => [
	{
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
	},
	{
		name: 'Split Out',
		type: 'n8n-nodes-base.splitOut',
		typeVersion: 1,
		parameters: { fieldToSplitOut: 'data.content', options: {} },
	},
];

export const ways: readonly Way[] = [
	{ id: 'simplified', name: 'Get Many, Simplified', steps: getMany({ output: 'simplified' }) },
	{
		id: 'selected',
		name: 'Get Many, Selected Fields (serial number, status)',
		steps: getMany({ output: 'selected', fields: ['sn', 'status'] }),
	},
	{ id: 'raw', name: 'Get Many, Raw', steps: getMany({ output: 'raw' }) },
	{ id: 'request', name: 'HTTP Request, 2,000 per page, and Split Out', steps: requestSteps },
	{
		// Finds changes without the trigger. It doesn't store the fleet for the next run.
		id: 'compare',
		name: 'the same, and Compare Datasets',
		largest: 10_000,
		steps: (fleet) => [
			...requestSteps(fleet),
			{
				name: 'Compare Datasets',
				type: 'n8n-nodes-base.compareDatasets',
				typeVersion: 2.3,
				parameters: { mergeByFields: { values: [{ field1: 'sn', field2: 'sn' }] }, options: {} },
			},
		],
	},
];

/** Returns the workflow of one way for one fleet. Its credential has the fleet's id. */
export function workflowOf(way: Way, fleet: { id: string; baseUrl: string }) {
	const id = `${way.id}-${fleet.id}`;
	const webhook = {
		name: 'Webhook',
		type: 'n8n-nodes-base.webhook',
		typeVersion: 2,
		webhookId: id,
		parameters: { httpMethod: 'POST', path: id, responseMode: 'onReceived', options: {} },
	};
	const steps = [webhook, ...way.steps(fleet)];
	const nodes = steps.map((step, position) => ({
		...step,
		id: `${id}-${position}`,
		position: [220 * position, 0],
		credentials: { deviceManagementApi: { id: fleet.id, name: fleet.id } },
	}));
	const connections = Object.fromEntries(
		steps.slice(1).map(({ name, type }, position) => {
			// Compare Datasets gets the same items in both inputs.
			const inputs = type.endsWith('.compareDatasets') ? [0, 1] : [0];
			const targets = inputs.map((index) => ({ node: name, type: 'main', index }));
			return [steps[position]?.name ?? '', { main: [targets] }];
		}),
	);
	return { id, name: id, active: false, nodes, connections, settings: { executionOrder: 'v1' } };
}

/** Returns the example parts-over-workers for one fleet. */
export function partsOf(example: ExampleWorkflow, fleet: { id: string }, limit: number): object {
	const id = `parts-${fleet.id}`;
	const text = JSON.stringify(example.nodes)
		.replaceAll('deviceManagementKey', fleet.id)
		.replaceAll('device-part', id)
		.replace('"name":"limit","type":"number","value":1000', `"name":"limit","type":"number","value":${limit}`);
	return { ...example, id, name: id, nodes: JSON.parse(text) };
}
