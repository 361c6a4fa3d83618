import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

/** A credential that signs in and has no token yet, as n8n stores it. */
export const SIGNED_OUT: ICredentialDataDecryptedObject = {
	baseUrl: 'https://platform.example',
	authentication: 'login',
	loginName: 'anna',
	password: 'secret',
	sessionToken: '',
	sessionOwner: '',
};

/** A response as n8n's request function returns it for a stream, with as much of a stream as the package reads. */
export function responseOf(envelope: unknown) {
	const body = {
		on: () => {},
		[Symbol.asyncIterator]: async function* () {
			yield Buffer.from(JSON.stringify(envelope));
		},
	};
	return { statusCode: 200, headers: {}, body };
}
