/** The names that saved workflows hold, which no build may change. */
import type { INodeProperties } from 'n8n-workflow';

import { DeviceManagementApi } from '../credentials/DeviceManagementApi.credentials.ts';
import { DeviceManagement } from '../nodes/DeviceManagement/DeviceManagement.node.ts';
import { DeviceManagementTrigger } from '../nodes/DeviceManagement/DeviceManagementTrigger.node.ts';
import { choices, everyField, isTwin } from '../testbed/form.mts';

/** Of each field: path, type, default, and the values of its choices or modes – and the forms that have it. */
const NAMES = `
	allowUnauthorizedCerts: boolean false – credential
	apiKey: string required password "" if:apiKey – credential
	apiKeyIn: options "header" header query if:apiKey if:customSignIn – credential
	apiKeyName: string "Authorization" if:apiKey if:customSignIn – credential
	apiKeyPrefix: string "ApiKey" if:apiKey if:customSignIn – credential
	attributes: string "" – trigger
	authentication: options "apiKey" apiKey login – credential
	baseUrl: string required "" – credential
	body: string "" – api.request
	conditions.rule.attribute: resourceLocator {"mode":"list","value":""} list text – trigger
	conditions.rule.attribute: string "" – trigger
	conditions.rule.field: options "onlineStatus" attributes group iccid onlineStatus status – trigger
	conditions.rule.from: resourceLocator {"mode":"list","value":""} list text – trigger
	conditions.rule.from: string "" – trigger
	conditions.rule.to: resourceLocator {"mode":"list","value":""} above below list text – trigger
	conditions.rule.to: string "" – trigger
	conditions: fixedCollection {} – trigger
	customSignIn: boolean false – credential
	device: resourceLocator required {"mode":"list","value":""} list sn – device.get
	events: multiOptions required ["deviceCreated"] attributeChanged deviceCreated deviceRemoved deviceUpdated groupChanged iccidChanged onlineStatusChanged statusChanged – trigger
	fields: multiOptions ["sn","onlineStatus","status"] attributes createTime creator description group iccid iccidOverwrite id imei model onlineStatus sensorOverwrite sensorSn sn status tags updateTime updator – device.get device.getAll trigger
	filters.attributes.pair.key: string "" – device.count device.getAll trigger
	filters.attributes.pair.value: string "" – device.count device.getAll trigger
	filters.attributes: fixedCollection {} – device.count device.getAll trigger
	filters.body: json "{}" – device.count device.getAll trigger
	filters.compositeStatus: number 0 – device.count device.getAll trigger
	filters.group: resourceLocator {"mode":"list","value":""} list text – device.count device.getAll trigger
	filters.group: string "" – device.count device.getAll trigger
	filters.name: string "" – device.count device.getAll trigger
	filters.onlineStatus: number 0 – device.count device.getAll trigger
	filters.onlineStatus: resourceLocator {"mode":"list","value":""} list text – device.count device.getAll trigger
	filters.query.parameter.name: string "" – device.count device.getAll trigger
	filters.query.parameter.value: string "" – device.count device.getAll trigger
	filters.query: fixedCollection {} – device.count device.getAll trigger
	filters.tags: string "" – device.count device.getAll trigger
	filters: collection {} – device.count device.getAll trigger
	forAtLeast: number 0 – trigger
	limit: number 50 – device.getAll
	loginName: string required "" if:login – credential
	loginPath: string "/api/user/login" if:login if:customSignIn – credential
	method: options "GET" DELETE GET PATCH POST PUT – api.request
	operation: options "getAll" count get getAll – device
	operation: options "request" request – api
	options.emit: options "perDevice" perDevice perPoll – trigger
	options.firstPoll: options "remember" remember report – trigger
	options.ifFleetChanges: options "fail" fail return – api.request device.getAll
	options.ifNotFound: options "error" empty error – device.get
	options.maxRetries: number 3 – api.request device.count device.get device.getAll trigger
	options.pageSize: number 1000 – api.request device.getAll trigger
	options.parallelRequests: number 8 – api.request device.count device.get device.getAll trigger
	options.skip: number 0 – device.getAll
	options.timeout: number 60000 – api.request device.count device.get device.getAll trigger
	options: collection {} – api.request device.count device.get device.getAll trigger
	output: options "simplified" raw selected simplified – device.get device.getAll trigger
	password: string required password "" if:login – credential
	passwordFormat: options "plain" md5 plain if:login if:customSignIn – credential
	path: string required "" – api.request
	query.parameter.name: string "" – api.request
	query.parameter.value: string "" – api.request
	query: fixedCollection {} – api.request
	resource: options "device" api device – action
	returnAll: boolean false – api.request device.getAll
	sessionOwner: hidden password "" – credential
	sessionToken: hidden password expirable "" – credential
	sort.rule.attribute: string "" – device.getAll
	sort.rule.direction: options "desc" asc desc – device.getAll
	sort.rule.field: options "createTime" attributes createTime creator custom description group iccid iccidOverwrite id imei model name onlineStatus sensorOverwrite sensorSn sn status tags updateTime updator – device.getAll
	sort: fixedCollection {} – device.getAll
	tokenPath: string "" if:login if:customSignIn – credential`;

const node = new DeviceManagement();
const trigger = new DeviceManagementTrigger();

test('nodes, versions and the credential have the names in saved workflows', () => {
	const credentials = [{ name: 'deviceManagementApi', required: true }];
	expect(new DeviceManagementApi().name).toBe('deviceManagementApi');
	expect(node.description).toMatchObject({ name: 'deviceManagement', version: 1, credentials });
	expect(trigger.description).toMatchObject({ name: 'deviceManagementTrigger', version: 1, credentials });
});

test('all fields have the names, types, defaults and choices in saved workflows', () => {
	const fields = [
		...node.description.properties.map((field) => ({ form: formOf(field), field })),
		...trigger.description.properties.map((field) => ({ form: 'trigger', field })),
		...new DeviceManagementApi().properties.map((field) => ({ form: 'credential', field })),
	];
	const forms = new Map<string, Set<string>>();
	// n8n's own field says when to poll.
	for (const { form, field } of fields.filter((one) => !isTwin(one.field) && one.field.name !== 'pollTimes')) {
		for (const { path, property } of everyField([field]).filter((one) => one.property.type !== 'notice')) {
			const row = `${path}: ${valuesOf(property)}`;
			forms.set(row, new Set([...(forms.get(row) ?? []), form]));
		}
	}
	const rows = [...forms].map(([row, places]) => `${row} – ${[...places].sort().join(' ')}`);
	expect(rows.sort()).toEqual(NAMES.trim().split(/\n\t*/));
});

/** The resource and the operation of a field of the action node, as far as it depends on them. */
const formOf = ({ displayOptions: { show = {} } = {} }: INodeProperties) =>
	[...(show['resource'] ?? ['action']), ...(show['operation'] ?? [])].join('.');

function valuesOf(field: INodeProperties): string {
	const { type, required, typeOptions, default: value, modes = [], displayOptions: { show = {} } = {} } = field;
	const flags = [required && 'required', typeOptions?.password && 'password', typeOptions?.expirable && 'expirable'];
	const values = [...choices(field), ...modes.map(({ name }) => ({ value: name }))].map((one) => String(one.value));
	// When the credential shows a field.
	const ways = [...(show['authentication'] ?? []), ...(show['customSignIn'] ? ['customSignIn'] : [])];
	const all = [type, ...flags, JSON.stringify(value), ...values.sort(), ...ways.map((way) => `if:${String(way)}`)];
	return all.filter(Boolean).join(' ');
}
