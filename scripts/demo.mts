/**
 * `npm run demo`: runs three workflows in n8n's engine with this package's compiled nodes, over real HTTP on an embedded
 * platform, and prints the output.
 */
import { type Bench, openBench } from '../testbed/bench.mts';
import { checkout, readManifest } from '../testbed/checkout.mts';
import { jsonOf } from '../testbed/output.mts';
import { bold, number, plain, step, tableOf, type Task } from './terminal.mts';

try {
	await demonstrate();
} catch (error) {
	process.exitCode = 1;
	// The failed step has shown the message. n8n's error also says what to do.
	process.stderr.write(`\n${plain(String(Object(error).description ?? error))}\n`);
}

async function demonstrate(): Promise<void> {
	const bench = await step("Loading the package into n8n's engine", async (task) => {
		const opened = await openBench({ fleet: { size: 1200 } });
		const { name, version } = await readManifest(checkout);
		task.title = `Loaded ${name} ${version} and a platform with ${number(opened.fleet.size)} devices`;
		return opened;
	});
	try {
		show(await step('Running three workflows', async (task) => await run(bench, task)));
	} finally {
		await bench.close();
	}
}

/** Counts all devices with the API key. Lists some with the login, and reads the first one of them. */
async function run({ platform, login: credential, run: runNode }: Bench, task: Task) {
	const began = performance.now();
	const [count] = jsonOf(await runNode({ resource: 'device', operation: 'count' }));
	const list = {
		resource: 'device',
		operation: 'getAll',
		returnAll: true,
		filters: { onlineStatus: 0, attributes: { pair: [{ key: 'site', value: 'Hamburg' }] } },
		options: { pageSize: 25 },
		sort: { rule: [{ field: 'createTime', direction: 'desc' }] },
	};
	const devices = jsonOf(await runNode(list, { credential }));
	const device = { __rl: true, mode: 'sn', value: '={{ $json.sn }}' };
	const get = { resource: 'device', operation: 'get', device };
	const [first] = jsonOf(await runNode(get, { credential, input: devices.slice(0, 1) }));
	const seconds = ((performance.now() - began) / 1000).toFixed(1);
	for (const { method, path, query, status } of platform.requests) {
		const paging = ['page', 'size'].filter((name) => name in query).map((name) => `${name}=${query[name]}`);
		task.say(plain(`${method} ${[path, paging.join('&')].filter(Boolean).join('?')} · HTTP ${status}`));
	}
	task.title = `Ran three workflows: ${platform.requests.length} requests in ${seconds} s`;
	return { total: Number(count?.['count']), devices, first };
}

function show({ total, devices, first = {} }: Awaited<ReturnType<typeof run>>): void {
	const few = devices.slice(0, 10);
	const heading = (text: string) => `\n${bold(text)}`;
	const lines = [
		heading(`${number(devices.length)} offline devices at site Hamburg, newest first`),
		tableOf(
			few.map((device) => ['sn', 'groupName', 'onlineStatus', 'status', 'createTime'].map((name) => device[name])),
			{ head: ['Serial number', 'Group', 'Online', 'Status', 'Created'] },
		),
		`… and ${number(devices.length - few.length)} more`,
		heading('The first one, read by its serial number'),
		tableOf(Object.entries(first)),
		heading(`${number(total)} devices in all, counted with the API key instead of the login`),
		'',
		'Next:',
		'  npm run check-platform -- --base-url https://… --login <name>',
		'      tells whether your own platform works with this package, and only reads',
		'  npm start',
		'      starts n8n with this package and a sample platform, and prints the address',
		'  README.md',
		'      says how to install the package in your n8n',
	];
	process.stdout.write(`${lines.join('\n')}\n`);
}
