'use strict';
const { NodeOperationError } = require('n8n-workflow');

/** Reads one thing for each item; the engine's tests look at how n8n treats it. */
exports.Probe = class Probe {
	description = {
		...{ displayName: 'Probe', name: 'probe', group: ['input'], version: 1, description: 'Reads things' },
		...{ defaults: { name: 'Probe' }, inputs: ['main'], outputs: ['main'] },
		credentials: [{ name: 'probeApi', required: true }],
		properties: [{ displayName: 'Path', name: 'path', type: 'string', default: '/thing' }],
	};

	async execute() {
		const { baseUrl } = await this.getCredentials('probeApi');
		const output = [];
		for (const item of this.getInputData().keys()) {
			const path = this.getNodeParameter('path', item);
			if (path === '') throw new NodeOperationError(this.getNode(), 'No path', { itemIndex: item });
			const request = { url: baseUrl + path, json: true };
			const json = await this.helpers.httpRequestWithAuthentication.call(this, 'probeApi', request);
			output.push({ json, pairedItem: { item } });
		}
		return [output];
	}
};
