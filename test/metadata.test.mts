import type { IExecuteFunctions, INodeParameters, INodeProperties, INodeType } from 'n8n-workflow';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { RESOURCES } from '../nodes/DeviceManagement/resources/index.ts';
import { workflow as n8n } from '../testbed/engine/host.cjs';
import { nodeType } from '../testbed/deviceWorkflow.mts';
import { useBench } from '../testbed/jest.mts';
import { operationNames, operations } from '../testbed/operations.mts';
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
	type Place,
	withoutTwins,
} from './form.mts';

const bench = useBench();
let node: INodeType;
let trigger: INodeType;
let properties: INodeProperties[];
let credential: INodeProperties[];
beforeEach(() => {
	const { packages } = bench.engine;
	node = packages.getByNameAndVersion(nodeType, 1);
	trigger = packages.getByNameAndVersion(triggerType, 1);
	({ properties } = node.description);
	// n8n itself adds two fields that limit the domains a credential may be used for.
	credential = packages
		.getCredentialType('deviceManagementApi')
		.properties.filter(({ name }) => !/^allowed\w*Domains$/i.test(name));
});

/** The fields of an operation; without one, the list of a resource's operations. */
const propertiesOf = (resource: string, operation?: string): INodeProperties[] =>
	properties.filter(({ displayOptions }) => {
		const { resource: resources, operation: shownFor } = displayOptions?.show ?? {};
		return resources?.includes(resource) === true && shownFor?.[0] === operation;
	});

const everyOperation = Object.entries(RESOURCES).flatMap(([resource, { operations: own }]) =>
	Object.keys(own).map((operation) => ({ resource, operation })),
);

describe('each operation', () => {
	test.each(everyOperation)(
		'$resource $operation has a file with its tests, and parameters that each suite runs',
		(one) => {
			expect(existsSync(join(__dirname, `resources/${one.resource}/${one.operation}.test.mts`))).toBe(true);
			expect(operationNames.map((name) => operations[name])).toContainEqual(expect.objectContaining(one));
		},
	);

	test.each(everyOperation)('$resource $operation has a subtitle on the canvas that says what it does', (one) => {
		const subtitle = String(node.description.subtitle).replace(/^=\{\{(.*)\}\}$/, '$1');
		const said: unknown = new Function('$parameter', `return ${subtitle}`)(one);
		const list = choices(propertiesOf(one.resource).find(({ name }) => name === 'operation'));
		const action = list.find(({ value }) => value === one.operation)?.action;
		expect(said).toBe(action);
		expect(action).toMatch(/^[A-Z][a-z]+ (?!.*\b(a|an|the)\b)[\w ]+$/);
	});

	/** Choices of the form that show other fields. */
	const STATES: INodeParameters[] = [
		{},
		{ output: 'selected' },
		{ returnAll: true },
		{ returnAll: false },
		{ method: 'POST' },
	];

	test.each(operationNames)(
		'%s reads no parameter that its form does not show, and all that it shows',
		async (name) => {
			const { resource, operation } = operations[name];
			const own = new Set(propertiesOf(resource, operation).map((property) => property.name));
			const read = new Set<string>();
			const stopWatching = watchParameters(read);
			const shown = new Set<string>();
			try {
				for (const state of STATES.filter((choice) => Object.keys(choice).every((field) => own.has(field)))) {
					read.clear();
					const parameters = { ...operations[name], ...state };
					expect(outputOf(await bench.run(parameters, { input: [{ sn: bench.fleet.at(0).sn }] }))).not.toEqual([]);
					const visible = visibleFields(parameters);
					expect([...read].sort()).toEqual(visible);
					for (const field of visible) shown.add(field);
				}
			} finally {
				stopWatching();
			}
			expect([...shown].sort()).toEqual([...own, 'resource', 'operation'].sort());
		},
	);

	/** Adds each parameter that the node reads; returns what ends it. */
	function watchParameters(read: Set<string>): () => void {
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
		return () => (node.execute = execute);
	}

	function visibleFields(parameters: INodeParameters): string[] {
		const { description } = node;
		const complete = n8n.NodeHelpers.getNodeParameters(properties, parameters, true, false, null, description) ?? {};
		const visible = properties
			.filter((property) => n8n.NodeHelpers.displayParameter(complete, property, null, description))
			.filter(({ type }) => type !== 'notice')
			.map((property) => property.name);
		return [...new Set(visible)].sort();
	}
});

describe('what n8n would lose', () => {
	test('an unknown field in a collection: each has its hidden twin, shown where it is shown', () => {
		const pairOf = ({ displayName, name, default: value, displayOptions }: INodeProperties) =>
			JSON.stringify([displayName, name, value, displayOptions]);
		const collections = properties.filter(({ type }) => type === 'collection' || type === 'fixedCollection');
		expect(collections.length).toBeGreaterThanOrEqual(8);
		expect(properties.filter(isTwin).map(pairOf).sort()).toEqual(collections.map(pairOf).sort());
	});

	test('the value of a field with choices that depends on another by its plain name, with each change', () => {
		const deleted = properties.filter(
			({ type, displayOptions }) =>
				['collection', 'fixedCollection', 'multiOptions'].includes(type) &&
				Object.keys(displayOptions?.show ?? {}).some((name) => !/^(\/.*|resource|operation)$/.test(name)),
		);
		expect(deleted).toEqual([]);
	});

	test('a locator’s list without its search', () => {
		const named = everyField(properties).flatMap(({ property }) =>
			(property.modes ?? []).flatMap(({ typeOptions }) => typeOptions?.searchListMethod ?? []),
		);
		expect(Object.keys(node.methods?.listSearch ?? {})).toEqual([...new Set(named)]);
	});
});

describe('the names that saved workflows hold', () => {
	test('node, version and credential', () => {
		expect(node.description).toMatchObject({
			name: 'deviceManagement',
			displayName: 'Device Management',
			version: 1,
			credentials: [{ name: 'deviceManagementApi', required: true }],
		});
		const offered = Object.keys(RESOURCES).flatMap((resource) =>
			choices(propertiesOf(resource).find(({ name }) => name === 'operation')).map(
				({ value }) => `${resource} ${value}`,
			),
		);
		expect(offered).toEqual(Object.keys(FIELDS));
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

	test.each(everyOperation)('the fields of $resource $operation', ({ resource, operation }) => {
		expect(namesIn(propertiesOf(resource, operation))).toEqual(byPath(FIELDS[`${resource} ${operation}`] ?? []));
	});

	test('the choices of each field, and the modes of the device locator', () => {
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
		expect(properties.find(({ name }) => name === 'device')?.modes?.map(({ name }) => name)).toEqual(['list', 'sn']);
	});

	test('the fields of the credential: name, type, default, when it is shown', () => {
		const table = credential
			.filter(({ type }) => type !== 'notice')
			.map(({ name, required, type, typeOptions, default: value, displayOptions }) => [
				`${name}${required === true ? ' *' : ''}`,
				`${type}${typeOptions?.password === true ? ' password' : ''}${typeOptions?.expirable === true ? ' expirable' : ''}`,
				value,
				Object.entries(displayOptions?.show ?? {})
					.map(([field, values]) => (field === 'customSignIn' ? field : values?.join()))
					.join(' and ') || 'always',
			]);
		expect(table).toEqual([
			['baseUrl *', 'string', '', 'always'],
			['authentication', 'options', 'apiKey', 'always'],
			['apiKey *', 'string password', '', 'apiKey'],
			['loginName *', 'string', '', 'login'],
			['password *', 'string password', '', 'login'],
			['customSignIn', 'boolean', false, 'always'],
			['apiKeyIn', 'options', 'header', 'apiKey and customSignIn'],
			['apiKeyName', 'string', 'Authorization', 'apiKey and customSignIn'],
			['apiKeyPrefix', 'string', 'ApiKey', 'apiKey and customSignIn'],
			['passwordFormat', 'options', 'plain', 'login and customSignIn'],
			['loginPath', 'string', '/api/user/login', 'login and customSignIn'],
			['tokenPath', 'string', '', 'login and customSignIn'],
			['allowUnauthorizedCerts', 'boolean', false, 'always'],
			// n8n leaves password fields out when it sends a credential to the browser.
			['sessionToken', 'hidden password expirable', '', 'always'],
			['sessionOwner', 'hidden password', '', 'always'],
		]);
		expect(choicesIn(credential)).toEqual([
			['apiKeyIn', ['header', 'query']],
			['authentication', ['apiKey', 'login']],
			['passwordFormat', ['md5', 'plain']],
		]);
	});
});

describe('how the forms read', () => {
	const SMALL_WORDS = /^(a|an|and|by|for|in|of|on|or|per|the|to)$/;
	const isTitle = (text: string) =>
		text
			.split(/[\s-]+/)
			.every((word, position) => /^\(?[^a-z(]/.test(word) || (position > 0 && SMALL_WORDS.test(word)));
	const labelsIn = ({ options = [] }: INodeProperties) =>
		options.map((option) => ('displayName' in option ? option.displayName : option.name));
	const isCollection = ({ type }: INodeProperties) => type === 'collection' || type === 'fixedCollection';
	const NUMBERS =
		/^(filters\.compositeStatus|forAtLeast|options\.(pageSize|parallelRequests|skip|timeout|maxRetries))$/;

	/** A rule, and how many fields or more it is about; a field keeps it or not, or it is not about it: undefined. */
	const RULES: Array<[rule: string, atLeast: number, keeps: (place: Place) => boolean | undefined]> = [
		[
			'labels are in Title Case',
			50,
			({ property }) =>
				[
					...(property.type === 'notice' ? [] : [property.displayName]),
					...labelsIn(property),
					...(property.modes ?? []).map(({ displayName }) => displayName),
				].every(isTitle),
		],
		[
			'five or more choices are in alphabetical order',
			4,
			({ property }) => {
				const labels = labelsIn(property);
				if (property.type === 'fixedCollection' || labels.length < 5) return undefined;
				return labels.join() === [...labels].sort((one, other) => one.localeCompare(other, 'en')).join();
			},
		],
		[
			'what a yes or no means begins with “Whether”',
			2,
			({ property }) => (property.type === 'boolean' ? /^Whether /.test(property.description ?? '') : undefined),
		],
		[
			'an example in an empty field begins with “e.g.”',
			8,
			({ property }) => {
				const inputs = [property, ...(property.modes ?? []).filter(({ type }) => type !== 'list')];
				const examples = isCollection(property) ? [] : inputs.flatMap(({ placeholder }) => placeholder || []);
				return examples.length === 0 ? undefined : examples.every((example) => /^e\.g\. \S/.test(example));
			},
		],
		[
			'a field says what it is for, where its label and choices do not',
			30,
			({ property: { name, type, description = '' } }) =>
				type === 'notice' ||
				type === 'resourceLocator' ||
				/^(authentication|operation|options|query|resource)$/.test(name) ||
				description !== '',
		],
		[
			'a number has limits, and its default is within them',
			8,
			({ path, property: { typeOptions: { minValue = NaN, maxValue = NaN } = {}, default: value } }) =>
				NUMBERS.test(path) ? minValue <= Number(value) && Number(value) <= maxValue : undefined,
		],
	];

	test.each(RULES)('%s', (_rule, atLeast, keeps) => {
		// When to poll is n8n's own field.
		const ofTrigger = trigger.description.properties.filter(({ name }) => name !== 'pollTimes');
		const places = [...everyField(properties), ...everyField(ofTrigger), ...everyField(credential)]
			.filter(({ property }) => property.type !== 'hidden')
			.filter((place) => keeps(place) !== undefined);
		expect(places.filter((place) => keeps(place) === false).map(({ path }) => path)).toEqual([]);
		expect(places.length).toBeGreaterThanOrEqual(atLeast);
	});

	test('filters, sort, output and options stand in the same order in both nodes, which share their description', () => {
		const inOrder = (fields: INodeProperties[]) =>
			withoutTwins(fields).flatMap(({ name }) => (/^(filters|sort|output|options)$/.test(name) ? [name] : []));
		expect(inOrder(propertiesOf('device', 'getAll'))).toEqual(['filters', 'sort', 'output', 'options']);
		expect(inOrder(trigger.description.properties)).toEqual(['filters', 'output', 'options']);
		expect(trigger.description.description).toBe(node.description.description);
	});
});

describe('what a field depends on', () => {
	/** @param values what the form has @param root what the whole form has, for an option */
	const isShown = (field: INodeProperties | undefined, values: INodeParameters, root = values) => {
		if (field === undefined) throw new Error('There is no such field');
		return n8n.NodeHelpers.displayParameter(values, field, null, null, root);
	};

	test.each([true, false])("with 'Return All' %s, 'If the Fleet Keeps Changing' is shown: %s", (returnAll) => {
		const places = everyField(propertiesOf('device', 'getAll'));
		const option = places.find(({ path }) => path === 'options.ifFleetChanges')?.property;
		expect(isShown(option, {}, { returnAll })).toBe(returnAll);
	});

	test.each([
		['http://devices.example.com', true],
		['HTTP://devices.example.com', true],
		['http://localhost.example.com', true],
		['http://10.0.0.7:8080/', true],
		['', false],
		['https://devices.example.com', false],
		['http://localhost', false],
		['http://localhost:4070', false],
		['http://127.0.0.1:4070/x', false],
		['http://[::1]:80', false],
	])("the credential's notice about an address that is not encrypted, for '%s': %s", (baseUrl, shown) => {
		const notice = credential.find(({ name }) => name === 'plainHttpNotice');
		expect(isShown(notice, { baseUrl })).toBe(shown);
	});

	test('no field depends on a pattern, which n8n gives too little time on a busy machine', () => {
		expect(JSON.stringify([credential, properties])).not.toContain('"regex"');
	});
});
