/** The credential as n8n calls it, for the nodes and for the HTTP Request node. The logic is in transport/auth. */
import type {
	Icon,
	ICredentialDataDecryptedObject as CredentialData,
	ICredentialTestRequest,
	ICredentialType,
	IHttpRequestHelper,
	IHttpRequestOptions,
} from 'n8n-workflow';

import { authenticate, preAuthenticate, TEST_MARK } from '../nodes/DeviceManagement/transport/auth/authenticate';
import type { SessionFields } from '../nodes/DeviceManagement/transport/auth/credential';
import { fields } from '../nodes/DeviceManagement/transport/auth/credentialForm';
import { credentialTestRules, rethrowWithRemedy } from '../nodes/DeviceManagement/transport/auth/connectionTest';

export class DeviceManagementApi implements ICredentialType {
	name = 'deviceManagementApi';

	displayName = 'Device Management API';

	icon: Icon = { light: 'file:../icons/deviceManagement.svg', dark: 'file:../icons/deviceManagement.dark.svg' };

	documentationUrl =
		'https://github.com/n8n-nodes-device-management/n8n-nodes-device-management/blob/main/docs/connect.md';

	/** A copy, because n8n adds other fields. */
	properties = [...fields];

	/** n8n calls this without a token and after HTTP 401. It stores the result with the credential. */
	async preAuthentication(this: IHttpRequestHelper, credentials: CredentialData): Promise<Partial<SessionFields>> {
		const send = async (options: IHttpRequestOptions): Promise<unknown> => await this.helpers.httpRequest(options);
		return await preAuthenticate(credentials, send).catch(rethrowWithRemedy);
	}

	async authenticate(credentials: CredentialData, options: IHttpRequestOptions): Promise<IHttpRequestOptions> {
		return await authenticate(credentials, options).catch(rethrowWithRemedy);
	}

	/** Requests a list, because it needs no serial number. Without `size`, because a platform may refuse some sizes. */
	test: ICredentialTestRequest = {
		request: {
			baseURL: '={{$credentials.baseUrl.trim().split(/[?#]/)[0].replace(/\\/*(\\/api)?\\/*$/, "")}}',
			url: '/api/device/list',
			method: 'POST',
			headers: { 'Content-Type': 'application/json', [TEST_MARK]: 'true' },
			body: '{}',
			timeout: 30_000,
		},
		rules: credentialTestRules(),
	};
}
