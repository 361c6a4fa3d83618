import type {
	ICredentialDataDecryptedObject as CredentialData,
	ICredentialsHelper,
	IHttpRequestOptions,
	INodeCredentialsDetails,
	INodeParameters,
} from 'n8n-workflow';

import { core, workflow as n8n } from './host.cjs';
import type { NodePackage } from './nodePackage.mts';
import { nodeOf } from './workflowFile.mts';

/** The parameters of a function that n8n-core calls. */
type Given<Name extends keyof ICredentialsHelper> = Parameters<ICredentialsHelper[Name]>;

/**
 * What n8n's server does with credentials during an execution: reads and decrypts them each time, fills in the defaults
 * of the type, resolves expressions, signs in through `preAuthentication` and saves the result.
 * Left out: sharing, external secrets, credentials resolved per user, overwrites, policies, allowed domains of a sign-in, types
 * that extend others, OAuth, declarative authentication, and a sign-in that returns fields with expressions of the user.
 */
export class EngineCredentials extends n8n.ICredentialsHelper {
	/** Reads for a node: one per `getCredentials`, and one per request without its own copy. Writes after a sign-in. */
	readonly use = { decrypted: 0, updated: 0 };

	/** The table of the database, in which only `data` is encrypted. Each row is replaced as a whole, and the last write wins. */
	private readonly rows = new Map<string, core.Credentials>();

	constructor(private readonly packages: NodePackage) {
		super();
	}

	/** Encrypts with the instance's key, whether the credential is new or not. */
	async save(id: string, name: string, type: string, data: CredentialData): Promise<void> {
		const credentials = new core.Credentials({ id, name }, type);
		await credentials.setData(data);
		this.rows.set(id, credentials);
	}

	/** @throws UserError without such a credential (of that type, if one is given) */
	row(id: string | null | undefined, type?: string): core.Credentials {
		const row = this.rows.get(id ?? '');
		if (row === undefined || row.type !== (type ?? row.type)) {
			throw new n8n.UserError(`Credential with ID "${id}" does not exist for type "${type}".`);
		}
		return row;
	}

	/** The stored data with the type's defaults for what is missing or hidden, and with its expressions resolved. */
	override async getDecrypted(...given: Given<'getDecrypted'>): Promise<CredentialData> {
		const [additionalData, { id }, type, mode, executeData, , resolveIn] = given;
		this.use.decrypted++;
		// n8n has different types for credentials and node parameters, but passes one as the other here.
		const parameters = (await this.row(id, type).getData()) as INodeParameters;
		const asData = (value: unknown) => value as CredentialData;
		const properties = this.getCredentialsProperties(type);
		const all = n8n.NodeHelpers.getNodeParameters(properties, parameters, true, false, null, null) ?? {};
		const keys = core.getAdditionalKeys(additionalData, mode, null, { isCredential: true });
		if (resolveIn === undefined) {
			const nodeTypes = this.packages;
			const { expression } = new n8n.Workflow({ nodes: [emptyNode], connections: {}, active: false, nodeTypes });
			return await expression.withIsolate(async () =>
				asData(expression.getComplexParameterValue(emptyNode, all, mode, keys, undefined, undefined, all)),
			);
		}
		const { workflow, runExecutionData, runIndex, itemIndex, node, connectionInputData: input } = resolveIn;
		const place = [runExecutionData, runIndex, itemIndex, node.name, input, mode, keys, executeData] as const;
		return asData(workflow.expression.getParameterValue(all, ...place, false, all));
	}

	override async preAuthentication(...given: Given<'preAuthentication'>) {
		const [helpers, credentials, typeName, node, credentialsExpired] = given;
		const { preAuthentication, properties } = this.packages.getCredentialType(typeName);
		const token = properties.find(({ type, typeOptions }) => type === 'hidden' && typeOptions?.expirable === true);
		if (token === undefined || preAuthentication === undefined) return undefined;

		const beingTested = node.type === 'n8n-nodes-base.noOp' && node.parameters['temp'] === '';
		if (credentials[token.name] !== '' && !credentialsExpired && !beingTested) return undefined;

		const output = await preAuthentication.call(helpers, credentials);
		const reference = node.credentials?.[typeName];
		if (output[token.name] === undefined || reference === undefined) return undefined;
		const row = this.row(reference.id, typeName);
		this.use.updated++;
		await this.save(String(row.id), row.name, typeName, { ...(await row.getData()), ...output } as CredentialData);
		return Object.assign(credentials, output);
	}

	override async authenticate(...[credentials, typeName, options]: Given<'authenticate'>) {
		const { authenticate } = this.packages.getCredentialType(typeName);
		if (typeof authenticate !== 'function') return outsideTheEngine('Declarative authentication');
		// n8n itself passes the options of its legacy requests through here under the type of the current ones.
		return await authenticate(credentials, options as IHttpRequestOptions);
	}

	override getCredentials = async ({ id }: INodeCredentialsDetails, type: string) => this.row(id, type);
	override getCredentialsProperties = (type: string) => this.packages.getCredentialType(type).properties;
	override getParentTypes = () => [];
	override isCredentialUsableByNode = () => true;
	override runPreAuthentication = async (): Promise<never> => outsideTheEngine('OAuth');
	override updateCredentials = async (): Promise<never> => outsideTheEngine('OAuth');
	override updateCredentialsOauthTokenData = async (): Promise<never> => outsideTheEngine('OAuth');
}

function outsideTheEngine(what: string): never {
	throw new n8n.UnexpectedError(`${what} needs n8n's server`);
}

/** The node of a credential's expressions outside of a workflow. */
const emptyNode = nodeOf({ name: '', type: 'n8n-nodes-base.noOp' });
