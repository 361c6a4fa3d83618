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
			{ displayName: 'Hint', name: 'hint', type: 'string', default: '' },
			{ displayName: 'Refuse', name: 'refuse', type: 'boolean', default: false },
		],
	};

	methods = {
		listSearch: {
			async searchThings(filter, paginationToken) {
				const { baseUrl } = await this.getCredentials('probeApi');
				const path = this.getCurrentNodeParameter('path');
				const url = `${baseUrl}${path}`;
				const things = await this.helpers.httpRequestWithAuthentication.call(this, 'probeApi', { url, json: true });
				const matching = things.filter(({ name }) => name.includes(filter ?? ''));
				const start = Number(paginationToken ?? 0);
				return {
					results: matching.slice(start, start + 1).map(({ id, name }) => ({ name, value: id })),
					paginationToken: start + 1 < matching.length ? String(start + 1) : undefined,
				};
			},
		},
	};

	async execute() {
		const { baseUrl } = await this.getCredentials('probeApi');
		const output = [];
		for (const item of this.getInputData().keys()) {
			try {
				const hint = this.getNodeParameter('hint', item);
				if (hint) this.addExecutionHints({ message: hint, location: 'outputPane', type: 'warning' });
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
