import type { ICredentialType, IDataObject, INodeType, INodeTypes, IVersionedNodeType } from 'n8n-workflow';

import { builtInNodes } from './built-in-nodes.mts';
import { core, workflow } from './host.cjs';

/**
 * The node and credential types of the loaded packages, under the names workflows use: `<package name>.<node name>`.
 * `n8n-nodes-base` is there with the few nodes of built-in-nodes.mts.
 */
export class NodePackages implements INodeTypes {
	private constructor(private readonly loaders: ReadonlyMap<string, core.PackageDirectoryLoader>) {}

	/**
	 * Loads packages with n8n's own loader, by the paths that their package.json names.
	 * @throws what n8n throws for a package that it refuses to load.
	 */
	static async load(directories: readonly string[]): Promise<NodePackages> {
		const loaders = new Map<string, core.PackageDirectoryLoader>();
		for (const directory of directories) {
			const loader = new core.PackageDirectoryLoader(directory);
			await loader.loadAll();
			for (const { type } of Object.values(loader.credentialTypes)) {
				type.properties = workflow.injectDomainRestrictionFields(type);
			}
			loaders.set(loader.packageName, loader);
		}
		return new NodePackages(loaders);
	}

	getByName(fullName: string): INodeType | IVersionedNodeType {
		const [packageName = '', nodeName = ''] = fullName.split('.');
		if (packageName === 'n8n-nodes-base') {
			const builtIn = builtInNodes[nodeName];
			if (builtIn) return builtIn;
		}

		const loader = this.loaders.get(packageName);
		if (!loader) throw new core.UnrecognizedNodeTypeError(packageName, nodeName);
		return loader.getNode(nodeName).type;
	}

	getByNameAndVersion(fullName: string, version?: number): INodeType {
		return workflow.NodeHelpers.getVersionedNodeType(this.getByName(fullName), version);
	}

	getKnownTypes(): IDataObject {
		return Object.fromEntries(this.nodeNames().map((name) => [name, {}]));
	}

	/** The full names of the nodes of all packages, without the built-in ones. */
	nodeNames(): string[] {
		return [...this.loaders].flatMap(([packageName, loader]) =>
			Object.keys(loader.nodeTypes).map((nodeName) => `${packageName}.${nodeName}`),
		);
	}

	getCredentialType(name: string): ICredentialType {
		for (const loader of this.loaders.values()) {
			if (name in loader.known.credentials) return loader.getCredential(name).type;
		}
		throw new core.UnrecognizedCredentialTypeError(name);
	}

	getParentCredentialTypes(name: string): string[] {
		const parents = this.knownCredential(name)?.extends ?? [];
		return parents.flatMap((parent) => [parent, ...this.getParentCredentialTypes(parent)]);
	}

	/** The full names of the nodes that list the credential in their description. */
	getSupportedNodes(credentialType: string): string[] {
		return [...this.loaders].flatMap(([packageName, { known }]) =>
			(known.credentials[credentialType]?.supportedNodes ?? []).map((nodeName) => `${packageName}.${nodeName}`),
		);
	}

	private knownCredential(name: string) {
		return [...this.loaders.values()].map(({ known }) => known.credentials[name]).find((known) => known !== undefined);
	}
}
