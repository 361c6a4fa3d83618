import type { INodeParameters, INodeProperties, INodeType } from 'n8n-workflow';

import { DeviceManagementTrigger } from '../../nodes/DeviceManagement/DeviceManagementTrigger.node.ts';
import { workflow as n8n } from '../../testbed/engine/host.cjs';
import { Watch } from '../../testbed/watch.mts';
import { choices, everyField, isTwin } from '../../testbed/form.mts';
import { useTrigger } from '../../testbed/trigger/watching.mts';

const { bench } = useTrigger();

const node: INodeType = new DeviceManagementTrigger();
// n8n adds the poll times to the list later.
const properties = [...node.description.properties];

/** Whether the form shows a field for these parameters. */
const isShown = (property: INodeProperties, parameters: INodeParameters) =>
	n8n.NodeHelpers.displayParameter(parameters, property, null, node.description);

it('is a polling trigger, and the panel finds its events by their label', () => {
	const { description, execute, trigger } = node;
	expect(description).toMatchObject({
		...{ name: 'deviceManagementTrigger', displayName: 'Device Management Trigger', version: 1, group: ['trigger'] },
		...{ polling: true, inputs: [], credentials: [{ name: 'deviceManagementApi', required: true }] },
	});
	expect([description.usableAsTool, execute, trigger]).toEqual([undefined, undefined, undefined]);
	expect(properties[0]).toMatchObject({ name: 'events', displayName: 'Events', required: true });
});

it('every collection has a hidden twin, so that n8n drops nothing of it', () => {
	expect(properties.filter(isTwin).map(({ name }) => name)).toEqual(['conditions', 'attributes', 'filters', 'options']);
});

it("'Attributes' is shown with its event, and while it has keys: n8n's editor deletes what it hides", () => {
	const shown = (parameters: INodeParameters) =>
		properties.filter((one) => one.name === 'attributes' && !isTwin(one) && isShown(one, parameters)).length;
	const expected = [
		[['attributeChanged'], '', 1],
		[['attributeChanged'], 'a', 1],
		[['deviceCreated'], 'a', 1],
		[['deviceCreated'], '', 0],
		['={{ $json.events }}', 'a', 1],
	] as const;
	for (const [events, attributes, count] of expected) expect(shown(Object({ events, attributes }))).toBe(count);
	const given = { events: ['deviceCreated'], attributes: 'a' };
	expect(n8n.NodeHelpers.getNodeParameters(properties, given, true, false, null, null)).toMatchObject(given);
	const others = properties.filter(({ name, displayOptions }) => displayOptions && name !== 'attributes');
	expect(others).toMatchObject([{ name: 'fields', displayOptions: { show: { '/output': ['selected'] } } }]);
});

/** What a new condition has: the editor takes the last field of each name. */
const picked = { mode: 'list', value: '' };
it.each<[words: string, rule: INodeParameters, field: string, expected: string[]]>([
	['an old condition, as it was', { from: '1', to: '0' }, 'from', ['string']],
	['an old condition without the field', { to: '0' }, 'from', ['string']],
	['an old expression', { to: '={{ 0 }}' }, 'to', ['string']],
	['a new condition', { from: picked, to: picked }, 'to', ['resourceLocator']],
	['a new expression', { to: { __rl: true, mode: 'text', value: '={{ 0 }}' } }, 'to', ['resourceLocator']],
	['no attribute of another field', { field: 'status', attribute: picked }, 'attribute', []],
	['an old attribute', { field: 'attributes', attribute: 'a' }, 'attribute', ['string']],
	['a new attribute', { field: 'attributes', attribute: picked }, 'attribute', ['resourceLocator']],
])('the form shows %s', (_words, rule, name, expected) => {
	const fields = everyField(properties).filter(({ path }) => path === `conditions.rule.${name}`);
	const shown = fields.filter(({ property }) => n8n.NodeHelpers.displayParameter(rule, property, null, null));
	expect(shown.map(({ property: { type } }) => type)).toEqual(expected);
	expect(fields.at(-1)?.property.default).toEqual(picked);
});

/** The filter that the editor shows for a value, or adds: the first that is not hidden. */
it.each<[given: INodeParameters, onlineStatus: string | undefined, group: string]>([
	[{}, undefined, 'resourceLocator'],
	[{ onlineStatus: 0, group: 'A' }, 'number', 'string'],
	[{ onlineStatus: '={{ 0 }}', group: '={{ "A" }}' }, 'number', 'string'],
	[{ onlineStatus: picked, group: picked }, 'resourceLocator', 'resourceLocator'],
	[{ onlineStatus: { ...picked, __rl: true }, group: { ...picked, __rl: true } }, 'resourceLocator', 'resourceLocator'],
])(
	'filters of old workflows are shown as they were, and Online Status only where it is set: %j',
	(given, ...expected) => {
		const filters = everyField(properties).filter(({ path }) => /^filters\.\w+$/.test(path));
		const shown = filters.filter(({ property }) =>
			n8n.NodeHelpers.displayParameter(given, property, null, null, { filters: given }),
		);
		const typeOf = (name: string) => shown.find(({ path }) => path === `filters.${name}`)?.property.type;
		expect([typeOf('onlineStatus'), typeOf('group')]).toEqual(expected);
		const namesOf = (fields: typeof filters) => new Set(fields.map(({ path }) => path)).size;
		expect(namesOf(filters) - namesOf(shown)).toBe(expected[0] === undefined ? 1 : 0);
		const kept = n8n.NodeHelpers.getNodeParameters(properties, { filters: given }, true, false, null, null);
		expect(kept).toMatchObject({ filters: given });
	},
);

it('a hint says what the first poll does, also after a test', () => {
	const message = expect.stringMatching(/^The first poll only records the current state\. .*'First Poll'/);
	expect(node.description.hints).toEqual([{ message, location: 'outputPane', whenToDisplay: 'always' }]);
	expect(properties.filter(({ type }) => type === 'notice')).toEqual([]);
});

it('the nodes panel names two events in words that people search', () => {
	const events = choices(properties.find(({ name }) => name === 'events'));
	const actions = ['On SIM card (ICCID) change', 'On device going offline or online'];
	expect(events.flatMap(({ action }) => action ?? [])).toEqual(actions);
});

it.each<INodeParameters>([
	{ events: ['deviceRemoved', 'deviceUpdated'] },
	{ events: ['attributeChanged', 'onlineStatusChanged'], attributes: 'firmware', output: 'selected', fields: ['sn'] },
])('a poll reads all parameters that the form shows, and no other: %p', async (parameters) => {
	const poller = bench.engine.pollingNode(new Watch(bench, parameters).workflow());
	const reads = jest.spyOn(poller.context, 'getNodeParameter');
	await poller.poll();
	const complete = n8n.NodeHelpers.getNodeParameters(properties, parameters, true, false, null, node.description) ?? {};
	const visible = properties.filter((property) => isShown(property, complete));
	expect(new Set(reads.mock.calls.map(([name]) => name))).toEqual(new Set(visible.map(({ name }) => name)));
});

it('the subtitle on the canvas names the events as the form does', () => {
	const events = choices(properties.find(({ name }) => name === 'events'));
	const subtitle = String(node.description.subtitle).replace(/^=\{\{(.*)\}\}$/, '$1');
	const said = new Function('$parameter', `return ${subtitle}`)({ events: events.map(({ value }) => value) });
	expect(said).toBe(events.map(({ name }) => name).join(', '));
});
