/** Workflows for the end-to-end tests and the benchmark, as n8n imports them. */
import { nodeType } from '../deviceWorkflow.mts';
import { triggerType } from '../watch.mts';
import type { ExampleWorkflow } from './examples.mts';

export interface Step {
	name: string;
	type: string;
	typeVersion: number;
	parameters: object;
	webhookId?: string;
	onError?: string;
}

/** Runs the node for each call of the webhook with the workflow's id, and responds with the node's output. */
export function webhookWorkflow(id: string, credential: string, parameters: object) {
	const response = { httpMethod: 'POST', path: id, responseMode: 'lastNode', responseData: 'allEntries', options: {} };
	const webhook = { type: 'n8n-nodes-base.webhook', typeVersion: 2, webhookId: id };
	const steps = [{ name: 'Webhook', ...webhook, parameters: response }, node('Devices', parameters)];
	return chain(id, credential, steps);
}

/** Polls each minute and tells the platform, by `/api/echo?sn=…&event=…&eventId=…`, of each event that started an execution. */
export function triggerWorkflow(id: string, credential: string, parameters: object) {
	const polling = { pollTimes: { item: [{ mode: 'everyMinute' }] }, ...parameters };
	const fields = Object.entries({ sn: 'device.sn', event: 'event', eventId: 'eventId' });
	const query = fields.map(([name, field]) => ({ name, value: `={{ $json.${field} }}` }));
	const echo = { resource: 'api', operation: 'request', path: '/api/echo', query: { parameter: query } };
	const trigger = { name: 'Trigger', type: triggerType, typeVersion: 1, parameters: polling };
	return chain(id, credential, [trigger, node('Devices', echo)]);
}

/** A copy whose nodes of this package use another credential. */
export function withCredential(workflow: ExampleWorkflow, credential: string): ExampleWorkflow {
	const nodes = workflow.nodes.map((its) =>
		its.type.startsWith(nodeType) ? { ...its, credentials: reference(credential) } : its,
	);
	return { ...workflow, nodes };
}

function node(name: string, parameters: object): Step {
	return { name, type: nodeType, typeVersion: 1, parameters };
}

function reference(credential: string) {
	return { deviceManagementApi: { id: credential, name: credential } };
}

/** A workflow in which each step gets the output of the one before. Each has the credential, in case it sends requests. */
export function chain(id: string, credential: string, steps: readonly Step[]) {
	const nodes = steps.map((step, at) => {
		return { ...step, id: `${id}-${at}`, position: [220 * at, 0], credentials: reference(credential) };
	});
	const connections = Object.fromEntries(
		steps.slice(1).map(({ name }, index) => [steps[index]?.name, { main: [[{ node: name, type: 'main', index: 0 }]] }]),
	);
	return { id, name: id, active: false, nodes, connections, settings: { executionOrder: 'v1' } };
}
