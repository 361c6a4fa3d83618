/** A workflow that reads devices by a list of serial numbers, of which the platform does not know the last. */
export function errorOutputWorkflow(serialNumbers: readonly string[]) {
	const node = (name: string, type: string, typeVersion: number, position: [number, number], parameters: object) => ({
		id: name,
		name,
		type,
		typeVersion,
		position,
		parameters,
	});
	return {
		id: 'errorOutputForPicture',
		name: 'Read devices by serial number',
		active: false,
		nodes: [
			node('Start', 'n8n-nodes-base.manualTrigger', 1, [0, 0], {}),
			node('List', 'n8n-nodes-base.set', 3.4, [220, 0], {
				mode: 'raw',
				jsonOutput: JSON.stringify({ sn: serialNumbers }),
				options: {},
			}),
			node('One item each', 'n8n-nodes-base.splitOut', 1, [440, 0], { fieldToSplitOut: 'sn', options: {} }),
			{
				...node('Get device', 'n8n-nodes-device-management.deviceManagement', 1, [660, 0], {
					resource: 'device',
					operation: 'get',
					device: { __rl: true, mode: 'sn', value: '={{ $json.sn }}' },
				}),
				onError: 'continueErrorOutput',
				credentials: { deviceManagementApi: { id: 'deviceManagementKey', name: 'Device Management (API key)' } },
			},
			node('Found', 'n8n-nodes-base.noOp', 1, [920, -100], {}),
			node('Not found', 'n8n-nodes-base.noOp', 1, [920, 100], {}),
		],
		connections: {
			Start: { main: [[{ node: 'List', type: 'main', index: 0 }]] },
			List: { main: [[{ node: 'One item each', type: 'main', index: 0 }]] },
			'One item each': { main: [[{ node: 'Get device', type: 'main', index: 0 }]] },
			'Get device': {
				main: [[{ node: 'Found', type: 'main', index: 0 }], [{ node: 'Not found', type: 'main', index: 0 }]],
			},
		},
		settings: { executionOrder: 'v1' },
	};
}
