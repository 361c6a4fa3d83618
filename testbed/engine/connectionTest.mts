import type {
	ICredentialsDecrypted,
	ICredentialTestRequest,
	INode,
	INodeCredentialTestResult,
	INodeType,
	IWorkflowExecuteAdditionalData,
} from 'n8n-workflow';
import * as z from 'zod/v4';

import { noOp } from './builtInNodes.mts';
import type { EngineCredentials } from './credentials.mts';
import { Container, core, workflow as n8n } from './host.cjs';
import type { NodePackages } from './nodePackages.mts';

/**
 * Sends a credential type's declarative `test` request the way n8n's server does: as the routing of a temporary node, with
 * the decrypted data at hand, so that n8n signs in first if the token is empty. The `responseCode` rules apply to a
 * failed request, the `responseSuccessBody` rules to a successful response.
 */
export async function testCredential(
	credential: ICredentialsDecrypted,
	packages: NodePackages,
	credentials: EngineCredentials,
	additionalData: IWorkflowExecuteAdditionalData,
): Promise<INodeCredentialTestResult> {
	const { test } = packages.getCredentialType(credential.type);
	if (!test) return failed('No testing function found for this credential.');

	try {
		if (credential.data) {
			credential.data = await credentials.applyDefaults(additionalData, credential.data, credential.type, 'internal');
		}
	} catch (error) {
		return failed(messageOf(error));
	}

	let answer: unknown;
	try {
		answer = await sendTestRequest(credential, test, additionalData);
	} catch (error) {
		Container.get(core.ErrorReporter).error(error);
		return failed(explainFailedRequest(error, test));
	}

	for (const rule of test.rules ?? []) {
		if (rule.type !== 'responseSuccessBody') continue;
		if (valueAt(answer, rule.properties.key) === rule.properties.value) return failed(rule.properties.message);
	}
	return { status: 'OK', message: 'Connection successful!' };
}

async function sendTestRequest(
	credential: ICredentialsDecrypted,
	test: ICredentialTestRequest,
	additionalData: IWorkflowExecuteAdditionalData,
): Promise<unknown> {
	const nodeType = nodeForTest(credential.type, test);
	const node: INode = {
		...{ id: 'temp', name: 'Temp-Node', typeVersion: 1, position: [0, 0], parameters: {} },
		type: nodeType.description.name,
		credentials: { [credential.type]: { id: credential.id, name: credential.name } },
	};
	const nodeTypes = { getByName: () => nodeType, getByNameAndVersion: () => nodeType, getKnownTypes: () => ({}) };
	const workflow = new n8n.Workflow({ nodes: [node], connections: {}, active: false, nodeTypes });
	const context = new core.ExecuteContext(
		workflow,
		node,
		{ ...additionalData, currentNodeParameters: node.parameters },
		'internal',
		n8n.createEmptyRunExecutionData(),
		0,
		[],
		{ main: [[{ json: {} }]] },
		{ node, data: {}, source: null },
		[],
	);
	const routing = new core.RoutingNode(context, nodeType, credential);
	const output = await workflow.expression.withIsolate(async () => await routing.runNode());
	return output?.[0]?.[0]?.json;
}

/** n8n's server uses the No Operation node, with one parameter whose routing is the test request. */
function nodeForTest(credentialType: string, { request }: ICredentialTestRequest): INodeType {
	return {
		description: {
			...noOp.description,
			credentials: [{ name: credentialType, required: true }],
			properties: [{ displayName: 'Temp', name: 'temp', type: 'string', default: '', routing: { request } }],
		},
	};
}

const requestErrorSchema = z.object({
	cause: z.object({
		response: z.object({ status: z.number(), statusText: z.string().optional() }).optional().catch(undefined),
		code: z.string().optional().catch(undefined),
	}),
});

function explainFailedRequest(error: unknown, { rules = [] }: ICredentialTestRequest): string {
	const { response, code } = requestErrorSchema.safeParse(error).data?.cause ?? {};
	if (response) {
		const { status, statusText } = response;
		for (const rule of rules) {
			if (rule.type === 'responseCode' && rule.properties.value === status) return rule.properties.message;
		}
		if (status < 199 || status > 299) return statusText || `Received HTTP status code: ${status}`;
	} else if (code) {
		return code;
	}
	return messageOf(error);
}

function failed(message: string): INodeCredentialTestResult {
	return { status: 'Error', message };
}

function messageOf(error: unknown): string {
	return error instanceof Error ? error.message : String(error);
}

/** Reads a dotted path of the response. Like the server's lodash, it also reads inherited fields, and those of texts and numbers. */
function valueAt(answer: unknown, path: string): unknown {
	const field = (value: unknown, key: string): unknown =>
		value === undefined || value === null ? undefined : Reflect.get(Object(value), key);
	return field(answer, path) ?? path.split('.').reduce(field, answer);
}
