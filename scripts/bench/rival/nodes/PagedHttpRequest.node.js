'use strict';
/**
 * What n8n's HTTP Request node (version 4.4) does with pagination set to "Update a Parameter in Each Request": the same
 * request options, the same helper, the same expressions. What it does around it for other cases is left out, which is in
 * its favour, and so is the Split Out node that a workflow needs behind it to get from pages to devices.
 */
class PagedHttpRequest {
	description = {
		displayName: 'Paged HTTP Request',
		name: 'pagedHttpRequest',
		group: ['output'],
		version: 1,
		description: 'Lists devices page by page as the HTTP Request node does',
		defaults: { name: 'Paged HTTP Request' },
		inputs: ['main'],
		outputs: ['main'],
		credentials: [{ name: 'deviceManagementApi', required: true }],
		properties: [
			{ displayName: 'URL', name: 'url', type: 'string', default: '' },
			{ displayName: 'Page Size', name: 'pageSize', type: 'number', default: 0, description: '0 sends none' },
			{ displayName: 'Ignore SSL Issues', name: 'allowUnauthorizedCerts', type: 'boolean', default: false },
		],
	};

	async execute() {
		const pageSize = this.getNodeParameter('pageSize', 0);
		const requestOptions = {
			headers: {
				accept:
					'application/json,text/html,application/xhtml+xml,application/xml,text/*;q=0.9, image/*;q=0.8, */*;q=0.7',
			},
			method: 'POST',
			uri: this.getNodeParameter('url', 0),
			gzip: true,
			rejectUnauthorized: !this.getNodeParameter('allowUnauthorizedCerts', 0),
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
		const pages = await this.helpers.requestWithAuthenticationPaginated.call(
			this,
			requestOptions,
			0,
			{
				continue: '={{ !($response.body.data.last) || ($response.statusCode < 200 || $response.statusCode >= 300) }}',
				request: { qs: { page: '={{ $pageCount + 1 }}' } },
				requestInterval: 0,
			},
			'deviceManagementApi',
		);
		return [pages.map(({ body }) => ({ json: body, pairedItem: { item: 0 } }))];
	}
}

module.exports = { PagedHttpRequest };
