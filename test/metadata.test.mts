import type { IExecuteFunctions, INodeParameters, INodeProperties, INodeType } from 'n8n-workflow';

import { OPERATIONS } from '../nodes/DeviceManagement/resources/router.ts';
import { workflow as n8n } from '../testbed/engine/host.cjs';
import { nodeType } from '../testbed/deviceWorkflow.mts';
import { useBench } from '../testbed/jest.mts';
import { outputOf } from '../testbed/output.mts';
import { triggerType } from '../testbed/watch.mts';
import { choices, everyField, FILTER_FIELDS, isTwin, withoutTwins } from './form.mts';

const bench = useBench();
let node: INodeType;
let properties: INodeProperties[];
let credentialProperties: INodeProperties[];
beforeEach(() => {
	node = bench.engine.packages.getByNameAndVersion(nodeType, 1);
	({ properties } = node.description);
	// n8n itself adds two fields that limit the domains a credential may be used for.
	credentialProperties = bench.engine.packages
		.getCredentialType('deviceManagementApi')
		.properties.filter(({ name }) => !/^allowed\w*Domains$/i.test(name));
});

const propertiesOf = (resource: string, operation: string): INodeProperties[] =>
	properties.filter(({ displayOptions }) => {
		const { resource: resources, operation: operations } = displayOptions?.show ?? {};
		return resources?.includes(resource) === true && operations?.includes(operation) === true;
	});

/** Resource and operation as the form offers them. */
const offered = (): Array<readonly [string, string]> =>
	choices(properties.find(({ name }) => name === 'resource')).flatMap(({ value: resource }) =>
		properties
			.filter(({ name, displayOptions }) => name === 'operation' && displayOptions?.show?.['resource']?.includes(resource) === true)
			.flatMap((property) => choices(property).map(({ value }) => [String(resource), String(value)] as const)),
	);

describe('operations', () => {
	it('every one the form offers has a handler, and every handler is offered', () => {
		const handled = Object.entries(OPERATIONS).flatMap(([resource, operations]) =>
			Object.keys(operations).map((operation) => [resource, operation]),
		);
		expect(offered().map((pair) => [...pair]).sort()).toEqual(handled.sort());
	});

	it('the subtitle on the canvas names each one as the form does', () => {
		const subtitle = String(node.description.subtitle).replace(/^=\{\{(.*)\}\}$/, '$1');
		const named = properties
			.filter(({ name }) => name === 'operation')
			.flatMap((property) => choices(property))
			.map(({ name, value }) => [new Function('$parameter', `return ${subtitle}`)({ operation: value }), name]);
		for (const [said, name] of named) expect(said).toContain(name);
	});

	/** Choices of the form that show other fields, for each operation. */
	const STATES: Record<string, INodeParameters[]> = {
		get: [{}, { output: 'selected' }],
		getAll: [{}, { returnAll: true, output: 'selected' }],
		count: [{}],
		request: [{}, { method: 'POST' }],
	};
	const REQUIRED: INodeParameters = { device: { __rl: true, mode: 'sn', value: 'RT99046419' }, path: '/api/echo' };

	it('there is a test for every operation', () => {
		expect(Object.keys(STATES).sort()).toEqual(offered().map(([, operation]) => operation).sort());
	});

	it.each(Object.entries(STATES))('%s reads no parameter that its form does not show, and all that it shows', async (operation, states) => {
		const [resource] = offered().find(([, name]) => name === operation) ?? [];
		const read = new Set<string>();
		const { execute } = node;
		if (execute === undefined || resource === undefined) throw new Error('The node has nothing to execute');
		node.execute = async function (this: IExecuteFunctions) {
			const watched = new Proxy(this, {
				get(context, name) {
					if (name !== 'getNodeParameter') return Reflect.get(context, name);
					return (parameter: string, ...rest: [number]) => {
						read.add(parameter);
						return context.getNodeParameter(parameter, ...rest);
					};
				},
			});
			return await execute.call(watched);
		};
		const shown = new Set<string>();
		try {
			for (const state of states) {
				read.clear();
				const parameters = { resource, operation, ...REQUIRED, ...state };
				outputOf(await bench.run(parameters));
				const complete = n8n.NodeHelpers.getNodeParameters(properties, parameters, true, false, null, node.description) ?? {};
				const visible = properties
					.filter((property) => n8n.NodeHelpers.displayParameter(complete, property, null, node.description))
					.filter(({ type }) => type !== 'notice')
					.map(({ name }) => name);
				for (const name of visible) shown.add(name);
				expect([...read].sort()).toEqual([...new Set(visible)].sort());
			}
		} finally {
			node.execute = execute;
		}
		expect([...shown].sort()).toEqual([...new Set([...propertiesOf(resource, operation).map(({ name }) => name), 'resource', 'operation'])].sort());
	});

	it('every collection has its hidden twin right behind it, shown where it is shown', () => {
		const collections = properties.filter(({ type }) => type === 'collection' || type === 'fixedCollection');
		expect(collections.length).toBeGreaterThanOrEqual(8);
		for (const { displayName, name, displayOptions, default: value } of collections) {
			const twins = properties.filter((property) => isTwin(property) && property.name === name && property.displayOptions?.show?.['operation']?.[0] === displayOptions?.show?.['operation']?.[0]);
			expect(twins).toEqual([{ displayName, name, type: 'hidden', default: value, displayOptions }]);
		}
		expect(properties.filter(isTwin)).toHaveLength(collections.length);
	});

	it('every search of a locator’s list exists, and no other', () => {
		const named = everyField(properties).flatMap(({ property }) =>
			(property.modes ?? []).flatMap(({ typeOptions }) => typeOptions?.searchListMethod ?? []),
		);
		expect(new Set(Object.keys(node.methods?.listSearch ?? {}))).toEqual(new Set(named));
		expect(named.length).toBeGreaterThan(0);
	});
});

describe('the names that saved workflows hold', () => {
	it('node, version and credential', () => {
		expect(node.description).toMatchObject({
			name: 'deviceManagement',
			displayName: 'Device Management',
			version: 1,
			credentials: [{ name: 'deviceManagementApi', required: true }],
		});
		expect(offered()).toEqual([
			['api', 'request'],
			['device', 'count'],
			['device', 'get'],
			['device', 'getAll'],
		]);
	});

	const OUTPUT = [
		['fields', 'multiOptions', ['sn', 'onlineStatus', 'status']],
		['output', 'options', 'simplified'],
	] as const;
	const OPTIONS = [
		['options', 'collection', {}],
		['options.maxRetries', 'number', 3],
		['options.parallelRequests', 'number', 8],
		['options.timeout', 'number', 60_000],
	] as const;

	it.each([
		{
			operation: 'get',
			resource: 'device',
			fields: [
				['device', 'resourceLocator', { mode: 'sn', value: '' }],
				...OUTPUT,
				...OPTIONS,
				['options.ifNotFound', 'options', 'error'],
			],
		},
		{
			operation: 'getAll',
			resource: 'device',
			fields: [
				...FILTER_FIELDS,
				['limit', 'number', 50],
				...OUTPUT,
				...OPTIONS,
				['options.pageSize', 'number', 1000],
				['options.skip', 'number', 0],
				['returnAll', 'boolean', false],
				['sort', 'fixedCollection', {}],
				['sort.rule.attribute', 'string', ''],
				['sort.rule.direction', 'options', 'desc'],
				['sort.rule.field', 'options', 'createTime'],
			],
		},
		{ operation: 'count', resource: 'device', fields: [...FILTER_FIELDS, ...OPTIONS] },
		{
			operation: 'request',
			resource: 'api',
			fields: [
				['body', 'json', ''],
				['method', 'options', 'GET'],
				...OPTIONS,
				['path', 'string', ''],
				['query', 'fixedCollection', {}],
				['query.parameter.name', 'string', ''],
				['query.parameter.value', 'string', ''],
			],
		},
	])('the fields of $operation', ({ resource, operation, fields }) => {
		const found = everyField(withoutTwins(propertiesOf(resource, operation))).map(({ path, property }) => [path, property.type, property.default]);
		const byPath = (one: unknown[], other: unknown[]) => (String(one[0]) < String(other[0]) ? -1 : 1);
		expect(found.sort(byPath)).toEqual(fields.map((field) => [...field]).sort(byPath));
	});

	const DEVICE_FIELDS = [
		'attributes', 'createTime', 'creator', 'description', 'group', 'iccid', 'iccidOverwrite', 'id', 'imei', 'model',
		'onlineStatus', 'sensorOverwrite', 'sensorSn', 'sn', 'status', 'tags', 'updateTime', 'updator',
	];
	it.each([
		['resource', ['api', 'device']],
		['output', ['raw', 'selected', 'simplified']],
		['fields', DEVICE_FIELDS],
		['sort.rule.field', [...DEVICE_FIELDS, 'custom'].sort()],
		['sort.rule.direction', ['asc', 'desc']],
		['options.ifNotFound', ['empty', 'error']],
		['method', ['DELETE', 'GET', 'PATCH', 'POST', 'PUT']],
	])('the choices of %s', (path, values) => {
		const found = everyField(properties).filter((place) => place.path === path);
		expect(found.length).toBeGreaterThan(0);
		for (const { property } of found) expect(choices(property).map(({ value }) => value).sort()).toEqual(values);
	});

	it('the modes of the device locator', () => {
		const locator = properties.find(({ name }) => name === 'device');
		expect(locator?.modes?.map(({ name }) => name)).toEqual(['list', 'sn']);
	});

	it('the fields of the credential', () => {
		const table = credentialProperties
			.filter(({ type }) => type !== 'notice')
			.map(({ name, type, typeOptions, default: value, displayOptions }) => [
				name,
				type === 'string' && typeOptions?.password === true ? 'password' : type,
				value,
				displayOptions?.show?.['authentication']?.join() ?? 'always',
			]);
		expect(table).toEqual([
			['baseUrl', 'string', '', 'always'],
			['authentication', 'options', 'apiKey', 'always'],
			['apiKey', 'password', '', 'apiKey'],
			['apiKeyIn', 'options', 'header', 'apiKey'],
			['apiKeyName', 'string', 'Authorization', 'apiKey'],
			['apiKeyPrefix', 'string', 'ApiKey', 'apiKey'],
			['loginName', 'string', '', 'login'],
			['password', 'password', '', 'login'],
			['passwordFormat', 'options', 'plain', 'login'],
			['loginPath', 'string', '/api/user/login', 'login'],
			['tokenPath', 'string', '', 'login'],
			['allowUnauthorizedCerts', 'boolean', false, 'always'],
			['sessionToken', 'hidden', '', 'always'],
			['sessionOwner', 'hidden', '', 'always'],
		]);
		const field = (name: string) => credentialProperties.find((property) => property.name === name);
		expect(field('baseUrl')?.required).toBe(true);
		expect(field('sessionToken')?.typeOptions?.expirable).toBe(true);
		expect(choices(field('authentication')).map(({ value }) => value)).toEqual(['apiKey', 'login']);
		expect(choices(field('apiKeyIn')).map(({ value }) => value)).toEqual(['header', 'query']);
		expect(choices(field('passwordFormat')).map(({ value }) => value)).toEqual(['plain', 'md5']);
	});
});

describe('how the form reads', () => {
	// When to poll is n8n's own field.
	const trigger = () => bench.engine.packages.getByNameAndVersion(triggerType, 1).description.properties.filter(({ name }) => name !== 'pollTimes');
	const places = () => [...everyField(properties), ...everyField(trigger()), ...everyField(credentialProperties)].filter(({ property }) => property.type !== 'hidden');
	const SMALL_WORDS = new Set(['a', 'an', 'and', 'by', 'for', 'in', 'of', 'on', 'or', 'the', 'to']);
	const isTitle = (text: string) =>
		text.split(/[\s-]+/).every((word, position) => /^[^a-z]/.test(word.replace(/^\(/, '')) || (position > 0 && SMALL_WORDS.has(word)));

	it('labels are in Title Case', () => {
		const labels = places().flatMap(({ property }) => [
			...(property.type === 'notice' ? [] : [property.displayName]),
			...(property.options ?? []).map((option) => ('displayName' in option ? option.displayName : option.name)),
			...(property.modes ?? []).map(({ displayName }) => displayName),
		]);
		expect(labels.length).toBeGreaterThan(50);
		expect(labels.filter((label) => !isTitle(label))).toEqual([]);
	});

	it('five or more choices are in alphabetical order', () => {
		const lists = places()
			.filter(({ property }) => property.type !== 'fixedCollection' && (property.options ?? []).length >= 5)
			.map(({ property }) => (property.options ?? []).map((option) => ('displayName' in option ? option.displayName : option.name)));
		expect(lists.length).toBeGreaterThanOrEqual(4);
		for (const list of lists) expect(list).toEqual([...list].sort((one, other) => one.localeCompare(other, 'en')));
	});

	it('what a yes or no means begins with “Whether”', () => {
		const booleans = places().filter(({ property }) => property.type === 'boolean');
		expect(booleans.length).toBeGreaterThanOrEqual(2);
		for (const { property } of booleans) expect(property.description).toMatch(/^Whether /);
	});

	it('an example in an empty field begins with “e.g.”', () => {
		const examples = places()
			.filter(({ property }) => !['collection', 'fixedCollection'].includes(property.type))
			.flatMap(({ property }) => [property.placeholder, ...(property.modes ?? []).filter(({ type }) => type !== 'list').map(({ placeholder }) => placeholder)])
			.filter((placeholder) => placeholder !== undefined && placeholder !== '');
		expect(examples.length).toBeGreaterThanOrEqual(8);
		for (const example of examples) expect(example).toMatch(/^e\.g\. \S/);
	});

	it('every field says what it is for, where its label and choices do not', () => {
		const silent = places().filter(
			({ property }) =>
				!['notice', 'resourceLocator'].includes(property.type) &&
				!['authentication', 'operation', 'options', 'query', 'resource'].includes(property.name) &&
				(property.description ?? '') === '',
		);
		expect(silent.map(({ path }) => path)).toEqual([]);
	});

	it('an operation’s action is a sentence without articles that begins like its name', () => {
		const operations = properties.filter(({ name }) => name === 'operation').flatMap(choices);
		expect(operations).toHaveLength(4);
		for (const { action } of operations) {
			expect(action).toMatch(/^[A-Z][a-z]+ [\w ]+$/);
			expect(action).not.toMatch(/\b(a|an|the)\b/);
		}
	});

	it('limits shown in the form are those the values are checked against', () => {
		for (const { property } of places().filter(({ path }) => /^options\.(forAtLeast|pageSize|parallelRequests|skip|timeout|maxRetries)$/.test(path))) {
			expect(property.typeOptions).toEqual({ minValue: expect.any(Number), maxValue: expect.any(Number) });
			expect(property.default).toBeGreaterThanOrEqual(property.typeOptions?.minValue ?? NaN);
			expect(property.default).toBeLessThanOrEqual(property.typeOptions?.maxValue ?? NaN);
		}
	});
});

describe("the credential's notice about an address that is not encrypted", () => {
	const isShown = (baseUrl: string) => {
		const notice = credentialProperties.find(({ name }) => name === 'plainHttpNotice');
		if (notice === undefined) throw new Error('There is no such notice');
		return n8n.NodeHelpers.displayParameter({ baseUrl }, notice, null, null);
	};

	it.each(['http://devices.example.com', 'HTTP://devices.example.com', 'http://localhost.example.com', 'http://10.0.0.7:8080/'])(
		'is shown for %s',
		(baseUrl) => expect(isShown(baseUrl)).toBe(true),
	);

	it.each(['', 'https://devices.example.com', 'http://localhost', 'http://localhost:4070', 'http://127.0.0.1:4070/x', 'http://[::1]:80'])(
		'is not shown for "%s"',
		(baseUrl) => expect(isShown(baseUrl)).toBe(false),
	);

	it('needs no pattern, which n8n gives too little time on a busy machine', () => {
		expect(JSON.stringify([credentialProperties, properties])).not.toContain('"regex"');
	});
});
