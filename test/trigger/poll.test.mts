import type { IDataObject } from 'n8n-workflow';

import type { WorkflowJson } from '../../testbed/engine/engine.mts';
import { useBench } from '../../testbed/jest.mts';

const bench = useBench();

/** A workflow that begins with the trigger, under the name `Watch`. */
function triggerWorkflow(parameters: IDataObject): WorkflowJson {
	const { engine, apiKey } = bench;
	return {
		nodes: [
			{
				name: 'Watch',
				type: 'n8n-nodes-device-management.deviceManagementTrigger',
				parameters: parameters as WorkflowJson['nodes'][number]['parameters'],
				credentials: engine.credentialReference(apiKey),
			},
		],
		connections: {},
	};
}

/** Polls the same node again and again, as one activation does. */
function watch(parameters: IDataObject) {
	let staticData: IDataObject = {};
	return async () => {
		const polled = await bench.engine.poll(triggerWorkflow(parameters), { staticData });
		staticData = polled.staticData;
		return polled.items?.map(({ json }) => json) ?? null;
	};
}

it('takes a baseline at first, then reports each change once', async () => {
	const poll = watch({
		events: ['attributeChanged', 'deviceCreated', 'deviceRemoved', 'deviceUpdated', 'onlineStatusChanged', 'statusChanged'],
		attributes: 'firmware',
	});
	expect(await poll()).toBeNull();
	expect(await poll()).toBeNull();

	const online = bench.fleet.at(0);
	bench.fleet.update(online.sn, { onlineStatus: 7 });
	const edited = bench.fleet.at(1);
	bench.fleet.update(edited.sn, { updateTime: '2030-01-01 00:00:00', attributes: { firmware: '9.9.9' } });
	const { sn: removed, onlineStatus, status } = bench.fleet.at(2);
	bench.fleet.remove(removed);
	const created = bench.fleet.add();
	expect(await poll()).toMatchObject([
		{ event: 'deviceCreated', device: { sn: created.sn } },
		{ event: 'deviceUpdated', device: { sn: edited.sn } },
		{ event: 'onlineStatusChanged', field: 'onlineStatus', previous: online.onlineStatus, current: 7, device: { sn: online.sn } },
		{ event: 'attributeChanged', field: 'attributes.firmware', current: '9.9.9', device: { sn: edited.sn } },
	]);
	expect(await poll()).toMatchObject([{ event: 'deviceRemoved', device: { sn: removed, onlineStatus, status } }]);
	expect(await poll()).toBeNull();
});
