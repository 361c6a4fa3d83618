'use strict';
const pLimit = require('p-limit');

/** Lists devices in the two ways that this package is compared with. */
class RivalList {
	description = {
		displayName: 'Rival List',
		name: 'rivalList',
		group: ['output'],
		version: 1,
		description: 'Lists devices as the HTTP Request node does, or with the request helper of n8n and nothing else',
		defaults: { name: 'Rival List' },
		inputs: ['main'],
		outputs: ['main'],
		credentials: [{ name: 'deviceManagementApi', required: true }],
		properties: [
			{ displayName: 'Paged', name: 'isPaged', type: 'boolean', default: false },
			{ displayName: 'URL', name: 'url', type: 'string', default: '' },
			{ displayName: 'Page Size', name: 'pageSize', type: 'number', default: 0, description: '0 sends none' },
			{ displayName: 'Parallel Requests', name: 'parallel', type: 'number', default: 8 },
			{ displayName: 'Ignore SSL Issues', name: 'allowUnauthorizedCerts', type: 'boolean', default: false },
		],
	};

	async execute() {
		return [this.getNodeParameter('isPaged', 0) ? await listPaged(this) : await listParallel(this)];
	}
}

/**
 * What n8n's HTTP Request node (version 4.4) does with pagination set to "Update a Parameter in Each Request": the same request
 * options, the same helper, the same expressions. What it does around it for other cases is left out, which is in its favor,
 * and so is the Split Out node that a workflow needs behind it to get from pages to devices.
 */
async function listPaged(node) {
	const pageSize = node.getNodeParameter('pageSize', 0);
	const accept =
		'application/json,text/html,application/xhtml+xml,application/xml,text/*;q=0.9, image/*;q=0.8, */*;q=0.7';
	const requestOptions = {
		headers: { accept },
		method: 'POST',
		uri: node.getNodeParameter('url', 0),
		gzip: true,
		rejectUnauthorized: !node.getNodeParameter('allowUnauthorizedCerts', 0),
		followRedirect: true,
		followAllRedirects: true,
		resolveWithFullResponse: true,
		sendCredentialsOnCrossOriginRedirect: false,
		timeout: 300_000,
		body: {},
		...(pageSize > 0 ? { qs: { size: String(pageSize) } } : {}),
		encoding: null,
		json: false,
		useStream: true,
	};
	const pagination = {
		continue: '={{ !($response.body.data.last) || ($response.statusCode < 200 || $response.statusCode >= 300) }}',
		request: { qs: { page: '={{ $pageCount + 1 }}' } },
		requestInterval: 0,
	};
	const { requestWithAuthenticationPaginated } = node.helpers;
	const pages = await requestWithAuthenticationPaginated.call(
		node,
		requestOptions,
		0,
		pagination,
		'deviceManagementApi',
	);
	return pages.map(({ body }) => ({ json: body, pairedItem: { item: 0 } }));
}

/**
 * The fastest that a node can list devices through n8n: n8n's own request helper, as many requests at a time, the responses
 * parsed by the helper, and one item for each device. It knows the page numbers beforehand and checks nothing.
 */
async function listParallel(node) {
	const type = 'deviceManagementApi';
	const url = node.getNodeParameter('url', 0);
	const size = node.getNodeParameter('pageSize', 0);
	const skipSslCertificateValidation = node.getNodeParameter('allowUnauthorizedCerts', 0);
	// Without it the helper reads and decrypts the credential for each request.
	const credentialsDecrypted = { id: '', name: '', type, data: await node.getCredentials(type, 0) };
	const fetchPage = async (page) => {
		// n8n does not send an empty object as a body, but it sends text.
		const body = { body: '{}', headers: { 'content-type': 'application/json' } };
		const options = { method: 'POST', url, qs: { page, size }, ...body, json: true, skipSslCertificateValidation };
		return await node.helpers.httpRequestWithAuthentication.call(node, type, options, { credentialsDecrypted });
	};
	const first = await fetchPage(1);
	const inTurn = pLimit(node.getNodeParameter('parallel', 0));
	const rest = Array.from({ length: first.data.totalPages - 1 }, (_, index) => inTurn(fetchPage, index + 2));
	const pages = [first, ...(await Promise.all(rest))];
	return pages.flatMap(({ data }) => data.content.map((json) => ({ json, pairedItem: { item: 0 } })));
}

module.exports = { RivalList };
