import type {
	ICredentialTestRequest,
	INodeCredentialTestResult,
	INodeType,
	IWorkflowExecuteAdditionalData,
} from 'n8n-workflow';
import * as z from 'zod/v4';

import { noOp } from './builtInNodes.mts';
import { Container, core, workflow as n8n } from './host.cjs';
import { nodeOf } from './workflowFile.mts';

/** What n8n's editor names of a saved credential. */
type SavedCredential = Record<'id' | 'name' | 'type', string>;

/**
 * Sends a credential type's declarative `test` request the way n8n's server does: as the routing of a temporary node, with
 * the decrypted data at hand, so that n8n signs in first if the token is empty. The `responseCode` rules apply to a
 * failed request, the `responseSuccessBody` rules to a successful response.
 */
export async function testCredential(
	credential: SavedCredential,
	test: ICredentialTestRequest,
	additionalData: IWorkflowExecuteAdditionalData,
): Promise<INodeCredentialTestResult> {
	let answer: unknown;
	try {
		answer = await sendTestRequest(credential, test, additionalData);
	} catch (error) {
		Container.get(core.ErrorReporter).error(error);
		return { status: 'Error', message: explainFailedRequest(error, test) };
	}
	for (const { type, properties } of test.rules ?? []) {
		if (type !== 'responseSuccessBody' || valueAt(answer, properties.key) !== properties.value) continue;
		return { status: 'Error', message: properties.message };
	}
	return { status: 'OK', message: 'Connection successful!' };
}

async function sendTestRequest(
	{ id, name, type }: SavedCredential,
	test: ICredentialTestRequest,
	base: IWorkflowExecuteAdditionalData,
) {
	const data = await base.credentialsHelper.getDecrypted(base, { id, name }, type, 'internal');
	// n8n's server uses the No Operation node, with one parameter whose routing is the test request.
	const nodeType: INodeType = {
		description: {
			...noOp.description,
			credentials: [{ name: type, required: true }],
			properties: [
				{ displayName: 'Temp', name: 'temp', type: 'string', default: '', routing: { request: test.request } },
			],
		},
	};
	const credentials = { [type]: { id, name } };
	const node = nodeOf({ name: 'Temp-Node', type: nodeType.description.name, credentials });
	const nodeTypes = { getByName: () => nodeType, getByNameAndVersion: () => nodeType, getKnownTypes: () => ({}) };
	const workflow = new n8n.Workflow({ nodes: [node], connections: {}, active: false, nodeTypes });
	const given = { ...base, currentNodeParameters: node.parameters };
	const [run, items] = [n8n.createEmptyRunExecutionData(), [{ json: {} }]];
	const [input, source] = [{ main: [items] }, { node, data: {}, source: null }];
	const context = new core.ExecuteContext(workflow, node, given, 'internal', run, 0, items, input, source, []);
	const routing = new core.RoutingNode(context, nodeType, { id, name, type, data });
	const output = await workflow.expression.withIsolate(async () => await routing.runNode());
	return output?.[0]?.[0]?.json;
}

const requestErrorSchema = z.object({
	cause: z.object({
		response: z.object({ status: z.number() }).optional().catch(undefined),
		code: z.string().optional(),
	}),
});

function explainFailedRequest(error: unknown, { rules = [] }: ICredentialTestRequest): string {
	const { response, code } = requestErrorSchema.safeParse(error).data?.cause ?? {};
	const message = error instanceof Error ? error.message : String(error);
	if (response === undefined) return code ?? message;
	const { status } = response;
	const rule = rules.find(({ type, properties }) => type === 'responseCode' && properties.value === status);
	if (rule !== undefined) return rule.properties.message;
	return status < 200 || status > 299 ? `Received HTTP status code: ${status}` : message;
}

/** Reads a dotted path of the response. Like the server's lodash, it also reads inherited fields, and those of texts and numbers. */
function valueAt(answer: unknown, path: string): unknown {
	return path.split('.').reduce((value, key): unknown => Reflect.get(Object(value), key), answer);
}
