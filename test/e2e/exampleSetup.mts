/** What the examples need on this machine: platforms, and servers that keep what the examples send them. */
import type { Credential, N8nInstance } from '../../testbed/n8n/instance.mts';
import { type ExampleWorkflow, exampleFleet, keyCredential, startTenants } from '../../testbed/n8n/examples.mts';
import { startMailServer } from '../../testbed/n8n/mailServer.mts';
import type { Main } from '../../testbed/n8n/main.mts';
import type { NodeResults } from '../../testbed/n8n/results.mts';
import type { Services } from '../../testbed/n8n/services.mts';
import { type Device, startPlatform } from '../../testbed/platform/server.mts';
import { triggerType } from '../../testbed/watch.mts';
import type { Checks } from './checks.mts';
import { startOtherServices } from './otherServices.mts';

export type Servers = Awaited<ReturnType<typeof startServers>>;

/** An n8n in which all examples and their credentials are imported, and the example that is to be run. */
export interface ExampleSetup extends Servers {
	n8n: N8nInstance;
	main: Main;
	workflow: ExampleWorkflow;
	/** The devices of `platform`. With a hostile fleet, all platforms have these. */
	devices: readonly Device[];
	/** What it put out when it polled by itself; empty for an example that doesn't. */
	polled: NodeResults;
	/** The devices of `watched` that went offline after the first poll. */
	wentOffline: readonly Device[];
	/** What callers of forms, webhooks and tools send. */
	callersSecret: string;
	checks: Checks;
}

/** Throws unless what the example puts out is right. */
export type Show = (given: ExampleSetup) => Promise<void>;

export interface Example {
	/** Each with the usual fleet, in this order. */
	promises?: Readonly<Record<string, Show>>;
	/** With any fleet. */
	anyFleet: Show;
}

export async function startServers(services: Services) {
	const tenants = await startTenants();
	for (const tenant of tenants.values()) services.add(tenant);
	const { origin, tracker, model } = services.add(await startOtherServices());
	return {
		// The largest page is small, so that every list takes several.
		platform: services.add(await startPlatform({ fleet: exampleFleet, largestSize: 300 })),
		tenants,
		/** The platform of the examples that poll. */
		watched: services.add(await startPlatform({ fleet: { size: 50 } })),
		mailServer: services.add(await startMailServer()),
		...{ tracker, model, otherServices: origin },
	};
}

/** The credentials that no example names, by the type of the node that uses them in the examples. */
export function ownCredentials({ watched, mailServer, otherServices: server }: Servers): Map<string, Credential> {
	const github = { server, user: 'n8n', accessToken: 'none' };
	const openAi = { apiKey: 'none', url: `${server}/v1` };
	return new Map([
		[triggerType, keyCredential('watched', 'watched', watched)],
		['n8n-nodes-base.emailSend', mailServer.credential],
		['n8n-nodes-base.github', { id: 'issueTracker', name: 'Issue tracker', type: 'githubApi', data: github }],
		['@n8n/n8n-nodes-langchain.lmChatOpenAi', { id: 'chatModel', name: 'Chat model', type: 'openAiApi', data: openAi }],
	]);
}

/** The example with these credentials. Its trigger reports a change at the next poll, so that no test waits 15 minutes. */
export function withOwn(credentials: ReadonlyMap<string, Credential>, workflow: ExampleWorkflow): ExampleWorkflow {
	const nodes = workflow.nodes.map((node) => {
		const { id, name, type } = credentials.get(node.type) ?? {};
		const parameters = { ...node.parameters, ...('forAtLeast' in node.parameters && { forAtLeast: 0 }) };
		return { ...node, parameters, ...(type !== undefined && { credentials: { [type]: { id, name } } }) };
	});
	return { ...workflow, nodes };
}
