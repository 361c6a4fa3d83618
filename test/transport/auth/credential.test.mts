import fc from 'fast-check';
import { type ICredentialDataDecryptedObject as CredentialData, type INodeParameters, NodeHelpers } from 'n8n-workflow';
import { createHash } from 'node:crypto';

import { credentialOf } from '../../../nodes/DeviceManagement/transport/auth/credential.ts';
import { fields, SECRETS } from '../../../nodes/DeviceManagement/transport/auth/credentialForm.ts';
import { runs } from '../../../testbed/runs.mts';
import { choices } from '../../../testbed/form.mts';
import { SIGNED_OUT } from '../../../testbed/fakeN8n.mts';

const md5 = (text: string) => createHash('md5').update(text).digest('hex');
const digestOf = (data: CredentialData) => credentialOf({ ...data }).accountKey;

/** Valid values of fields that not every text fits. */
const VALID: Record<string, (text: string) => string> = {
	baseUrl: (text) => `https://${text}.example`,
	loginPath: (text) => `/${text}`,
	password: md5,
};

/** The named exceptions: what these fields lead to counts. A sign-in changes the hidden ones. */
const EXCEPTIONS = ['passwordFormat', 'customSignIn', 'sessionToken', 'sessionOwner', 'allowUnauthorizedCerts'];
const form = fields.filter(({ type }) => type !== 'notice');
const separating = form.filter(({ name }) => !EXCEPTIONS.includes(name));
const word = fc.stringMatching(/^[a-z0-9]{1,8}$/);
const valueOf = (field: (typeof form)[number]): fc.Arbitrary<string | boolean> => {
	if (field.type === 'options') return fc.constantFrom(...choices(field).map(({ value }) => String(value)));
	return field.type === 'boolean' ? fc.boolean() : word.map(VALID[field.name] ?? ((text) => text));
};
const credential: fc.Arbitrary<CredentialData> = fc.record(
	Object.fromEntries(form.map((field) => [field.name, valueOf(field)])),
);

describe('an account', () => {
	test('is another one if a field that the form shows is changed, and the same after any other change', () => {
		fc.assert(
			fc.property(credential, credential, fc.constantFrom(...separating), (data, other, field) => {
				const { name } = field;
				const isShown = NodeHelpers.displayParameter({ ...data } as INodeParameters, field, null, null);
				const changed = { ...data, [name]: other[name] ?? '' };
				expect(digestOf(changed) !== digestOf(data)).toBe(isShown && changed[name] !== data[name]);
			}),
			runs(5000),
		);
	});

	const custom = { customSignIn: true };
	test.each<[string, CredentialData]>([
		['the defaults of the switch', custom],
		['the MD5 of the password', { ...custom, passwordFormat: 'md5', password: md5('secret').toUpperCase() }],
		['a stored token', { sessionToken: 'token', sessionOwner: 'owner' }],
		['another spelling of the address', { baseUrl: ' HTTPS://Platform.example/ ' }],
	])('is the same with %s', (_name, changes) => {
		expect(digestOf({ ...SIGNED_OUT, ...changes })).toBe(digestOf(SIGNED_OUT));
	});
});

/** Expressions may return anything. */
describe('a value of another type', () => {
	test.each(form.filter(({ type }) => type !== 'hidden'))('in $displayName is told by its label', (field) => {
		const { name, displayName } = field;
		const message = `'${displayName}' in the credential has a value of the wrong type`;
		const remedy = expect.stringContaining('expression');
		for (const value of [null, 12345678901234567890]) {
			const data = { ...SIGNED_OUT, customSignIn: true, [name]: value } as CredentialData;
			expect(() => credentialOf(data)).toThrow(
				expect.objectContaining({ message, details: expect.objectContaining({ remedy }) }),
			);
		}
	});

	test('is a text if it is a number', () => {
		const { stored } = credentialOf({ ...SIGNED_OUT, loginName: 4711, password: 1.5 });
		expect(stored).toMatchObject({ loginName: '4711', password: '1.5' });
	});
});

test.each(SECRETS)('the value of %s is removed from messages, whichever way signs in', (name) => {
	for (const authentication of ['apiKey', 'login']) {
		const { redact } = credentialOf({ ...SIGNED_OUT, apiKey: 'k-e-y', authentication, [name]: 'canary-1' });
		expect(redact('a canary-1 b')).toBe('a ••• b');
	}
});

test('a key is removed from messages as it is sent, too', () => {
	const { redact } = credentialOf({ ...SIGNED_OUT, authentication: 'apiKey', apiKey: 'ApiKey can\u200bary' });
	expect(redact('a canary')).toBe('a •••');
});

test('a field whose name says that it is a secret is one', () => {
	const names = fields.map(({ name }) => name).filter((name) => /(key|token|secret|password)$/i.test(name));
	expect(SECRETS).toEqual(expect.arrayContaining(names));
});

test('the owner of a saved token stays the same, so that no update of the package signs in again', () => {
	const custom = { customSignIn: true, loginPath: '/sign-in', tokenPath: 'data.token' };
	const data = { ...SIGNED_OUT, baseUrl: 'https://devices.example.com/x/', ...custom, allowUnauthorizedCerts: true };
	expect(credentialOf(data).accountKey).toBe('c3ad264048ade7b09f5c692fb4306fa0f32a2e4cdc8f08a81d6a7ad48e9fb1ef');
});
