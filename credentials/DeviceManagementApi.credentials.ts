import type {
	DisplayCondition,
	Icon,
	ICredentialDataDecryptedObject,
	ICredentialTestRequest,
	ICredentialType,
	IHttpRequestHelper,
	IHttpRequestOptions,
	INodeProperties,
} from 'n8n-workflow';

import { authenticate, preAuthenticate, TEST_MARK } from '../nodes/DeviceManagement/transport/authenticate';
import { credentialTestRules } from '../nodes/DeviceManagement/transport/connectionTest';

/** Whether a field's value begins so. */
const beginning = (start: string): DisplayCondition => ({ _cnd: { startsWith: start } });
const forApiKey = { show: { authentication: ['apiKey'] } };
const forLogin = { show: { authentication: ['login'] } };

const fields: INodeProperties[] = [
	{
		displayName: 'Base URL',
		name: 'baseUrl',
		type: 'string',
		default: '',
		required: true,
		placeholder: 'e.g. https://devices.example.com',
		description:
			"Address of the platform, without /api at the end. A path in front of /api is fine when the platform is behind a prefix.",
	},
	{
		displayName:
			'This address is not encrypted: the key or password can be read on the way. Use https:// unless the platform is on this machine.',
		name: 'plainHttpNotice',
		type: 'notice',
		default: '',
		// No pattern: n8n runs one in a sandbox with a time limit whenever it reads the credential, and on a busy machine the
		// execution ends with "Regular expression execution timed out".
		displayOptions: {
			show: { baseUrl: ['http://', 'HTTP://', 'Http://'].map(beginning) },
			hide: {
				baseUrl: ['http://127.', ...['localhost', '[::1]'].flatMap((host) => [`http://${host}:`, `http://${host}/`])]
					.map(beginning)
					.concat(['http://localhost', 'http://[::1]'].map((whole) => ({ _cnd: { eq: whole } }))),
			},
		},
	},
	{
		displayName: 'Authentication',
		name: 'authentication',
		type: 'options',
		options: [
			{
				name: 'API Key',
				value: 'apiKey',
				description: "A key that was generated in the platform's user interface",
			},
			{
				name: 'Login',
				value: 'login',
				description: 'Login name and password; the token is renewed by itself',
			},
		],
		default: 'apiKey',
	},
	{
		displayName: 'API Key',
		name: 'apiKey',
		type: 'string',
		typeOptions: { password: true },
		default: '',
		displayOptions: forApiKey,
		description: "The key from the platform's user interface",
	},
	{
		displayName: 'Send Key In',
		name: 'apiKeyIn',
		type: 'options',
		options: [
			{ name: 'Header', value: 'header' },
			{ name: 'Query Parameter', value: 'query' },
		],
		default: 'header',
		displayOptions: forApiKey,
		description: 'Where the platform expects the key',
	},
	{
		displayName: 'Name',
		name: 'apiKeyName',
		type: 'string',
		default: 'Authorization',
		displayOptions: forApiKey,
		description: 'Name of the header or query parameter that carries the key',
	},
	{
		displayName: 'Prefix',
		name: 'apiKeyPrefix',
		type: 'string',
		default: 'ApiKey',
		displayOptions: forApiKey,
		description: 'Word that is sent before the key, with a space between. Empty sends the key alone.',
	},
	{
		displayName: 'Login Name',
		name: 'loginName',
		type: 'string',
		default: '',
		displayOptions: forLogin,
		description: 'The name that you sign in to the platform with',
	},
	{
		displayName: 'Password',
		name: 'password',
		type: 'string',
		typeOptions: { password: true },
		default: '',
		displayOptions: forLogin,
		description: 'Only its MD5 value is sent, as the platform expects it',
	},
	{
		displayName: 'Password Format',
		name: 'passwordFormat',
		type: 'options',
		options: [
			{ name: 'Plain Text', value: 'plain', description: 'The password itself was entered above' },
			{ name: 'MD5', value: 'md5', description: 'The MD5 value of the password was entered above' },
		],
		default: 'plain',
		displayOptions: forLogin,
		description: 'What was entered as the password',
	},
	{
		displayName: 'Login Path',
		name: 'loginPath',
		type: 'string',
		default: '/api/user/login',
		displayOptions: forLogin,
		description: 'Path of the login on the platform',
	},
	{
		displayName: 'Token Path',
		name: 'tokenPath',
		type: 'string',
		default: '',
		displayOptions: forLogin,
		placeholder: 'e.g. data.session.token',
		description: 'Where the login answer has the token. Empty finds it in the usual places.',
	},
	{
		displayName: 'Ignore SSL Issues (Insecure)',
		name: 'allowUnauthorizedCerts',
		type: 'boolean',
		default: false,
		description:
			"Whether to connect even if the platform's TLS certificate can't be checked. Anyone between n8n and the platform can then read everything.",
	},
	{
		displayName: 'Session Token',
		name: 'sessionToken',
		type: 'hidden',
		typeOptions: { expirable: true, password: true },
		default: '',
	},
	{
		displayName: 'Session Owner',
		name: 'sessionOwner',
		type: 'hidden',
		typeOptions: { password: true },
		default: '',
	},
];

export class DeviceManagementApi implements ICredentialType {
	name = 'deviceManagementApi';

	displayName = 'Device Management API';

	icon: Icon = {
		light: 'file:../icons/deviceManagement.svg',
		dark: 'file:../icons/deviceManagement.dark.svg',
	};

	documentationUrl =
		'https://github.com/n8n-nodes-device-management/n8n-nodes-device-management/blob/main/docs/connect.md';

	properties = fields;

	/** n8n calls this when there is no token, and after an HTTP 401; it stores what comes back with the credential. */
	async preAuthentication(
		this: IHttpRequestHelper,
		credentials: ICredentialDataDecryptedObject,
	): Promise<{ sessionToken?: string; sessionOwner?: string }> {
		return await preAuthenticate(credentials, async (options) => await this.helpers.httpRequest(options));
	}

	async authenticate(
		credentials: ICredentialDataDecryptedObject,
		requestOptions: IHttpRequestOptions,
	): Promise<IHttpRequestOptions> {
		return authenticate(credentials, requestOptions);
	}

	/** The smallest list there is: the only call of the API document that needs no knowledge of the fleet. */
	test: ICredentialTestRequest = {
		request: {
			baseURL: '={{$credentials.baseUrl.trim().replace(/\\/+$/, "")}}',
			url: '/api/device/list',
			method: 'POST',
			qs: { size: 1 },
			headers: { 'Content-Type': 'application/json', [TEST_MARK]: 'true' },
			body: '{}',
			timeout: 30_000,
		},
		rules: credentialTestRules(),
	};
}
