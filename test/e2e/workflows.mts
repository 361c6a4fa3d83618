/** Workflows for the end-to-end tests, as n8n imports them. */

const deviceManagement = 'n8n-nodes-device-management.deviceManagement';
const httpRequest = 'n8n-nodes-base.httpRequest';

interface Step {
	name: string;
	type: string;
	typeVersion: number;
	parameters: object;
}

/** Every operation and n8n's own HTTP Request node, one after the other, with one credential. */
export function signInWorkflow(id: string, credential: string, baseUrl: string, serialNumber: string) {
	const filters = { compositeStatus: 2 };
	const predefined = { authentication: 'predefinedCredentialType', nodeCredentialType: 'deviceManagementApi' };
	return chain(id, credential, [
		device('Get Many', {
			operation: 'getAll',
			returnAll: true,
			output: 'raw',
			filters,
			sort: { rule: [{ field: 'sn', direction: 'asc' }] },
		}),
		device('Get', { operation: 'get', device: { __rl: true, mode: 'sn', value: serialNumber }, output: 'raw' }),
		device('Count', { operation: 'count', filters }),
		{
			name: 'HTTP Request',
			type: httpRequest,
			typeVersion: 4.2,
			parameters: { ...predefined, method: 'GET', url: `${baseUrl}/api/device/sn/${serialNumber}` },
		},
		{
			name: 'HTTP Request, list',
			type: httpRequest,
			typeVersion: 4.2,
			parameters: {
				...predefined,
				method: 'POST',
				url: `${baseUrl}/api/device/list`,
				sendBody: true,
				specifyBody: 'json',
				jsonBody: '{}',
			},
		},
	]);
}

export function wrongKeyWorkflow(id: string, credential: string) {
	return chain(id, credential, [device('Get Many', { operation: 'getAll' })]);
}

/** Runs the node for each call of the webhook with the workflow's id, and responds with the node's output. */
export function webhookWorkflow(id: string, credential: string, parameters: object) {
	const webhook = {
		id: `${id}-webhook`,
		name: 'Webhook',
		type: 'n8n-nodes-base.webhook',
		typeVersion: 2,
		position: [0, 0],
		webhookId: id,
		parameters: { httpMethod: 'POST', path: id, responseMode: 'lastNode', responseData: 'allEntries', options: {} },
	};
	const devices = {
		...device('Devices', parameters),
		id: `${id}-devices`,
		position: [220, 0],
		credentials: { deviceManagementApi: { id: credential, name: credential } },
	};
	return {
		id,
		name: id,
		active: false,
		nodes: [webhook, devices],
		connections: { Webhook: { main: [[{ node: 'Devices', type: 'main', index: 0 }]] } },
		settings: { executionOrder: 'v1' },
	};
}

/** Polls each minute and tells the platform, by `/api/echo?sn=…&event=…&eventId=…`, of each event that started an execution. */
export function triggerWorkflow(id: string, credential: string, parameters: object) {
	const trigger = {
		name: 'Trigger',
		type: `${deviceManagement}Trigger`,
		typeVersion: 1,
		parameters: { pollTimes: { item: [{ mode: 'everyMinute' }] }, ...parameters },
	};
	const query = {
		parameter: [
			{ name: 'sn', value: '={{ $json.device.sn }}' },
			{ name: 'event', value: '={{ $json.event }}' },
			{ name: 'eventId', value: '={{ $json.eventId }}' },
		],
	};
	const echo = {
		name: 'Devices',
		type: deviceManagement,
		typeVersion: 1,
		parameters: { resource: 'api', operation: 'request', path: '/api/echo', query },
	};
	return {
		id,
		name: id,
		active: false,
		nodes: [trigger, echo].map((node, position) => ({
			...node,
			id: `${id}-${position}`,
			position: [220 * position, 0],
			credentials: { deviceManagementApi: { id: credential, name: credential } },
		})),
		connections: { Trigger: { main: [[{ node: 'Devices', type: 'main', index: 0 }]] } },
		settings: { executionOrder: 'v1' },
	};
}

function device(name: string, parameters: object): Step {
	return { name, type: deviceManagement, typeVersion: 1, parameters: { resource: 'device', ...parameters } };
}

function chain(id: string, credential: string, steps: Step[]) {
	const start = { name: 'Start', type: 'n8n-nodes-base.manualTrigger', typeVersion: 1, parameters: {} };
	const nodes = [start, ...steps].map((step, position) => ({
		...step,
		id: `${id}-${position}`,
		position: [220 * position, 0],
		// A step runs for its own sake, not for every item of the one before.
		executeOnce: true,
		...(position === 0 ? {} : { credentials: { deviceManagementApi: { id: credential, name: credential } } }),
	}));
	const connections = Object.fromEntries(
		nodes
			.slice(1)
			.map(({ name }, position) => [nodes[position]?.name ?? '', { main: [[{ node: name, type: 'main', index: 0 }]] }]),
	);
	return { id, name: id, active: false, nodes, connections, settings: { executionOrder: 'v1' } };
}
