import type {
	ICredentialType,
	IDataObject,
	INodeProperties,
	INodeType,
	INodeTypes,
	IVersionedNodeType,
} from 'n8n-workflow';

import { builtInNodes } from './builtInNodes.mts';
import { core, workflow } from './host.cjs';

/**
 * The node and credential types of a loaded package, under their names in workflows: `<package name>.<node name>`. Of n8n's own nodes,
 * only those in builtInNodes.mts exist.
 */
export class NodePackage implements INodeTypes {
	private constructor(private readonly loader: core.PackageDirectoryLoader) {}

	/**
	 * Loads a package with n8n's own loader, by the paths in its package.json.
	 * @param fromSources replaces the paths of compiled files by those of their sources
	 * @throws n8n's error for a package that it refuses to load
	 */
	static async load(directory: string, fromSources: boolean): Promise<NodePackage> {
		const loader = new core.PackageDirectoryLoader(directory);
		const { n8n } = loader.packageJson;
		if (fromSources && n8n) {
			const source = (path: string) => path.replace(/^dist\/(.*)\.js$/, '$1.ts');
			const { nodes = [], credentials = [] } = n8n;
			loader.packageJson.n8n = { ...n8n, nodes: nodes.map(source), credentials: credentials.map(source) };
		}
		await loader.loadAll();
		for (const { type } of Object.values(loader.credentialTypes)) {
			type.properties = workflow.injectDomainRestrictionFields(type);
		}
		return new NodePackage(loader);
	}

	getByName(fullName: string): INodeType | IVersionedNodeType {
		const builtIn = builtInNodes[fullName];
		if (builtIn) return builtIn;

		const [packageName = '', nodeName = ''] = fullName.split('.');
		if (packageName !== this.loader.packageName) throw new core.UnrecognizedNodeTypeError(packageName, nodeName);
		return this.loader.getNode(nodeName).type;
	}

	/** A name that ends in `Tool` is a node as a tool for agents. n8n derives it from the node. */
	getByNameAndVersion(fullName: string, version?: number): INodeType {
		const ofName = (name: string) => workflow.NodeHelpers.getVersionedNodeType(this.getByName(name), version);
		return fullName.endsWith('Tool') ? asTool(ofName(fullName.slice(0, -'Tool'.length))) : ofName(fullName);
	}

	/** n8n only reads the names, for suggestions. */
	getKnownTypes = (): IDataObject => ({});

	getCredentialType(name: string): ICredentialType {
		return this.loader.getCredential(name).type;
	}
}

/** Derives the tool of a node, like n8n's server: another name, no inputs, an output for agents, and a description for the model. */
function asTool(node: INodeType): INodeType {
	const { usableAsTool, ...description } = node.description;
	if (!usableAsTool) throw new workflow.UserError(`Node "${description.name}" cannot be used as a tool`);
	const toolFields: INodeProperties[] = [
		{ displayName: 'Tool Description', name: 'descriptionType', type: 'options', default: 'auto' },
		{ displayName: 'Description', name: 'toolDescription', type: 'string', default: description.description },
	];
	const value = {
		...description,
		name: `${description.name}Tool`,
		displayName: `${description.displayName} Tool`,
		inputs: [],
		outputs: [workflow.NodeConnectionTypes.AiTool],
		properties: [...toolFields, ...description.properties],
	};
	return Object.create(node, { description: { value } });
}
