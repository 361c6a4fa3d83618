import type { TenantPlatforms } from '../../testbed/n8n/examples.mts';
import type { N8nInstance } from '../../testbed/n8n/instance.mts';
import type { Main } from '../../testbed/n8n/main.mts';
import type { EmbeddedPlatform } from '../../testbed/platform/server.mts';
import type { Checks } from './checks.mts';

/** An n8n in which all examples and their credentials are imported, and the platforms that they use. */
export interface ExampleSetup {
	n8n: N8nInstance;
	main: Main;
	platform: EmbeddedPlatform;
	tenants: TenantPlatforms;
	/** What an agent sends to use the tools. */
	toolsToken: string;
	checks: Checks;
}
