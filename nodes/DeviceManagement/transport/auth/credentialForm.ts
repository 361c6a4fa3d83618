import type {
	DisplayCondition,
	ICredentialDataDecryptedObject as CredentialData,
	INodeProperties as Field,
	INodePropertyOptions as Choice,
} from 'n8n-workflow';

export const AUTHENTICATION = [
	{ name: 'API Key', value: 'apiKey', description: 'Key that you create on the platform' },
	{ name: 'Login', value: 'login', description: 'Login name and password. n8n renews the token automatically.' },
] as const;
export const KEY_PLACES = [
	{ name: 'Header', value: 'header' },
	{ name: 'Query Parameter', value: 'query' },
] as const;
export const PASSWORD_FORMATS = [
	{ name: 'Plain Text', value: 'plain', description: 'The password itself' },
	{ name: 'MD5', value: 'md5', description: 'The MD5 hash of the password' },
] as const;

/** The fields whose values n8n masks and messages lose. */
export const SECRETS: readonly string[] = ['password', 'apiKey', 'sessionToken', 'sessionOwner'];

const beginning = (start: string): DisplayCondition => ({ _cnd: { startsWith: start } });

const forApiKey = { required: true, displayOptions: { show: { authentication: ['apiKey'] } } };
const forLogin = { required: true, displayOptions: { show: { authentication: ['login'] } } };
const forOtherApiKey = { displayOptions: { show: { authentication: ['apiKey'], customSignIn: [true] } } };
const forOtherLogin = { displayOptions: { show: { authentication: ['login'], customSignIn: [true] } } };

function field(displayName: string, name: string, description: string, more: Partial<Field>, value = '') {
	return { displayName, type: 'string', default: value, description, ...more, name } as const;
}

function choiceOf(choices: readonly [Choice, ...Choice[]], more: Pick<Field, 'displayOptions'> = {}) {
	return { type: 'options', options: [...choices], default: choices[0].value, ...more } satisfies Partial<Field>;
}

const form: Field[] = [
	field('Base URL', 'baseUrl', 'Address of your platform, without /api', {
		required: true,
		placeholder: 'e.g. https://devices.example.com',
	}),
	{
		displayName: 'Without https://, anyone on the network can read your key or password',
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
	{ displayName: 'Authentication', name: 'authentication', ...choiceOf(AUTHENTICATION) },
	field('API Key', 'apiKey', 'Usually found in your user settings on the platform', forApiKey),
	field('Login Name', 'loginName', 'Your user name on the platform', forLogin),
	field('Password', 'password', 'n8n sends only its MD5 hash, as the platform requires', forLogin),
	field(
		'Custom Sign-In',
		'customSignIn',
		"Whether to change how n8n sends the key or signs in. Only needed if the default sign-in doesn't work.",
		{ type: 'boolean', default: false },
	),
	field('Send Key In', 'apiKeyIn', 'Where the platform expects the key', choiceOf(KEY_PLACES, forOtherApiKey)),
	field('Key Name', 'apiKeyName', 'Name of the header or query parameter for the key', forOtherApiKey, 'Authorization'),
	field(
		'Key Prefix',
		'apiKeyPrefix',
		'Word before the key, followed by a space. Leave it empty to send only the key.',
		forOtherApiKey,
		'ApiKey',
	),
	field(
		'Password Format',
		'passwordFormat',
		"What the 'Password' field contains",
		choiceOf(PASSWORD_FORMATS, forOtherLogin),
	),
	field('Login Path', 'loginPath', 'Path of the login endpoint', forOtherLogin, '/api/user/login'),
	field(
		'Token Path',
		'tokenPath',
		'Where the login response has the token. Leave it empty to detect it automatically.',
		{
			placeholder: 'e.g. data.session.token',
			...forOtherLogin,
		},
	),
	field(
		'Ignore SSL Issues (Insecure)',
		'allowUnauthorizedCerts',
		"Whether to connect even if the SSL certificate can't be verified. Others on the network could then read your data.",
		{ type: 'boolean', default: false },
	),
	{ displayName: 'Session Token', name: 'sessionToken', type: 'hidden', typeOptions: { expirable: true }, default: '' },
	{ displayName: 'Session Owner', name: 'sessionOwner', type: 'hidden', default: '' },
];

export const fields: Field[] = form.map((field) =>
	SECRETS.includes(field.name) ? { ...field, typeOptions: { ...field.typeOptions, password: true } } : field,
);

/** Returns the value of a field: the default for one that an older n8n or an import left out, and for one that the switch hides. */
export function valueIn(data: CredentialData, { name, displayOptions, default: byDefault }: Field): unknown {
	const isHidden = displayOptions?.show?.['customSignIn'] !== undefined && data['customSignIn'] !== true;
	return isHidden || data[name] === undefined ? byDefault : data[name];
}
