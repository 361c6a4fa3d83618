/**
 * `npm run platform`: runs the embedded device-management platform alone, to try the nodes or another client.
 */
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
	.option('--zero-based', 'the first page is page=0 instead of page=1')
	.option('--largest-size <number>', 'the platform reduces larger pages to it', whole, 2000)
	.option('--refuse-larger', 'the platform refuses larger pages')
	.option('--ignore-sort', 'lists ignore the sort parameter')
	.option('--latency <ms>', 'waits before every response', whole, 0)
	.allowExcessArguments(false)
	.showHelpAfterError('--help lists the flags.')
	.parse();

try {
	await run(program.opts());
} catch (error) {
	const reason =
		error instanceof z.ZodError ? z.prettifyError(error) : error instanceof Error ? error.message : String(error);
	program.error(reason);
}

interface Flags {
	port: number;
	host: string;
	devices: number;
	zeroBased?: true;
	largestSize: number;
	refuseLarger?: true;
	ignoreSort?: true;
	latency: number;
}

async function run(flags: Flags): Promise<void> {
	const platform = await startPlatform({
		port: flags.port,
		host: flags.host,
		// Easy to type. The default password tests characters beyond ASCII.
		password: 'demo-password',
		fleet: { size: flags.devices },
		pageNumbering: flags.zeroBased ? 'zero-based' : 'one-based',
		largestSize: flags.largestSize,
		largerSize: flags.refuseLarger ? 'refuse' : 'clamp',
		sorting: flags.ignoreSort ? 'ignored' : 'obeyed',
		latencyMs: flags.latency,
	});
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
