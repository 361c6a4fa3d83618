'use strict';
const pLimit = require('p-limit');

/**
 * The fastest that a node can list devices through n8n: n8n's own request helper, as many requests at a time as this package
 * sends, and one item for each device. It knows the page numbers beforehand and checks nothing.
 */
class HelperList {
	description = {
		displayName: 'Helper List',
		name: 'helperList',
		group: ['output'],
		version: 1,
		description: "Lists devices with n8n's request helper and nothing else",
		defaults: { name: 'Helper List' },
		inputs: ['main'],
		outputs: ['main'],
		credentials: [{ name: 'deviceManagementApi', required: true }],
		properties: [
			{ displayName: 'URL', name: 'url', type: 'string', default: '' },
			{ displayName: 'Page Size', name: 'pageSize', type: 'number', default: 1000 },
			{ displayName: 'Parallel Requests', name: 'parallel', type: 'number', default: 8 },
		],
	};

	async execute() {
		const type = 'deviceManagementApi';
		const [url, size, parallel] = ['url', 'pageSize', 'parallel'].map((name) => this.getNodeParameter(name, 0));
		// Without it the helper reads and decrypts the credential for each request.
		const credentialsDecrypted = { id: '', name: '', type, data: await this.getCredentials(type, 0) };
		const fetchPage = async (page) => {
			// n8n does not send an empty object as a body, but it sends text.
			const body = { body: '{}', headers: { 'content-type': 'application/json' } };
			const options = { method: 'POST', url, qs: { page, size }, ...body, json: true };
			return await this.helpers.httpRequestWithAuthentication.call(this, type, options, { credentialsDecrypted });
		};
		const first = await fetchPage(1);
		const inTurn = pLimit(parallel);
		const rest = Array.from({ length: first.data.totalPages - 1 }, (_, index) => inTurn(fetchPage, index + 2));
		const pages = [first, ...(await Promise.all(rest))];
		return [pages.flatMap(({ data }) => data.content.map((json) => ({ json, pairedItem: { item: 0 } })))];
	}
}

module.exports = { HelperList };
