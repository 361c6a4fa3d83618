'use strict';
const { NodeOperationError } = require('n8n-workflow');

/** Reads one thing for each item; the engine's tests look at how n8n treats it. */
exports.Probe = class Probe {
	description = {
		displayName: 'Probe',
		name: 'probe',
		group: ['input'],
		version: 1,
		description: 'Reads things',
		defaults: { name: 'Probe' },
		inputs: ['main'],
		outputs: ['main'],
		credentials: [{ name: 'probeApi', required: true }],
		properties: [
			{ displayName: 'Path', name: 'path', type: 'string', default: '/things/1' },
			{ displayName: 'Refuse', name: 'refuse', type: 'boolean', default: false },
		],
	};

	async execute() {
		const { baseUrl } = await this.getCredentials('probeApi');
		const output = [];
		for (const item of this.getInputData().keys()) {
			try {
				if (this.getNodeParameter('refuse', item)) {
					throw new NodeOperationError(this.getNode(), 'The probe refuses', { itemIndex: item });
				}
				const url = baseUrl + this.getNodeParameter('path', item);
				const json = await this.helpers.httpRequestWithAuthentication.call(this, 'probeApi', { url, json: true });
				output.push({ json, pairedItem: { item } });
			} catch (error) {
				if (!this.continueOnFail()) throw error;
				output.push({ json: { error: error.message }, pairedItem: { item } });
			}
		}
		return [output];
	}
};
