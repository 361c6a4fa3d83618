/** A workflow that reads devices by a list of serial numbers, of which the platform does not know the last. */
export function errorOutputWorkflow(serialNumbers: readonly string[]) {
	const list = { mode: 'raw', jsonOutput: JSON.stringify({ sn: serialNumbers }), options: {} };
	const device = { __rl: true, mode: 'sn', value: '={{ $json.sn }}' };
	return {
		id: 'errorOutputForPicture',
		name: 'Read devices by serial number',
		active: false,
		nodes: [
			node('Start', 'n8n-nodes-base.manualTrigger', 1, [0, 0], {}),
			node('List', 'n8n-nodes-base.set', 3.4, [220, 0], list),
			node('One item each', 'n8n-nodes-base.splitOut', 1, [440, 0], { fieldToSplitOut: 'sn', options: {} }),
			{
				...node('Get device', 'n8n-nodes-device-management.deviceManagement', 1, [660, 0], {
					resource: 'device',
					operation: 'get',
					device,
				}),
				onError: 'continueErrorOutput',
				credentials: { deviceManagementApi: { id: 'deviceManagementKey', name: 'Device Management (API key)' } },
			},
			node('Found', 'n8n-nodes-base.noOp', 1, [920, -100], {}),
			node('Not found', 'n8n-nodes-base.noOp', 1, [920, 100], {}),
		],
		connections: {
			Start: { main: [to('List')] },
			List: { main: [to('One item each')] },
			'One item each': { main: [to('Get device')] },
			'Get device': { main: [to('Found'), to('Not found')] },
		},
		settings: { executionOrder: 'v1' },
	};
}

function node(name: string, type: string, typeVersion: number, position: [number, number], parameters: object) {
	return { id: name, name, type, typeVersion, position, parameters };
}

function to(name: string) {
	return [{ node: name, type: 'main', index: 0 }];
}
