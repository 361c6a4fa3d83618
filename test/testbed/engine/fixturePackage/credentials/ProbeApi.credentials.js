'use strict';

exports.ProbeApi = class ProbeApi {
	name = 'probeApi';
	displayName = 'Probe API';
	properties = [
		{ displayName: 'Base URL', name: 'baseUrl', type: 'string', default: '' },
		{ displayName: 'Login Name', name: 'loginName', type: 'string', default: 'probe' },
		{ displayName: 'Password', name: 'password', type: 'string', typeOptions: { password: true }, default: '' },
		{
			displayName: 'Session Token',
			name: 'sessionToken',
			type: 'hidden',
			typeOptions: { expirable: true },
			default: '',
		},
	];

	async preAuthentication({ baseUrl, loginName, password }) {
		const { token } = await this.helpers.httpRequest({
			method: 'POST',
			url: `${baseUrl}/login`,
			body: { loginName, password },
			json: true,
		});
		return { sessionToken: token };
	}

	authenticate = async ({ sessionToken }, request) => ({
		...request,
		headers: { ...request.headers, Authorization: `Bearer ${sessionToken}` },
	});
};
