/**
 * The credential: its form, its sign-in and its connection test. n8n calls it for the nodes and for the HTTP Request node. It contains
 * no logic: requests and tokens are in nodes/DeviceManagement/transport.
 */
import type {
	DisplayCondition,
	Icon,
	ICredentialDataDecryptedObject as CredentialData,
	ICredentialTestRequest,
	ICredentialType,
	IHttpRequestHelper,
	IHttpRequestOptions,
	INodeProperties as Field,
} from 'n8n-workflow';

import { authenticate, preAuthenticate, TEST_MARK } from '../nodes/DeviceManagement/transport/auth/authenticate';
import type { SessionFields } from '../nodes/DeviceManagement/transport/auth/credential';
import { credentialTestRules, rethrowWithRemedy } from '../nodes/DeviceManagement/transport/auth/connectionTest';

/** The condition that a field's value begins with `start`. */
const beginning = (start: string): DisplayCondition => ({ _cnd: { startsWith: start } });

// What fields have in common.
const forApiKey = { required: true, displayOptions: { show: { authentication: ['apiKey'] } } };
const forLogin = { required: true, displayOptions: { show: { authentication: ['login'] } } };
const forOtherApiKey = { displayOptions: { show: { authentication: ['apiKey'], customSignIn: [true] } } };
const forOtherLogin = { displayOptions: { show: { authentication: ['login'], customSignIn: [true] } } };
const secret = { typeOptions: { password: true } };

/** Returns a field for a text, empty by default. */
function textField(displayName: string, name: string, description: string, more: Partial<Field>): Field {
	return { displayName, name, type: 'string', default: '', description, ...more };
}

const fields: Field[] = [
	textField(
		'Base URL',
		'baseUrl',
		'Address of the platform, without /api at the end. Keep a path in front of /api if your platform has one.',
		{ required: true, placeholder: 'e.g. https://devices.example.com' },
	),
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
	textField('API Key', 'apiKey', 'The key that you generated on the platform', { ...secret, ...forApiKey }),
	textField('Login Name', 'loginName', 'The name that you sign in to the platform with', forLogin),
	textField('Password', 'password', 'n8n sends only its MD5 value, as the platform expects', {
		...secret,
		...forLogin,
	}),
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
		...forOtherApiKey,
		description: 'Where the platform expects the key',
	},
	textField('Key Name', 'apiKeyName', 'Name of the header or query parameter for the key', {
		default: 'Authorization',
		...forOtherApiKey,
	}),
	textField(
		'Key Prefix',
		'apiKeyPrefix',
		'Word that n8n sends before the key, with a space between. Leave it empty to send the key alone.',
		{ default: 'ApiKey', ...forOtherApiKey },
	),
	{
		displayName: 'Password Format',
		name: 'passwordFormat',
		type: 'options',
		options: [
			{ name: 'Plain Text', value: 'plain', description: 'You entered the password itself' },
			{ name: 'MD5', value: 'md5', description: 'You entered the MD5 value of the password' },
		],
		default: 'plain',
		...forOtherLogin,
		description: 'What you entered as the password',
	},
	textField('Login Path', 'loginPath', 'Path of the login on the platform', {
		default: '/api/user/login',
		...forOtherLogin,
	}),
	textField(
		'Token Path',
		'tokenPath',
		'Where the login response has the token. Leave it empty to find it automatically.',
		{ placeholder: 'e.g. data.session.token', ...forOtherLogin },
	),
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
	{ displayName: 'Session Owner', name: 'sessionOwner', type: 'hidden', ...secret, default: '' },
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
	async preAuthentication(this: IHttpRequestHelper, credentials: CredentialData): Promise<Partial<SessionFields>> {
		const send = async (options: IHttpRequestOptions): Promise<unknown> => await this.helpers.httpRequest(options);
		return await preAuthenticate(credentials, send).catch(rethrowWithRemedy);
	}

	async authenticate(credentials: CredentialData, options: IHttpRequestOptions): Promise<IHttpRequestOptions> {
		try {
			return authenticate(credentials, options);
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
