/** Workflows for the end-to-end tests, as n8n imports them. */
import type { ExampleWorkflow } from '../../testbed/n8n/examples.mts';

const deviceManagement = 'n8n-nodes-device-management.deviceManagement';

interface Step {
	name: string;
	type: string;
	typeVersion: number;
	parameters: object;
}

/** The node and n8n's own HTTP Request node, one after the other, with one credential. */
export function signInWorkflow(id: string, baseUrl: string, serialNumber: string) {
	const listing = { method: 'POST', url: `${baseUrl}/api/device/list`, sendBody: true };
	const steps = [
		{ name: 'Start', type: 'n8n-nodes-base.manualTrigger', typeVersion: 1, parameters: {} },
		node('Get Many', {
			resource: 'device',
			operation: 'getAll',
			returnAll: true,
			output: 'raw',
			filters: { compositeStatus: 2 },
			sort: { rule: [{ field: 'sn', direction: 'asc' }] },
		}),
		httpRequest('HTTP Request', { method: 'GET', url: `${baseUrl}/api/device/sn/${serialNumber}` }),
		httpRequest('HTTP Request, list', { ...listing, specifyBody: 'json', jsonBody: '{}' }),
	];
	return chain(id, id, steps, true);
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
	const query = Object.entries({ sn: 'device.sn', event: 'event', eventId: 'eventId' }).map(([name, field]) => ({
		name,
		value: `={{ $json.${field} }}`,
	}));
	const echo = { resource: 'api', operation: 'request', path: '/api/echo', query: { parameter: query } };
	const trigger = { name: 'Trigger', type: `${deviceManagement}Trigger`, typeVersion: 1, parameters: polling };
	return chain(id, credential, [trigger, node('Devices', echo)]);
}

/** A copy whose nodes of this package use another credential. */
export function withCredential(workflow: ExampleWorkflow, credential: string): ExampleWorkflow {
	const nodes = workflow.nodes.map((its) =>
		its.type.startsWith(deviceManagement) ? { ...its, credentials: reference(credential) } : its,
	);
	return { ...workflow, nodes };
}

function node(name: string, parameters: object): Step {
	return { name, type: deviceManagement, typeVersion: 1, parameters };
}

function httpRequest(name: string, parameters: object): Step {
	const predefined = { authentication: 'predefinedCredentialType', nodeCredentialType: 'deviceManagementApi' };
	return { name, type: 'n8n-nodes-base.httpRequest', typeVersion: 4.2, parameters: { ...predefined, ...parameters } };
}

function reference(credential: string) {
	return { deviceManagementApi: { id: credential, name: credential } };
}

/** @param executeOnce whether a step runs for its own sake, not for every item of the one before */
function chain(id: string, credential: string, steps: readonly Step[], executeOnce = false) {
	const nodes = steps.map((step, position) => ({
		...step,
		id: `${id}-${position}`,
		position: [220 * position, 0],
		executeOnce,
		...(/deviceManagement|httpRequest/.test(step.type) && { credentials: reference(credential) }),
	}));
	const connections = Object.fromEntries(
		steps.slice(1).map(({ name }, index) => [steps[index]?.name, { main: [[{ node: name, type: 'main', index: 0 }]] }]),
	);
	return { id, name: id, active: false, nodes, connections, settings: { executionOrder: 'v1' } };
}
