/**
 * The credential: its form, its sign-in and its connection test. n8n calls it for the nodes and for the HTTP Request node. It contains
 * no logic: requests and tokens are in nodes/DeviceManagement/transport.
 */
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

import { authenticate, preAuthenticate, TEST_MARK } from '../nodes/DeviceManagement/transport/auth/authenticate';
import { credentialTestRules, rethrowWithRemedy } from '../nodes/DeviceManagement/transport/auth/connectionTest';

/** The condition that a field's value begins with `start`. */
const beginning = (start: string): DisplayCondition => ({ _cnd: { startsWith: start } });
const forApiKey = { show: { authentication: ['apiKey'] } };
const forLogin = { show: { authentication: ['login'] } };
const forOtherApiKey = { show: { authentication: ['apiKey'], customSignIn: [true] } };
const forOtherLogin = { show: { authentication: ['login'], customSignIn: [true] } };

const fields: INodeProperties[] = [
	{
		displayName: 'Base URL',
		name: 'baseUrl',
		type: 'string',
		default: '',
		required: true,
		placeholder: 'e.g. https://devices.example.com',
		description:
			'Address of the platform, without /api at the end. Keep a path in front of /api if your platform has one.',
	},
	{
		displayName:
			'This address is not encrypted: others on the network can read the key or password. Use https:// unless the platform is on this machine.',
		name: 'plainHttpNotice',
		type: 'notice',
		default: '',
		// No regular expression: n8n runs it with a time limit whenever it reads the credential, which fails on a busy machine.
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
			{ name: 'API Key', value: 'apiKey', description: 'A key that you generate on the platform' },
			{ name: 'Login', value: 'login', description: 'Login name and password. n8n renews the token automatically.' },
		],
		default: 'apiKey',
	},
	{
		displayName: 'API Key',
		name: 'apiKey',
		type: 'string',
		typeOptions: { password: true },
		default: '',
		required: true,
		displayOptions: forApiKey,
		description: 'The key that you generated on the platform',
	},
	{
		displayName: 'Login Name',
		name: 'loginName',
		type: 'string',
		default: '',
		required: true,
		displayOptions: forLogin,
		description: 'The name that you sign in to the platform with',
	},
	{
		displayName: 'Password',
		name: 'password',
		type: 'string',
		typeOptions: { password: true },
		default: '',
		required: true,
		displayOptions: forLogin,
		description: 'n8n sends only its MD5 value, as the platform expects',
	},
	{
		displayName: 'My Platform Signs In Differently',
		name: 'customSignIn',
		type: 'boolean',
		default: false,
		description:
			'Whether to show the settings that only unusual platforms need. While this is off, their defaults are used.',
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
		displayOptions: forOtherApiKey,
		description: 'Where the platform expects the key',
	},
	{
		displayName: 'Key Name',
		name: 'apiKeyName',
		type: 'string',
		default: 'Authorization',
		displayOptions: forOtherApiKey,
		description: 'Name of the header or query parameter for the key',
	},
	{
		displayName: 'Key Prefix',
		name: 'apiKeyPrefix',
		type: 'string',
		default: 'ApiKey',
		displayOptions: forOtherApiKey,
		description: 'Word that n8n sends before the key, with a space between. Leave it empty to send the key alone.',
	},
	{
		displayName: 'Password Format',
		name: 'passwordFormat',
		type: 'options',
		options: [
			{ name: 'Plain Text', value: 'plain', description: 'You entered the password itself' },
			{ name: 'MD5', value: 'md5', description: 'You entered the MD5 value of the password' },
		],
		default: 'plain',
		displayOptions: forOtherLogin,
		description: 'What you entered as the password',
	},
	{
		displayName: 'Login Path',
		name: 'loginPath',
		type: 'string',
		default: '/api/user/login',
		displayOptions: forOtherLogin,
		description: 'Path of the login on the platform',
	},
	{
		displayName: 'Token Path',
		name: 'tokenPath',
		type: 'string',
		default: '',
		displayOptions: forOtherLogin,
		placeholder: 'e.g. data.session.token',
		description: 'Where the login response has the token. Leave it empty to find it automatically.',
	},
	{
		displayName: 'Ignore SSL Issues (Insecure)',
		name: 'allowUnauthorizedCerts',
		type: 'boolean',
		default: false,
		description:
			"Whether to connect even if the platform's TLS certificate can't be checked. Anyone on the network path can then read everything.",
	},
	{
		displayName: 'Session Token',
		name: 'sessionToken',
		type: 'hidden',
		typeOptions: { expirable: true, password: true },
		default: '',
	},
	{ displayName: 'Session Owner', name: 'sessionOwner', type: 'hidden', typeOptions: { password: true }, default: '' },
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

	/** n8n calls this without a token and after HTTP 401. It stores the result with the credential. */
	async preAuthentication(
		this: IHttpRequestHelper,
		credentials: ICredentialDataDecryptedObject,
	): Promise<{ sessionToken?: string; sessionOwner?: string }> {
		const send = async (options: IHttpRequestOptions): Promise<unknown> => await this.helpers.httpRequest(options);
		return await preAuthenticate(credentials, send).catch(rethrowWithRemedy);
	}

	async authenticate(
		credentials: ICredentialDataDecryptedObject,
		requestOptions: IHttpRequestOptions,
	): Promise<IHttpRequestOptions> {
		try {
			return authenticate(credentials, requestOptions);
		} catch (thrown) {
			return rethrowWithRemedy(thrown);
		}
	}

	/** Requests the smallest list, because it needs no serial number. */
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
