/** `npm run demo`: lists devices of an embedded platform over real HTTP, with this package's compiled node in n8n's engine. */
import { type Bench, openBench } from '../testbed/bench.mts';
import { jsonOf } from '../testbed/output.mts';
import { bold, number, plain, step, tableOf, type Task } from './terminal.mts';

try {
	const load = async () => await openBench({ fleet: { size: 1200 } });
	const bench = await step("Loading the package into n8n's engine", load);
	const list = async (task: Task) => await listDevices(bench, task);
	console.log(await step('Listing devices', list).finally(bench.close));
} catch (error) {
	process.exitCode = 1;
	// The failed step has shown the message. n8n's error also says what to do.
	process.stderr.write(`\n${plain(String(Object(error).description ?? error))}\n`);
}

/** Lists devices with the login, and returns what the terminal shows. */
async function listDevices({ platform, fleet, login: credential, run }: Bench, task: Task): Promise<string> {
	const parameters = {
		resource: 'device',
		operation: 'getAll',
		returnAll: true,
		filters: { onlineStatus: 0, attributes: { pair: [{ key: 'site', value: 'Hamburg' }] } },
		options: { pageSize: 25 },
		sort: { rule: [{ field: 'createTime', direction: 'desc' }] },
	};
	const devices = jsonOf(await run(parameters, { credential }));
	task.title = `Listed ${devices.length} of ${number(fleet.size)} devices with ${platform.requests.length} requests`;
	const fields = ['sn', 'groupName', 'onlineStatus', 'status', 'createTime'];
	const few = devices.slice(0, 10).map((device) => fields.map((name) => device[name]));
	return `
${bold('Offline devices at site Hamburg, newest first')}
${tableOf(few, { head: ['Serial number', 'Group', 'Online', 'Status', 'Created'] })}
… and ${devices.length - few.length} more

Next:
  npm run check-platform -- --base-url https://… --login <name>
      tells whether your own platform works with this package, and only reads
  npm start
      starts n8n with this package and a sample platform, and prints the address
  README.md
      says how to install the package in your n8n`;
}
