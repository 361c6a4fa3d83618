/** The examples that read devices for another step, or for who calls them. */
import assert from 'node:assert/strict';

import { CALLER, type ExampleWorkflow } from '../../testbed/n8n/examples.mts';
import type { Example } from './exampleSetup.mts';
import { byHand, faulty, newId, published, serialNumbers, simplified } from './runs.mts';

/** How many devices a part of a fleet has: few, so that there are many parts. */
const PART = 150;

export const LISTS: Readonly<Record<string, Example>> = {
	'devices-per-group': {
		anyFleet: async ({ main, workflow, devices }) => {
			const items = (await byHand(main, workflow))['Count per group']?.items ?? [];
			const counted = items.flatMap((item) => Array<unknown>(Number(item['count_id'])).fill(item['group_name'] ?? ''));
			assert.deepEqual(counted.sort(), devices.map((device) => simplified(device).groupName ?? '').sort());
		},
	},
	// Its executions read each device once, also one without a serial number.
	'read-in-parts': {
		anyFleet: async ({ main, platform: { settings }, workflow, devices }) => {
			const nameless = devices.at(-2)?.sn;
			const change = (device: Record<string, unknown>) =>
				device['sn'] === nameless ? { ...device, sn: undefined } : device;
			settings.changePage = ({ content, ...page }) => ({ ...page, content: content.map(change) });
			const limit = '"name":"limit","type":"number","value":';
			const text = JSON.stringify(workflow.nodes).replace(`${limit}1000`, `${limit}${PART}`);
			const nodes: ExampleWorkflow['nodes'] = JSON.parse(text);
			const id = await main.create({ ...workflow, nodes, id: newId() });
			const results = await main.execute(id, 'Start').finally(() => delete settings.changePage);
			const executions = await main.executions(id);
			const parts = await Promise.all(executions.map(async (execution) => await main.results(execution)));
			const read = parts.flatMap((part) => serialNumbers(part['Get this part']?.items ?? []));
			assert.deepEqual(read.sort(), serialNumbers(devices.filter(({ sn }) => sn !== nameless)).sort());
			assert.equal(results['All read']?.items[0]?.['read'], devices.length);
		},
	},
	'several-tenants': {
		anyFleet: async ({ main, tenants, workflow, devices }) => {
			const results = await byHand(main, workflow);
			for (const { apiKey } of tenants.values()) assert(!JSON.stringify(results).includes(apiKey), 'a key was saved');
			const all = [...tenants.keys()].flatMap((tenant) => devices.map((device) => ({ ...simplified(device), tenant })));
			assert.deepEqual(results['Name tenant']?.items ?? [], asJson(all));
		},
	},
	'serial-number-lookup': {
		anyFleet: async ({ main, platform, workflow, devices, callersSecret }) => {
			const ask = async (query: string) => {
				const headers = { [CALLER.header]: callersSecret };
				const answer = await main.request(`/webhook/device${query}`, { headers });
				return `${answer.status} ${await answer.text()}`;
			};
			await published(main, workflow.id, async () => {
				for (const device of devices.slice(0, 50)) {
					const [, status, json = ''] = /^(\d+) (.*)$/s.exec(await ask(`?sn=${encodeURIComponent(device.sn)}`)) ?? [];
					assert.deepEqual([status, JSON.parse(json)], ['200', asJson(simplified(device))]);
				}
				assert.match(await ask('?sn=RT00000000'), /^404 .*"No device has the serial number RT00000000"/);
				assert.match(await ask(''), /^400 .*'Device'/);
				for (const query of ['?sn=RT1&sn=RT2', '?sn[a]=RT1']) assert.match(await ask(query), /^400 /);
				assert.match(await faulty(platform, async () => await ask('?sn=007')), /^502 .*code 10005/);
			});
		},
	},
};

/** As n8n saves it. */
function asJson(value: unknown): unknown {
	return JSON.parse(JSON.stringify(value));
}
