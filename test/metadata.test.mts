import type { INodeParameters, INodeProperties } from 'n8n-workflow';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { DeviceManagementApi } from '../credentials/DeviceManagementApi.credentials.ts';
import { DeviceManagement } from '../nodes/DeviceManagement/DeviceManagement.node.ts';
import { DeviceManagementTrigger } from '../nodes/DeviceManagement/DeviceManagementTrigger.node.ts';
import { RESOURCES } from '../nodes/DeviceManagement/resources/index.ts';
import { workflow as n8n } from '../testbed/engine/host.cjs';
import { operationNames, operations } from '../testbed/operations.mts';
import { runAlone } from '../testbed/oneItem.mts';
import { everyField } from '../testbed/form.mts';

const node = new DeviceManagement();
const trigger = new DeviceManagementTrigger();
const { properties } = node.description;
// When to poll is n8n's own field.
const ofTrigger = trigger.description.properties.filter(({ name }) => name !== 'pollTimes');
const { properties: credential } = new DeviceManagementApi();

/** The fields of an operation. */
const propertiesOf = (resource: string, operation: string): INodeProperties[] =>
	properties.filter(
		({ displayOptions: { show = {} } = {} }) =>
			show['resource']?.[0] === resource && show['operation']?.[0] === operation,
	);

const everyOperation = Object.entries(RESOURCES).flatMap(([resource, { operations: own }]) =>
	Object.keys(own).map((operation) => ({ resource, operation })),
);

describe.each(everyOperation)('$resource $operation', ({ resource, operation }) => {
	test('has a file with its tests, and parameters that each suite runs', () => {
		expect(existsSync(join(__dirname, `resources/${resource}/${operation}.test.mts`))).toBe(true);
		expect(Object.values(operations)).toContainEqual(expect.objectContaining({ resource, operation }));
	});

	test('has a subtitle on the canvas that says what it does', () => {
		const subtitle = String(node.description.subtitle).replace(/^=\{\{(.*)\}\}$/, '$1');
		const said: unknown = new Function('$parameter', `return ${subtitle}`)({ resource, operation });
		const { name, operations: own } = RESOURCES[resource] ?? {};
		expect(said).toBe(Object.keys(own ?? {}).length === 1 ? name : `${name}: ${own?.[operation]?.name}`);
		expect(own?.[operation]?.action).toMatch(/^[A-Z][a-z]+ (?!.*\b(a|an|the)\b)[\w ]+$/);
	});
});

describe('the parameters that an operation reads', () => {
	/** Choices of the form that show other fields. */
	const STATES: INodeParameters[] = [
		{},
		{ output: 'selected' },
		{ returnAll: true, sort: {} },
		{ returnAll: true, path: '/api/device/list' },
		{ returnAll: false },
		{ method: 'POST', body: '{}' },
	];

	test.each(operationNames)('%s: those that its form shows, and no other', async (name) => {
		const { resource, operation } = operations[name];
		const own = new Set(propertiesOf(resource, operation).map((property) => property.name));
		const shown = new Set<string>();
		for (const state of STATES.filter((choice) => Object.keys(choice).every((field) => own.has(field)))) {
			const parameters = { ...operations[name], ...state };
			const { description } = node;
			const complete = n8n.NodeHelpers.getNodeParameters(properties, parameters, true, false, null, description);
			const visible = Object.keys(complete ?? {}).sort();
			expect([...(await parametersRead(parameters)), 'operation', 'resource'].sort()).toEqual(visible);
			for (const field of visible) shown.add(field);
		}
		expect([...shown].sort()).toEqual([...own, 'resource', 'operation'].sort());
	});

	async function parametersRead(parameters: INodeParameters): Promise<string[]> {
		const read = new Set<string>();
		// It reads all of them before it sends a request.
		await runAlone(
			parameters,
			() => Promise.reject(new Error()),
			(name) => read.add(name),
		).catch(() => {});
		return [...read].sort();
	}
});

describe('what n8n would lose', () => {
	test('the value of a field with choices that depends on another by its plain name, with each change', () => {
		const deleted = properties.filter(
			({ type, displayOptions }) =>
				['collection', 'fixedCollection', 'multiOptions'].includes(type) &&
				Object.keys(displayOptions?.show ?? {}).some((name) => !/^(\/.*|resource|operation)$/.test(name)),
		);
		expect(deleted).toEqual([]);
	});

	test('a locator’s list without its search', () => {
		for (const { description, methods } of [node, trigger]) {
			const named = everyField(description.properties).flatMap(({ property }) =>
				(property.modes ?? []).flatMap(({ typeOptions }) => typeOptions?.searchListMethod ?? []),
			);
			expect(Object.keys(methods.listSearch).sort()).toEqual([...new Set(named)].sort());
		}
	});

	test('the end of a locator’s mode, and all but the first value of one that depends on another field', () => {
		const locators = everyField([...properties, ...ofTrigger]).filter(({ property: { modes } }) => modes);
		expect(locators.length).toBeGreaterThan(5);
		for (const { path, property } of locators) {
			const cut = (property.modes ?? []).filter(({ displayName }) => displayName.length > 9);
			expect([path, cut, property.modes?.[0]?.displayName]).toEqual([path, [], 'From List']);
			expect([path, property.typeOptions?.loadOptionsDependsOn]).toEqual([path, undefined]);
		}
	});

	test('an event: n8n starts no execution if a regular expression of a form takes 250 ms, as on a busy machine', () => {
		expect(JSON.stringify([node.description, trigger.description, credential])).not.toContain('"regex"');
	});
});

test.each<[rule: string, keeps: (property: INodeProperties) => boolean]>([
	[
		// n8n's lint only knows choices that are written out.
		'five or more choices are in alphabetical order',
		({ options = [] }) => {
			const labels = options.map((option) => ('displayName' in option ? option.displayName : option.name));
			return labels.length < 5 || labels.join() === labels.sort((one, other) => one.localeCompare(other, 'en')).join();
		},
	],
	[
		'a number has limits, and its default is within them',
		({ type, typeOptions: { minValue = NaN, maxValue = NaN } = {}, default: value }) =>
			type !== 'number' || (minValue <= Number(value) && Number(value) <= maxValue),
	],
])('%s', (_rule, keeps) => {
	const places = everyField([...properties, ...ofTrigger, ...credential]);
	expect(places.filter(({ property }) => !keeps(property)).map(({ path }) => path)).toEqual([]);
});

describe('what a field depends on', () => {
	/** @param values what the form has @param root what the whole form has, for an option */
	const isShown = (field: INodeProperties | undefined, values: INodeParameters, root = values) => {
		if (field === undefined) throw new Error('There is no such field');
		return n8n.NodeHelpers.displayParameter(values, field, null, null, root);
	};

	test.each([true, false])("the options that need 'Return All' are shown with it, and only then: %s", (returnAll) => {
		const places = everyField([...propertiesOf('device', 'getAll'), ...propertiesOf('api', 'request')]);
		const options = places.filter(({ path }) => /^options\.(ifFleetChanges|pageSize)$/.test(path));
		const shown = options.map(({ property }) => isShown(property, {}, { returnAll }));
		expect(shown).toEqual([returnAll, true, returnAll, returnAll]);
	});

	test("the credential's notice is about an address that is not encrypted and not of this machine", () => {
		const encrypted = ['', 'https://devices.example.com'];
		const own = ['http://localhost', 'http://localhost:4070', 'http://127.0.0.1:4070/x', 'http://[::1]:80'];
		const others = ['http://localhost.example.com', 'HTTP://a.example', 'http://10.0.0.7/'];
		const notice = credential.find(({ name }) => name === 'plainHttpNotice');
		expect([...encrypted, ...own, ...others].filter((baseUrl) => isShown(notice, { baseUrl }))).toEqual(others);
	});
});
