import { existsSync } from 'node:fs';
import { join } from 'node:path';

import type { IExecuteFunctions, INodeParameters, INodeProperties, INodeType } from 'n8n-workflow';

import { RESOURCES } from '../nodes/DeviceManagement/resources/index.ts';
import { workflow as n8n } from '../testbed/engine/host.cjs';
import { nodeType } from '../testbed/deviceWorkflow.mts';
import { useBench } from '../testbed/jest.mts';
import { operationNames, operations, serialNumberItems } from '../testbed/operations.mts';
import { outputOf } from '../testbed/output.mts';
import { triggerType } from '../testbed/watch.mts';
import {
	byPath,
	choices,
	choicesIn,
	DEVICE_FIELDS,
	everyField,
	FILTER_FIELDS,
	isTwin,
	namesIn,
	OUTPUT_MODES,
	withoutTwins,
} from './form.mts';

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

/** The fields of an operation; without one, the list of a resource's operations. */
const propertiesOf = (resource: string, operation?: string): INodeProperties[] =>
	properties.filter(({ displayOptions }) => {
		const { resource: resources, operation: shownFor } = displayOptions?.show ?? {};
		return resources?.includes(resource) === true && shownFor?.[0] === operation;
	});

/** Resource and operation as the form offers them. */
const offered = (): Array<readonly [string, string]> =>
	choices(properties.find(({ name }) => name === 'resource')).flatMap(({ value: resource }) =>
		properties
			.filter(
				({ name, displayOptions }) =>
					name === 'operation' && displayOptions?.show?.['resource']?.includes(resource) === true,
			)
			.flatMap((property) => choices(property).map(({ value }) => [String(resource), String(value)] as const)),
	);

const everyOperation = Object.entries(RESOURCES).flatMap(([resource, { operations: own }]) =>
	Object.keys(own).map((operation) => ({ resource, operation })),
);

describe('operations', () => {
	it('the form offers every one, and no other', () => {
		const inOrder = (pairs: ReadonlyArray<readonly unknown[]>) => pairs.map(String).sort();
		expect(inOrder(offered())).toEqual(inOrder(everyOperation.map(({ resource, operation }) => [resource, operation])));
	});

	it('each has a set of parameters in testbed/operations.mts, so that every suite runs it', () => {
		const sampled = operationNames.map((name) => operations[name]);
		const known = (resource: string, operation: string) =>
			sampled.some((sample) => sample.resource === resource && sample.operation === operation);
		expect(everyOperation.filter(({ resource, operation }) => !known(resource, operation))).toEqual([]);
	});

	it.each(operationNames)('%s has its endpoint in testbed/platform/server.mts', async (name) => {
		const { error } = await bench.run(operations[name], { input: serialNumberItems(bench, 1) });
		expect(error?.message).toBeUndefined();
	});

	it('each has a file with tests of what it does', () => {
		const files = everyOperation.map(({ resource, operation }) => `resources/${resource}/${operation}.test.mts`);
		expect(files.filter((file) => !existsSync(join(__dirname, file)))).toEqual([]);
	});

	it.each(everyOperation)(
		'the subtitle on the canvas says what $resource $operation does',
		({ resource, operation }) => {
			const subtitle = String(node.description.subtitle).replace(/^=\{\{(.*)\}\}$/, '$1');
			const said = new Function('$parameter', `return ${subtitle}`)({ resource, operation });
			const list = propertiesOf(resource).find(({ name }) => name === 'operation');
			expect(said).toBe(choices(list).find(({ value }) => value === operation)?.action);
		},
	);

	/** Choices of the form that show other fields. */
	const STATES: INodeParameters[] = [
		{},
		{ output: 'selected' },
		{ returnAll: true },
		{ returnAll: false },
		{ method: 'POST' },
	];

	it.each(operationNames)('%s reads no parameter that its form does not show, and all that it shows', async (name) => {
		const { resource, operation } = operations[name];
		const read = new Set<string>();
		const { execute } = node;
		if (execute === undefined) throw new Error('The node has nothing to execute');
		node.execute = async function (this: IExecuteFunctions) {
			const watched = new Proxy(this, {
				get(context, property) {
					if (property !== 'getNodeParameter') return Reflect.get(context, property);
					return (parameter: string, ...rest: [number]) => {
						read.add(parameter);
						return context.getNodeParameter(parameter, ...rest);
					};
				},
			});
			return await execute.call(watched);
		};
		const own = propertiesOf(resource, operation).map((property) => property.name);
		const shown = new Set<string>();
		try {
			for (const state of STATES.filter((choice) => Object.keys(choice).every((field) => own.includes(field)))) {
				read.clear();
				const parameters = { ...operations[name], ...state };
				outputOf(await bench.run(parameters, { input: [{ sn: bench.fleet.at(0).sn }] }));
				const complete =
					n8n.NodeHelpers.getNodeParameters(properties, parameters, true, false, null, node.description) ?? {};
				const visible = properties
					.filter((property) => n8n.NodeHelpers.displayParameter(complete, property, null, node.description))
					.filter(({ type }) => type !== 'notice')
					.map((property) => property.name);
				for (const property of visible) shown.add(property);
				expect([...read].sort()).toEqual([...new Set(visible)].sort());
			}
		} finally {
			node.execute = execute;
		}
		expect([...shown].sort()).toEqual([...new Set([...own, 'resource', 'operation'])].sort());
	});

	it('every collection has its hidden twin right behind it, shown where it is shown', () => {
		const collections = properties.filter(({ type }) => type === 'collection' || type === 'fixedCollection');
		expect(collections.length).toBeGreaterThanOrEqual(8);
		for (const { displayName, name, displayOptions, default: value } of collections) {
			const twins = properties.filter(
				(property) =>
					isTwin(property) &&
					property.name === name &&
					JSON.stringify(property.displayOptions?.show) === JSON.stringify(displayOptions?.show),
			);
			expect(twins).toEqual([{ displayName, name, type: 'hidden', default: value, displayOptions }]);
		}
		expect(properties.filter(isTwin)).toHaveLength(collections.length);
	});

	it('a field with choices depends on no other field by its plain name: n8n would delete its value with each change', () => {
		const deleted = properties.filter(
			({ type, displayOptions }) =>
				['collection', 'fixedCollection', 'multiOptions'].includes(type) &&
				Object.keys(displayOptions?.show ?? {}).some((name) => !/^(\/.*|resource|operation)$/.test(name)),
		);
		expect(deleted).toEqual([]);
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
		expect(offered().map((names) => names.join(' '))).toEqual(Object.keys(FIELDS));
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

	/** Path, type and default of each operation's fields. */
	const FIELDS: Record<string, ReadonlyArray<readonly unknown[]>> = {
		'api request': [
			['body', 'json', ''],
			['method', 'options', 'GET'],
			...OPTIONS,
			['path', 'string', ''],
			['query', 'fixedCollection', {}],
			['query.parameter.name', 'string', ''],
			['query.parameter.value', 'string', ''],
		],
		'device count': [...FILTER_FIELDS, ...OPTIONS],
		'device get': [
			['device', 'resourceLocator', { mode: 'list', value: '' }],
			...OUTPUT,
			...OPTIONS,
			['options.ifNotFound', 'options', 'error'],
		],
		'device getAll': [
			...FILTER_FIELDS,
			['limit', 'number', 50],
			...OUTPUT,
			...OPTIONS,
			['options.ifFleetChanges', 'options', 'fail'],
			['options.pageSize', 'number', 1000],
			['options.skip', 'number', 0],
			['returnAll', 'boolean', false],
			['sort', 'fixedCollection', {}],
			['sort.rule.attribute', 'string', ''],
			['sort.rule.direction', 'options', 'desc'],
			['sort.rule.field', 'options', 'createTime'],
		],
	};

	it.each(everyOperation)(
		'the fields of $resource $operation are those in this file or test/form.mts',
		({ resource, operation }) => {
			expect(namesIn(propertiesOf(resource, operation))).toEqual(byPath(FIELDS[`${resource} ${operation}`] ?? []));
		},
	);

	it('the choices of each field are those in this file or test/form.mts', () => {
		expect(choicesIn(properties.filter(({ name }) => name !== 'operation'))).toEqual([
			['fields', DEVICE_FIELDS],
			['method', ['DELETE', 'GET', 'PATCH', 'POST', 'PUT']],
			['options.ifFleetChanges', ['fail', 'return']],
			['options.ifNotFound', ['empty', 'error']],
			['output', OUTPUT_MODES],
			['resource', ['api', 'device']],
			['sort.rule.direction', ['asc', 'desc']],
			['sort.rule.field', [...DEVICE_FIELDS, 'custom'].sort()],
		]);
	});

	it('the modes of the device locator, which opens on its list', () => {
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
				Object.entries(displayOptions?.show ?? {})
					.map(([field, values]) => (field === 'customSignIn' ? field : values?.join()))
					.join(' and ') || 'always',
			]);
		expect(table).toEqual([
			['baseUrl', 'string', '', 'always'],
			['authentication', 'options', 'apiKey', 'always'],
			['apiKey', 'password', '', 'apiKey'],
			['loginName', 'string', '', 'login'],
			['password', 'password', '', 'login'],
			['customSignIn', 'boolean', false, 'always'],
			['apiKeyIn', 'options', 'header', 'apiKey and customSignIn'],
			['apiKeyName', 'string', 'Authorization', 'apiKey and customSignIn'],
			['apiKeyPrefix', 'string', 'ApiKey', 'apiKey and customSignIn'],
			['passwordFormat', 'options', 'plain', 'login and customSignIn'],
			['loginPath', 'string', '/api/user/login', 'login and customSignIn'],
			['tokenPath', 'string', '', 'login and customSignIn'],
			['allowUnauthorizedCerts', 'boolean', false, 'always'],
			['sessionToken', 'hidden', '', 'always'],
			['sessionOwner', 'hidden', '', 'always'],
		]);
		const field = (name: string) => credentialProperties.find((property) => property.name === name);
		for (const name of ['baseUrl', 'apiKey', 'loginName', 'password']) expect(field(name)?.required).toBe(true);
		expect(field('sessionToken')?.typeOptions?.expirable).toBe(true);
		// n8n leaves such fields out when it sends a credential to the browser.
		expect(field('sessionOwner')?.typeOptions?.password).toBe(true);
		expect(choices(field('authentication')).map(({ value }) => value)).toEqual(['apiKey', 'login']);
		expect(choices(field('apiKeyIn')).map(({ value }) => value)).toEqual(['header', 'query']);
		expect(choices(field('passwordFormat')).map(({ value }) => value)).toEqual(['plain', 'md5']);
	});
});

describe('how the form reads', () => {
	// When to poll is n8n's own field.
	const trigger = () =>
		bench.engine.packages
			.getByNameAndVersion(triggerType, 1)
			.description.properties.filter(({ name }) => name !== 'pollTimes');
	const places = () =>
		[...everyField(properties), ...everyField(trigger()), ...everyField(credentialProperties)].filter(
			({ property }) => property.type !== 'hidden',
		);
	const SMALL_WORDS = new Set(['a', 'an', 'and', 'by', 'for', 'in', 'of', 'on', 'or', 'per', 'the', 'to']);
	const isTitle = (text: string) =>
		text
			.split(/[\s-]+/)
			.every((word, position) => /^[^a-z]/.test(word.replace(/^\(/, '')) || (position > 0 && SMALL_WORDS.has(word)));

	it('filters, sort, output and options stand in the same order in both nodes', () => {
		const inOrder = (fields: INodeProperties[]) =>
			withoutTwins(fields).flatMap(({ name }) => (/^(filters|sort|output|options)$/.test(name) ? [name] : []));
		const trigger = bench.engine.packages.getByNameAndVersion(triggerType, 1);
		expect(inOrder(propertiesOf('device', 'getAll'))).toEqual(['filters', 'sort', 'output', 'options']);
		expect(inOrder(trigger.description.properties)).toEqual(['filters', 'output', 'options']);
	});

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
			.map(({ property }) =>
				(property.options ?? []).map((option) => ('displayName' in option ? option.displayName : option.name)),
			);
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
			.flatMap(({ property }) => [
				property.placeholder,
				...(property.modes ?? []).filter(({ type }) => type !== 'list').map(({ placeholder }) => placeholder),
			])
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
		const lists = properties.filter(({ name }) => name === 'operation').flatMap(choices);
		for (const { action } of lists) {
			expect(action).toMatch(/^[A-Z][a-z]+ [\w ]+$/);
			expect(action).not.toMatch(/\b(a|an|the)\b/);
		}
	});

	it('limits shown in the form are those the values are checked against', () => {
		for (const { property } of places().filter(({ path }) =>
			/^(filters\.compositeStatus|forAtLeast|options\.(pageSize|parallelRequests|skip|timeout|maxRetries))$/.test(path),
		)) {
			expect(property.typeOptions).toEqual({ minValue: expect.any(Number), maxValue: expect.any(Number) });
			expect(property.default).toBeGreaterThanOrEqual(property.typeOptions?.minValue ?? NaN);
			expect(property.default).toBeLessThanOrEqual(property.typeOptions?.maxValue ?? NaN);
		}
	});
});

it('the nodes panel shows one description for both nodes', () => {
	const trigger = bench.engine.packages.getByNameAndVersion(triggerType, 1);
	expect(trigger.description.description).toBe(node.description.description);
});

it.each([true, false])("with 'Return All' %s, 'If the Fleet Keeps Changing' is shown: %s", (returnAll) => {
	const options = propertiesOf('device', 'getAll').find(({ name }) => name === 'options');
	const option = everyField(options === undefined ? [] : [options]).find(
		({ path }) => path === 'options.ifFleetChanges',
	);
	if (option === undefined) throw new Error('There is no such option');
	expect(n8n.NodeHelpers.displayParameter({}, option.property, null, null, { returnAll })).toBe(returnAll);
});

describe("the credential's notice about an address that is not encrypted", () => {
	const isShown = (baseUrl: string) => {
		const notice = credentialProperties.find(({ name }) => name === 'plainHttpNotice');
		if (notice === undefined) throw new Error('There is no such notice');
		return n8n.NodeHelpers.displayParameter({ baseUrl }, notice, null, null);
	};

	it.each([
		'http://devices.example.com',
		'HTTP://devices.example.com',
		'http://localhost.example.com',
		'http://10.0.0.7:8080/',
	])('is shown for %s', (baseUrl) => expect(isShown(baseUrl)).toBe(true));

	it.each([
		'',
		'https://devices.example.com',
		'http://localhost',
		'http://localhost:4070',
		'http://127.0.0.1:4070/x',
		'http://[::1]:80',
	])('is not shown for "%s"', (baseUrl) => expect(isShown(baseUrl)).toBe(false));

	it('needs no pattern, which n8n gives too little time on a busy machine', () => {
		expect(JSON.stringify([credentialProperties, properties])).not.toContain('"regex"');
	});
});
