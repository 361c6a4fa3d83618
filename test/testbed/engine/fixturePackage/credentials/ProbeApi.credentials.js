'use strict';

const text = (name, type, typeOptions) => ({ displayName: name, name, type, typeOptions, default: '' });

exports.ProbeApi = class ProbeApi {
	name = 'probeApi';
	displayName = 'Probe API';
	properties = [
		text('baseUrl', 'string'),
		text('password', 'string', { password: true }),
		text('sessionToken', 'hidden', { expirable: true }),
	];

	async preAuthentication({ baseUrl, password }) {
		const request = { method: 'POST', url: `${baseUrl}/login`, body: { password }, json: true };
		return { sessionToken: (await this.helpers.httpRequest(request)).token };
	}

	authenticate = async ({ sessionToken }, request) => ({
		...request,
		headers: { ...request.headers, Authorization: `Bearer ${sessionToken}` },
	});
};
