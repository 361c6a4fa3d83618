/**
 * Every example by one table: a row for each promise, with what the example is fed and what must come out. Then each runs with devices
 * whose names, serial numbers and statuses break spreadsheets, mails, tickets and chats, with no device, and with 400 at once.
 */
import assert from 'node:assert/strict';

import { type ExampleWorkflow, exampleWorkflow, exampleWorkflows } from '../../testbed/n8n/examples.mts';
import type { Main } from '../../testbed/n8n/main.mts';
import type { NodeResults } from '../../testbed/n8n/results.mts';
import { hostileFleets } from '../../testbed/platform/hostileFleet.mts';
import { triggerType } from '../../testbed/watch.mts';
import { AGENTS } from './agentExamples.mts';
import type { Example, ExampleSetup, Show } from './exampleSetup.mts';
import { LISTS } from './listExamples.mts';
import { MAILS } from './mailExamples.mts';
import { byHand, newestOf, newId } from './runs.mts';
import { SHEETS } from './sheetExamples.mts';
import { TICKETS } from './ticketExample.mts';

/** By the names of their files. */
const EXAMPLES: ReadonlyMap<string, Example> = new Map(
	Object.entries({ ...AGENTS, ...LISTS, ...MAILS, ...SHEETS, 'offline-tickets': TICKETS }),
);

/** They need PostgreSQL: inventory.mts writes the hostile fleet, and poll-watch reads no devices. */
const IN_QUEUE_MODE = ['nightly-inventory-postgres', 'poll-watch'];

type Setup = Omit<ExampleSetup, 'devices' | 'polled' | 'workflow'>;

export async function examples(setup: Setup, all: ReadonlyMap<string, ExampleWorkflow>): Promise<void> {
	const { checks, main } = setup;
	await checks.part('Examples as their files are', async () => await unfilled(setup));
	await checks.part('The switch of npm start', async () => await switchDevice(setup));
	const workflows = [...all].filter(([name]) => !IN_QUEUE_MODE.includes(name));
	assert.deepEqual([...EXAMPLES.keys()].sort(), workflows.map(([name]) => name).sort());
	const polls = new Map<string, NodeResults>();
	for (const [name, workflow] of workflows) polls.set(name, await lastPoll(main, workflow));
	for (const [name, workflow] of workflows) {
		const title = `Example ${name}.json, also with hostile fleets`;
		await checks.part(title, async () => await run({ ...setup, workflow, polled: polls.get(name) ?? {} }, name));
	}
}

/** An example that polls each minute has reported devices. Then it polls no more: to it, another fleet would be news. */
async function lastPoll(main: Main, workflow: ExampleWorkflow): Promise<NodeResults> {
	if (!workflow.nodes.some(({ type }) => type === triggerType)) return {};
	const reports = workflow.nodes[0]?.name === 'Online status changed';
	const polled = reports ? await newestOf(main, workflow.id) : {};
	await main.unpublish(workflow.id);
	return polled;
}

async function run(setup: Omit<ExampleSetup, 'devices'>, name: string): Promise<void> {
	const example = EXAMPLES.get(name);
	assert(example);
	const check = async (promise: string, holds: Show) => {
		setup.platform.forget();
		const devices = [...setup.platform.fleet.devices];
		await setup.checks.check(promise, async () => await holds({ ...setup, devices }));
	};
	for (const [promise, holds] of Object.entries(example.promises ?? {})) await check(promise, holds);
	const platforms = [setup.platform, setup.watched, ...setup.tenants.values()];
	const before = platforms.map(({ fleet }) => fleet);
	for (const [fleet] of hostileFleets()) {
		// Each platform has its own copy.
		for (const platform of platforms) platform.fleet = new Map(hostileFleets()).get(fleet) ?? platform.fleet;
		await check(`runs with ${fleet}`, example.anyFleet);
	}
	for (const [at, platform] of platforms.entries()) platform.fleet = before[at] ?? platform.fleet;
}

/** They have no mail address and no caller. */
async function unfilled({ main, checks }: Setup): Promise<void> {
	const missing = /Missing or invalid required parameters?: (fromEmail|url)|Missing required credential: http\w+Auth/;
	for (const [name, workflow] of await exampleWorkflows()) {
		const needed = workflow.nodes.filter(({ disabled }) => disabled !== true);
		const lacking = /emailSend|formTrigger|webhook|mcpTrigger|"url":""/;
		if (!needed.some(({ type, parameters: { url } }) => lacking.test(JSON.stringify({ type, url })))) continue;
		await checks.check(`n8n refuses to publish ${name} until it is filled in`, async () => {
			await assert.rejects(main.publish(await main.create({ ...workflow, id: newId() })), missing);
		});
	}
}

async function switchDevice({ main, platform: { fleet }, checks }: Setup): Promise<void> {
	await checks.check('switches a device off, and on again', async () => {
		const workflow = await exampleWorkflow('npm-start/switch-a-device-off');
		for (const status of [0, 1]) {
			await byHand(main, workflow);
			assert.equal(fleet.get('RT46643907')?.onlineStatus, status);
		}
	});
}
