/**
 * Runs the embedded device-management platform alone, to try the nodes or a client against: `npm run platform`.
 */
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { z } from 'zod/v4';
import { startPlatform } from '../test/platform/server.mts';

const help = `Runs an embedded device-management platform with made-up devices.

  npm run platform -- [flags]

  --port <number>            port to listen on (default 4070; 0 takes a free one)
  --host <address>           address to listen on (default 127.0.0.1)
  --devices <number>         how many devices it has (default 1000)
  --seed <number>            the same seed gives the same devices (default 1)
  --zero-based               the first page is page=0 (default: page=1)
  --largest-size <number>    larger pages are silently cut to it (default 2000)
  --latency <ms>             waits before every answer (default 0)
  --token-requests <number>  a token dies after so many requests (default: never)
  --prefix <path>            everything is below this path, like /iot
  --tls                      HTTPS with a self-signed certificate for tests only
  -h, --help                 shows this
`;

const whole = z.string().regex(/^\d+$/, 'must be a whole number').transform(Number);
const flagsSchema = z.object({
	port: whole.default(4070),
	host: z.string().default('127.0.0.1'),
	devices: whole.default(1000),
	seed: whole.default(1),
	'zero-based': z.boolean().default(false),
	'largest-size': whole.default(2000),
	latency: whole.default(0),
	'token-requests': whole.optional(),
	prefix: z.string().default(''),
	tls: z.boolean().default(false),
});

try {
	await run(process.argv.slice(2));
} catch (error) {
	const reason =
		error instanceof z.ZodError ? z.prettifyError(error) : error instanceof Error ? error.message : String(error);
	process.stderr.write(`${reason}\n\n--help lists the flags.\n`);
	process.exitCode = 1;
}

async function run(args: string[]): Promise<void> {
	const { values } = parseArgs({
		args,
		options: {
			port: { type: 'string' },
			host: { type: 'string' },
			devices: { type: 'string' },
			seed: { type: 'string' },
			'zero-based': { type: 'boolean' },
			'largest-size': { type: 'string' },
			latency: { type: 'string' },
			'token-requests': { type: 'string' },
			prefix: { type: 'string' },
			tls: { type: 'boolean' },
			help: { type: 'boolean', short: 'h' },
		},
	});
	if (values.help) {
		process.stdout.write(help);
		return;
	}
	const flags = flagsSchema.parse(values);
	const platform = await startPlatform({
		port: flags.port,
		host: flags.host,
		// Easy to type; the default one is there to meet text beyond ASCII.
		password: 'demo-password',
		fleet: { size: flags.devices, seed: flags.seed },
		pageNumbering: flags['zero-based'] ? 'zero-based' : 'one-based',
		largestSize: flags['largest-size'],
		latencyMs: flags.latency,
		tokenRequests: flags['token-requests'] ?? Infinity,
		pathPrefix: flags.prefix,
		tls: flags.tls,
	});
	process.stdout.write(`The embedded platform is running with ${platform.fleet.size} devices.

  Base URL    ${platform.baseUrl}
  API key     ${platform.apiKey}
  Login name  ${platform.loginName}
  Password    ${platform.password}

Try it:
  curl${flags.tls ? ' -k' : ''} -X POST '${platform.baseUrl}/api/device/list?page=1&size=2' -H 'Authorization: ApiKey ${platform.apiKey}' -H 'Content-Type: application/json' -H 'Accept: application/json' -d '{}'

Ctrl-C stops it.
`);
	await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
	await platform.stop();
	process.stdout.write('\nStopped.\n');
}
