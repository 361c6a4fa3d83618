/** `npm run platform`: runs the embedded device-management platform alone, to try the nodes or another client. */
import { Command } from 'commander';
import { once } from 'node:events';
import { z } from 'zod/v4';

import { whole } from './flags.mts';
import { startPlatform } from '../testbed/platform/server.mts';

const program = new Command('npm run platform --')
	.description('Runs an embedded device-management platform with sample devices.')
	.option('--port <number>', 'port to listen on; 0 takes a free one', whole, 4070)
	.option('--host <address>', 'address to listen on', '127.0.0.1')
	.option('--devices <number>', 'how many devices it has', whole, 1000)
	.allowExcessArguments(false)
	.showHelpAfterError('--help lists the flags.')
	.parse();
const { port, host, devices } = program.opts<{ port: number; host: string; devices: number }>();

try {
	await run();
} catch (error) {
	program.error(error instanceof z.ZodError ? z.prettifyError(error) : String(error));
}

async function run(): Promise<void> {
	// The password is easy to type. The default one tests characters beyond ASCII.
	const platform = await startPlatform({ port, host, password: 'demo-password', fleet: { size: devices } });
	process.stdout.write(`The embedded platform is running with ${platform.fleet.size} devices.

  Base URL    ${platform.baseUrl}
  API key     ${platform.apiKey}
  Login name  ${platform.loginName}
  Password    ${platform.password}

Try it:
  curl -X POST '${platform.baseUrl}/api/device/list?page=1&size=2' -H 'Authorization: ApiKey ${platform.apiKey}' -H 'Content-Type: application/json' -H 'Accept: application/json' -d '{}'

Ctrl-C stops it.
`);
	await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
	await platform.stop();
	process.stdout.write('\nStopped.\n');
}
