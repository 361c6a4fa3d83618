/** Every workflow of `examples/` in a real n8n: published and called by its own trigger, or run by hand where that is its trigger. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import pWaitFor from 'p-wait-for';

import { FormData } from 'undici';

import { type ExampleWorkflow, exampleWorkflows } from '../../testbed/n8n/examples.mts';
import type { Main } from '../../testbed/n8n/main.mts';
import { type NodeResults, resultOf } from '../../testbed/n8n/results.mts';
import type { Device } from '../../testbed/platform/server.mts';
import { agentChat, agentTools } from './agent.mts';
import type { ExampleSetup as ExampleGround } from './exampleSetup.mts';
import { inPartsOf150, oldestFirst, partsOf, serialNumbers } from './parts.mts';

export async function examples(ground: ExampleGround): Promise<void> {
	const workflows = await exampleWorkflows();
	for (const [name, workflow] of workflows) {
		await ground.checks.part(`Example ${name}.json`, async () => {
			const run = runs[name];
			assert(run, 'no run of it is written down in test/e2e/examples.mts');
			ground.platform.forget();
			await run(ground, workflow);
		});
	}
}

type Run = (ground: ExampleGround, workflow: ExampleWorkflow) => Promise<void>;

const runs: Readonly<Record<string, Run>> = {
	'agent-chat': agentChat,
	'agent-tools': agentTools,
	'check-serial-numbers': checkSerialNumbers,
	'fleet-table': fleetTable,
	'list-devices': listDevices,
	'nightly-inventory': nightlyInventory,
	'offline-devices': offlineDevices,
	'other-endpoint': otherEndpoint,
	'parts-over-workers': partsOverWorkers,
	'read-device': readDevice,
	'read-in-parts': readInParts,
	'serial-number-lookup': serialNumberLookup,
	'several-tenants': severalTenants,
	'watch-fleet': watchFleet,
};

async function listDevices(ground: ExampleGround, workflow: ExampleWorkflow): Promise<void> {
	const results = await byHand(ground, workflow);
	ground.checks.check('lists the devices it promises, newest first', () => {
		const inHamburg = devicesOf(ground).filter(
			({ status, attributes }) => status === 2 && attributes['site'] === 'Hamburg',
		);
		assert(inHamburg.length > 1);
		assert.deepEqual(
			serialNumbers(resultOf(results, 'Get many devices').items),
			serialNumbers(inHamburg.sort(newestFirst)),
		);
	});
}

async function readDevice(ground: ExampleGround, workflow: ExampleWorkflow): Promise<void> {
	const results = await byHand(ground, workflow);
	ground.checks.check('reads its device', () => {
		const [device] = resultOf(results, 'Get a device').items;
		assert.deepEqual(
			device,
			devicesOf(ground).find(({ sn }) => sn === device?.['sn']),
		);
	});
	ground.checks.check('uses the token that n8n saved with the credential in an earlier execution', () => {
		assert.equal(ground.platform.logins.attempted, 0);
	});
}

async function watchFleet(ground: ExampleGround, workflow: ExampleWorkflow): Promise<void> {
	const results = await onSchedule(ground, workflow);
	ground.checks.check('counts the devices and takes the branch for many', () => {
		const count = devicesOf(ground).filter(({ status }) => status === 3).length;
		assert(count > 20);
		assert.deepEqual(resultOf(results, 'Tell someone').items, [{ count }]);
		assert.equal(results['All quiet'], undefined);
	});
}

async function offlineDevices(ground: ExampleGround, workflow: ExampleWorkflow): Promise<void> {
	const { checks, main, platform } = ground;
	// Nobody waits a quarter of an hour here.
	const nodes = JSON.stringify(workflow.nodes).replace('"forAtLeast":15', '"forAtLeast":0');
	assert.notEqual(nodes, JSON.stringify(workflow.nodes));
	const id = await main.create({ ...workflow, nodes: JSON.parse(nodes), id: `soon${randomBytes(6).toString('hex')}` });
	await main.publish(id);
	const offline = devicesOf(ground)
		.filter(({ onlineStatus }) => onlineStatus === 1)
		.slice(0, 2);
	for (const { sn } of offline) platform.fleet.update(sn, { onlineStatus: 0 });
	const results = await newestOf(main, id);
	await main.unpublish(id);
	for (const { sn } of offline) platform.fleet.update(sn, { onlineStatus: 1 });
	checks.check('tells of all devices that went offline in one message', () => {
		const names = offline.map(({ sn, group }) => `${sn} (${group.name})`).join(', ');
		assert.deepEqual(resultOf(results, 'Tell someone').items, [
			{ message: `2 devices have been offline for 15 minutes: ${names}` },
		]);
	});
}

async function serialNumberLookup(ground: ExampleGround, workflow: ExampleWorkflow): Promise<void> {
	const { checks, main, platform } = ground;
	const device = devicesOf(ground)[417];
	assert(device);
	const ask = async (query: string) => {
		const answer = await main.request(`/webhook/device${query}`);
		return { status: answer.status, body: await answer.json() };
	};
	await main.publish(workflow.id);
	const [found, unknown, none] = [await ask(`?sn=${device.sn}`), await ask('?sn=RT-00000000'), await ask('')];
	platform.settings.fault = () => ({ code: 10005 });
	const unavailable = await ask(`?sn=${device.sn}`);
	platform.settings.fault = undefined;
	await main.unpublish(workflow.id);
	checks.check('answers with the device', () => {
		assert.deepEqual(found, { status: 200, body: simplified(device) });
	});
	checks.check('answers an unknown serial number with 404', () => {
		assert.deepEqual(unknown, { status: 404, body: { error: 'No device has the serial number RT-00000000' } });
	});
	checks.check('answers 400 without a serial number, and 502 when the platform refuses, both with the reason', () => {
		assert.equal(none.status, 400);
		assert.match(JSON.stringify(none.body), /'Device'/);
		assert.equal(unavailable.status, 502);
		assert.match(JSON.stringify(unavailable.body), /could not/);
	});
}

async function nightlyInventory(ground: ExampleGround, workflow: ExampleWorkflow): Promise<void> {
	const results = await onSchedule(ground, workflow);
	resultOf(results, 'Write file');
	const { checks, n8n } = ground;
	const files = (await readdir(n8n.files)).filter((file) => file.endsWith('.csv'));
	const lines = (await readFile(join(n8n.files, files[0] ?? ''), 'utf8')).trim().split('\n');
	checks.check('writes one file, named by the day', () => {
		assert.equal(files.length, 1);
		assert.match(files[0] ?? '', /^fleet-\d{4}-\d{2}-\d{2}\.csv$/);
	});
	checks.check('a line for each device of the fleet, by serial number, below the names of the columns', () => {
		const sorted = serialNumbers(devicesOf(ground)).sort();
		assert.match(
			lines[0] ?? '',
			/^id,sn,onlineStatus,status,modelName,groupName,tags,description,createTime,updateTime\r?$/,
		);
		assert.deepEqual(
			lines.slice(1).map((line) => line.split(',')[1]),
			sorted,
		);
	});
}

async function fleetTable(ground: ExampleGround, workflow: ExampleWorkflow): Promise<void> {
	const { checks, platform } = ground;
	const branches = async () => {
		const results = await onSchedule(ground, workflow);
		const branch = (name: string) => serialNumbers((results[name] && resultOf(results, name).items) ?? []).sort();
		const [added, unchanged, updated, deleted] = ['Add new', 'Unchanged', 'Update changed', 'Delete gone'].map(branch);
		return { added, unchanged, updated, deleted };
	};
	const atFirst = serialNumbers(devicesOf(ground)).sort();
	const first = await branches();
	checks.check('adds the whole fleet at first', () => {
		assert.deepEqual(first, { added: atFirst, unchanged: [], updated: [], deleted: [] });
	});

	const { fleet } = platform;
	const added = [fleet.add(), fleet.add()].map(({ sn }) => sn).sort();
	const updated = [
		fleet.update(fleet.at(10).sn, { status: 4 }),
		fleet.update(fleet.at(20).sn, { description: 'Moved' }),
	]
		.map(({ sn }) => sn)
		.sort();
	const deleted = [fleet.at(30).sn, fleet.at(40).sn, fleet.at(50).sn].map((sn) => fleet.remove(sn).sn).sort();
	const changed = new Set([...updated, ...deleted]);
	const second = await branches();
	checks.check('then new, changed and gone devices, each in its own branch', () => {
		assert.deepEqual(second, { added, unchanged: atFirst.filter((sn) => !changed.has(sn)), updated, deleted });
	});
	const third = await branches();
	checks.check('and the table is as the fleet is afterwards', () => {
		const now = serialNumbers(devicesOf(ground)).sort();
		assert.deepEqual(third, { added: [], unchanged: now, updated: [], deleted: [] });
	});
}

async function checkSerialNumbers(ground: ExampleGround, workflow: ExampleWorkflow): Promise<void> {
	const { checks, main } = ground;
	const known = devicesOf(ground).slice(100, 103);
	const rows = ['Serial Number,Shelf', ...known.map(({ sn }, shelf) => `${sn},${shelf}`), '00001234,7', ',8'];
	await main.publish(workflow.id);
	const form = new FormData();
	form.set('field-0', new Blob([rows.join('\n')], { type: 'text/csv' }), 'stock.csv');
	const answer = await main.request(`/form/${webhookIdOf(workflow)}`, { method: 'POST', body: form });
	const results = await newestOf(main, workflow.id);
	await main.unpublish(workflow.id);
	checks.check('the form takes a spreadsheet', () => assert.equal(answer.status, 200));
	checks.check('what was found', () => {
		const [file] = resultOf(results, 'Found').outputs[0] ?? [];
		assert.deepEqual(resultOf(results, 'Get device').items, known.map(simplified));
		assert.equal(file?.binary?.['data']?.fileName, 'found.csv');
	});
	checks.check('what was not, as it stood in the spreadsheet, with the reason', () => {
		const [file] = resultOf(results, 'Not found').outputs[0] ?? [];
		const [unknown, empty] = resultOf(results, 'Row and reason').items;
		assert.deepEqual(unknown, {
			'Serial Number': '00001234',
			Shelf: '7',
			Reason: 'The record does not exist (code 10007: device 00001234 non-existent) [item 3]',
		});
		assert.match(String(empty?.['Reason']), /'Device'/);
		assert.equal(file?.binary?.['data']?.fileName, 'not-found.csv');
	});
}

async function severalTenants(ground: ExampleGround, workflow: ExampleWorkflow): Promise<void> {
	const results = await byHand(ground, workflow);
	ground.checks.check('lists the devices of each tenant, each on its own platform with its own key', () => {
		const expected = [...ground.tenants].flatMap(([tenant, { fleet }]) =>
			fleet.devices.map(({ sn }) => ({ tenant, sn })),
		);
		const found = resultOf(results, 'Name tenant').items.map(({ tenant, sn }) => ({ tenant, sn }));
		assert.deepEqual(found, expected);
	});
	ground.checks.check('no key of a tenant is in the data of the execution', () => {
		const text = JSON.stringify(results);
		for (const { apiKey } of ground.tenants.values()) assert(!text.includes(apiKey));
	});
}

async function otherEndpoint(ground: ExampleGround, workflow: ExampleWorkflow): Promise<void> {
	const results = await byHand(ground, workflow);
	ground.checks.check('lists the models, and counts the devices of each', () => {
		const { models } = ground.platform.fleet;
		const counts = models.map(({ name }) => ({
			model: name,
			devices: devicesOf(ground).filter(({ model }) => model.name === name).length,
		}));
		assert.deepEqual(resultOf(results, 'Name model').items, counts);
	});
}

async function readInParts(ground: ExampleGround, workflow: ExampleWorkflow): Promise<void> {
	const { checks, main, platform } = ground;
	const id = await main.create(inPartsOf150(workflow));
	const results = await main.execute(id, 'Start');
	const parts = await partsOf(main, id);
	checks.check('reads every device once, part by part, the oldest first', () => {
		const { size } = platform.fleet;
		assert.deepEqual(resultOf(results, 'All read').items, [{ read: size }]);
		assert.equal(parts.length, Math.floor(size / 150) + 1);
		assert.deepEqual(parts.flat(), serialNumbers(devicesOf(ground).sort(oldestFirst)));
	});
}

async function partsOverWorkers(ground: ExampleGround, workflow: ExampleWorkflow): Promise<void> {
	const { checks, main, platform } = ground;
	const id = await main.create(inPartsOf150(workflow));
	await main.publish(id);
	const results = await main.execute(id, 'Start');
	const parts = await partsOf(main, id);
	await main.unpublish(id);
	checks.check('reads every device once, each part in an execution of its own', () => {
		const { size } = platform.fleet;
		assert.deepEqual(resultOf(results, 'Add up').items, [{ counted: size, read: size }]);
		assert.equal(parts.length, Math.ceil(size / 150));
		assert.deepEqual(parts.flat(), serialNumbers(devicesOf(ground).sort(oldestFirst)));
	});
}

/** Runs a workflow as a click does, from its first node. */
async function byHand({ main }: ExampleGround, workflow: ExampleWorkflow): Promise<NodeResults> {
	return await main.execute(workflow.id, workflow.nodes[0]?.name ?? '');
}

/** Publishes a copy that is due within the next minute, and waits until it has run once. */
async function onSchedule({ main }: ExampleGround, workflow: ExampleWorkflow): Promise<NodeResults> {
	const soon = new Date(Date.now() + 4000).getUTCSeconds();
	const rule = { interval: [{ field: 'cronExpression', expression: `${soon} * * * * *` }] };
	const nodes = workflow.nodes.map((node) =>
		node.type === 'n8n-nodes-base.scheduleTrigger' ? { ...node, parameters: { rule } } : node,
	);
	const id = await main.create({ ...workflow, nodes, id: `due${randomBytes(6).toString('hex')}` });
	await main.publish(id);
	try {
		return await newestOf(main, id);
	} finally {
		await main.unpublish(id);
	}
}

/** What the newest execution of a workflow gave, once there is one. */
async function newestOf(main: Main, workflowId: string): Promise<NodeResults> {
	const newest = async () => {
		const [id] = await main.executions(workflowId);
		return id !== undefined && pWaitFor.resolveWith(id);
	};
	return await main.results(await pWaitFor(newest, { interval: 200, timeout: 90_000 }));
}

function devicesOf({ platform }: ExampleGround): Device[] {
	return [...platform.fleet.devices];
}

function simplified({ id, sn, onlineStatus, status, model, group, tags, description, createTime, updateTime }: Device) {
	const names = { modelName: model.name, groupName: group.name };
	return { id, sn, onlineStatus, status, ...names, tags, description, createTime, updateTime };
}

function newestFirst(a: Device, b: Device): number {
	if (a.createTime !== b.createTime) return a.createTime < b.createTime ? 1 : -1;
	return a.sn < b.sn ? -1 : 1;
}

function webhookIdOf({ nodes }: ExampleWorkflow): unknown {
	return nodes.find(({ webhookId }) => webhookId !== undefined)?.['webhookId'];
}
