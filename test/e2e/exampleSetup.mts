import type { ExampleWorkflow, TenantPlatforms } from '../../testbed/n8n/examples.mts';
import type { N8nInstance } from '../../testbed/n8n/instance.mts';
import type { MailServer } from '../../testbed/n8n/mailServer.mts';
import type { Main } from '../../testbed/n8n/main.mts';
import type { Device, EmbeddedPlatform } from '../../testbed/platform/server.mts';
import type { ChatModel } from './chatModel.mts';
import type { Checks } from './checks.mts';
import type { IssueTracker } from './issueTracker.mts';

/** What the examples use on this machine. */
export interface Servers {
	platform: EmbeddedPlatform;
	tenants: TenantPlatforms;
	/** The platform of the examples that poll. They are published before all other parts, so that no part waits for a poll. */
	watched: EmbeddedPlatform;
	/** The platform of the trigger's own part. */
	polled: EmbeddedPlatform;
	mailServer: MailServer;
	tracker: IssueTracker;
	model: ChatModel;
}

/** An n8n in which all examples and their credentials are imported, and the example that is to be run. */
export interface ExampleSetup extends Servers {
	n8n: N8nInstance;
	main: Main;
	workflow: ExampleWorkflow;
	/** The devices of `platform`. */
	devices: readonly Device[];
	/** The devices of `watched` that went offline after the first poll. */
	wentOffline: readonly Device[];
	/** What an agent sends to use the tools. */
	toolsToken: string;
	checks: Checks;
}
