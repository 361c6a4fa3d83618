import type {
	ICredentialDataDecryptedObject,
	ICredentialsExpressionResolveValues,
	ICredentialType,
	IExecuteData,
	IHttpRequestHelper,
	IHttpRequestOptions,
	INode,
	INodeCredentialsDetails,
	INodeParameters,
	INodeProperties,
	IRequestOptionsSimplified,
	IWorkflowExecuteAdditionalData,
	WorkflowExecuteMode,
} from 'n8n-workflow';

import { core, workflow as n8n } from './host.cjs';
import type { NodePackages } from './nodePackages.mts';

/** A saved credential as n8n's database holds it: only `data` is encrypted. */
export interface StoredCredential {
	id: string;
	name: string;
	type: string;
	data: string;
}

/** How often n8n would have used the database or the credential type. */
export interface CredentialUse {
	/** Reads and decryptions for a node: one per `getCredentials`, and one per request without its own copy. */
	decrypted: number;
	/** Runs of the credential type's `preAuthentication`: each is one sign-in. */
	preAuthenticated: number;
	/** Automatic writes to the store after a sign-in. */
	updated: number;
}

/** The credentials table of an n8n instance. As in a database, each row is read and replaced as a whole, and the last write wins. */
export class CredentialStore {
	private readonly rows = new Map<string, StoredCredential>();

	/** Encrypts with the instance's key, whether the credential is new or not. */
	async save(id: string, name: string, type: string, data: ICredentialDataDecryptedObject): Promise<void> {
		const credentials = new core.Credentials({ id, name }, type);
		await credentials.setData(data);
		const { data: ciphertext } = credentials.getDataToSave();
		if (ciphertext === undefined) throw new n8n.UnexpectedError('n8n encrypted nothing');
		this.rows.set(id, { id, name, type, data: ciphertext });
	}

	/** @throws UserError without such a credential (of that type, if one is given) */
	row(id: string | null | undefined, type?: string): StoredCredential {
		const row = typeof id === 'string' ? this.rows.get(id) : undefined;
		if (!row || (type !== undefined && row.type !== type)) {
			throw new n8n.UserError(`Credential with ID "${id}" does not exist for type "${type}".`);
		}
		return row;
	}

	open(id: string | null | undefined, type?: string): core.Credentials {
		const row = this.row(id, type);
		return new core.Credentials({ id: row.id, name: row.name }, row.type, row.data);
	}

	async decrypt(id: string): Promise<ICredentialDataDecryptedObject> {
		return await this.open(id).getData();
	}
}

/**
 * What n8n's server does with credentials during an execution: reads and decrypts them each time, fills in the defaults
 * of the type, resolves expressions, signs in through `preAuthentication` and saves the result.
 * Left out: sharing, external secrets, credentials resolved per user, overwrites, policies, allowed domains of a sign-in, types
 * that extend others, OAuth and declarative authentication.
 */
export class EngineCredentials extends n8n.ICredentialsHelper {
	readonly use: CredentialUse = { decrypted: 0, preAuthenticated: 0, updated: 0 };

	constructor(
		private readonly store: CredentialStore,
		private readonly packages: NodePackages,
	) {
		super();
	}

	override async getDecrypted(
		additionalData: IWorkflowExecuteAdditionalData,
		nodeCredentials: INodeCredentialsDetails,
		type: string,
		mode: WorkflowExecuteMode,
		executeData?: IExecuteData,
		raw?: boolean,
		expressionResolveValues?: ICredentialsExpressionResolveValues,
	): Promise<ICredentialDataDecryptedObject> {
		this.use.decrypted++;
		const stored = await this.store.open(nodeCredentials.id, type).getData();
		return raw === true
			? stored
			: await this.applyDefaults(additionalData, stored, type, mode, executeData, expressionResolveValues);
	}

	/** The stored data with the type's defaults for what is missing or hidden, and with its expressions resolved. */
	async applyDefaults(
		additionalData: IWorkflowExecuteAdditionalData,
		stored: ICredentialDataDecryptedObject,
		type: string,
		mode: WorkflowExecuteMode,
		executeData?: IExecuteData,
		resolveIn?: ICredentialsExpressionResolveValues,
	): Promise<ICredentialDataDecryptedObject> {
		const properties = this.getCredentialsProperties(type);
		const parameters = asParameters(stored);
		const complete = n8n.NodeHelpers.getNodeParameters(properties, parameters, true, false, null, null) ?? {};

		const keys = core.getAdditionalKeys(additionalData, mode, null, { isCredential: true });
		if (resolveIn) {
			const { workflow, runExecutionData, runIndex, itemIndex, node, connectionInputData: input } = resolveIn;
			const place = [runExecutionData, runIndex, itemIndex, node.name, input, mode, keys, executeData] as const;
			try {
				return asCredentialData(workflow.expression.getParameterValue(complete, ...place, false, complete));
			} catch (error) {
				if (error instanceof Error) error.message += ' [Error resolving credentials]';
				throw error;
			}
		}

		const nodeTypes = this.packages;
		const { expression } = new n8n.Workflow({ nodes: [emptyNode], connections: {}, active: false, nodeTypes });
		return await expression.withIsolate(async () =>
			asCredentialData(
				expression.getComplexParameterValue(emptyNode, complete, mode, keys, undefined, undefined, complete),
			),
		);
	}

	override async preAuthentication(
		helpers: IHttpRequestHelper,
		credentials: ICredentialDataDecryptedObject,
		typeName: string,
		node: INode,
		credentialsExpired: boolean,
	): Promise<ICredentialDataDecryptedObject | undefined> {
		const type = this.packages.getCredentialType(typeName);
		const token = expirableProperty(type);
		if (!token || typeof type.preAuthentication !== 'function') return undefined;

		const beingTested = node.type === 'n8n-nodes-base.noOp' && node.parameters['temp'] === '';
		if (credentials[token.name] !== '' && !credentialsExpired && !beingTested) return undefined;

		this.use.preAuthenticated++;
		const output = await type.preAuthentication.call(helpers, credentials);
		if (output[token.name] === undefined || !node.credentials) return undefined;

		const reference = node.credentials[type.name];
		if (!reference) throw new n8n.UserError(`Node "${node.name}" has no credential of type "${type.name}" to save to.`);
		const stored = await this.store.open(reference.id, type.name).getData();
		// The result of a sign-in replaces the stored fields, except expressions of the user in other fields than the token.
		const replacing = Object.entries(output).filter(([key]) => key === token.name || !n8n.isExpression(stored[key]));
		const saved = { ...stored, ...asCredentialData(Object.fromEntries(replacing)) };
		await this.updateCredentials(reference, type.name, saved);
		return Object.assign(credentials, output);
	}

	override async runPreAuthentication(): Promise<never> {
		throw new n8n.UnexpectedError("OAuth needs n8n's server");
	}

	override async authenticate(
		credentials: ICredentialDataDecryptedObject,
		typeName: string,
		requestOptions: IHttpRequestOptions | IRequestOptionsSimplified,
	): Promise<IHttpRequestOptions> {
		// n8n itself passes the options of its legacy requests through here under the type of the current ones.
		const options = requestOptions as IHttpRequestOptions;
		const { authenticate } = this.packages.getCredentialType(typeName);
		if (typeof authenticate === 'function') return await authenticate(credentials, options);
		throw new n8n.UnexpectedError('The engine has no declarative authentication');
	}

	override async getCredentials(nodeCredentials: INodeCredentialsDetails, type: string): Promise<core.Credentials> {
		return this.store.open(nodeCredentials.id, type);
	}

	override async updateCredentials(
		nodeCredentials: INodeCredentialsDetails,
		type: string,
		data: ICredentialDataDecryptedObject,
	): Promise<void> {
		const { id, name } = this.store.row(nodeCredentials.id, type);
		this.use.updated++;
		await this.store.save(id, name, type, data);
	}

	override async updateCredentialsOauthTokenData(): Promise<never> {
		throw new n8n.UnexpectedError("OAuth needs n8n's server");
	}

	override getParentTypes(): string[] {
		return [];
	}

	override getCredentialsProperties(type: string): INodeProperties[] {
		return this.packages.getCredentialType(type).properties;
	}

	override isCredentialUsableByNode(): boolean {
		return true;
	}
}

function expirableProperty({ properties }: ICredentialType): INodeProperties | undefined {
	return properties.find(({ type, typeOptions }) => type === 'hidden' && typeOptions?.expirable === true);
}

// n8n has different types for credentials and node parameters, but passes one as the other for defaults and expressions.
function asParameters(data: ICredentialDataDecryptedObject): INodeParameters {
	return data as INodeParameters;
}

function asCredentialData(value: unknown): ICredentialDataDecryptedObject {
	return value as ICredentialDataDecryptedObject;
}

/** The node of a credential's expressions outside of a workflow. */
const emptyNode: INode = {
	...{ id: 'empty', name: '', type: 'n8n-nodes-base.noOp', typeVersion: 1, position: [0, 0], parameters: {} },
};
