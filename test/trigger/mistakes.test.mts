import type { IDataObject } from 'n8n-workflow';

import { useTrigger } from '../../testbed/trigger/watching.mts';

const { change, fleet, warnings, watch } = useTrigger();

const SAYS = 'The trigger "Watch" may never meet a condition.';
const HAVE = "in 'Online Status': the devices have 1 (250)";
const NOWHERE = 'The trigger "Watch" finds no device in the group "Nowhere"';
const below = (value: unknown) => ({ mode: 'below', value });
const ofBattery = (to: unknown): object => ({ field: 'attributes', attribute: 'battery', to });

it.each<[rule: object, logged: string[], settings?: IDataObject]>([
	[{ to: 'offline' }, [`${SAYS} No device has "offline" ${HAVE}`]],
	[{ to: below('0') }, [`${SAYS} No device has a number below "0" ${HAVE}`]],
	[{ to: '0' }, []],
	[{ from: '1', to: below('1') }, []],
	[ofBattery('low'), [`${SAYS} No device has "low" in the attribute "battery": the devices have 90 (249), 80 (1)`]],
	[ofBattery(below('20')), []],
	[
		{ field: 'status', to: '7' },
		[
			'The trigger "Watch" may never meet a condition. No device has "7" in \'Status\': the devices have A [ERROR] (250)',
		],
		{ events: ['statusChanged'], attributes: '' },
	],
	// Before it is reported, a state is not recorded.
	[{ to: '1' }, [], { forAtLeast: 15, options: { firstPoll: 'report' } }],
	// A device outside has no value.
	[{ to: '0' }, [], { filters: { group: fleet().at(0).group.name } }],
	// Without a device, there is no value to compare with. The group is missing also after a restart.
	[{ to: '7' }, [NOWHERE, NOWHERE], { filters: { group: 'Nowhere' } }],
])('the log says once if a condition can hardly come true: %j', async (rule, logged, settings = {}) => {
	for (const { sn } of fleet().devices)
		fleet().update(sn, Object({ onlineStatus: 1, status: 'A\n[ERROR]', attributes: { battery: 90 } }));
	change(9, Object({ attributes: { battery: '80' } }));
	const conditions = { rule: [{ field: 'onlineStatus', ...rule }] } as IDataObject;
	const events = ['attributeChanged', 'onlineStatusChanged'];
	const watching = await watch({ events, attributes: 'battery', conditions, ...settings });
	await watching.poll();
	await watching.restart();
	await watching.poll();
	expect(warnings()).toEqual(logged);
});
