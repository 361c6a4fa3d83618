/** What pages tell people to build in a real n8n: HTTP Request with the credential, and an If node behind the error output. */
import assert from 'node:assert/strict';

import { nodeType } from '../../testbed/deviceWorkflow.mts';
import type { ExampleWorkflow } from '../../testbed/n8n/examples.mts';
import type { Main } from '../../testbed/n8n/main.mts';
import { resultOf } from '../../testbed/n8n/results.mts';
import { codeOn } from '../../testbed/pages.mts';
import type { EmbeddedPlatform } from '../../testbed/platform/server.mts';
import type { Checks } from './checks.mts';
import { byHand, newId } from './runs.mts';

const MANUAL = 'n8n-nodes-base.manualTrigger';

/** As docs/connect.md says. */
export async function sharedSignIn(main: Main, platform: EmbeddedPlatform, checks: Checks): Promise<void> {
	platform.forget();
	await checks.check("our nodes and n8n's HTTP Request share one sign-in", async () => {
		const request = {
			authentication: 'predefinedCredentialType',
			nodeCredentialType: 'deviceManagementApi',
			url: `${platform.baseUrl}/api/device/sn/${platform.fleet.at(0).sn}`,
		};
		const list = { resource: 'device', operation: 'getAll', returnAll: true };
		const nodes = [
			node('Start', MANUAL, 1, {}, [0, 0]),
			node('Read a device', 'n8n-nodes-base.httpRequest', 4.2, request, [220, 0]),
			node('Get many devices', nodeType, 1, list, [440, 0]),
		];
		const connections = { Start: { main: [to('Read a device')] }, 'Read a device': { main: [to('Get many devices')] } };
		const results = await byHand(main, workflowOf(nodes, connections));
		assert.equal(resultOf(results, 'Read a device').items.length, 1);
		assert.equal(resultOf(results, 'Get many devices').items.length, platform.fleet.size);
		assert(platform.logins.attempted <= 1, `${platform.logins.attempted} logins`);
		assert(platform.requestsOf('sn').length > 0 && platform.requestsOf('list').length > 0);
	});
}

/** Separates unknown serial numbers from other failures, as docs/troubleshooting.md says. One of three serial numbers is unknown. */
export function errorOutputWorkflow(platform: EmbeddedPlatform): ExampleWorkflow {
	const [isUnknown = ''] = codeOn('docs/troubleshooting.md').filter((code) => code.includes('$json.details.code'));
	const condition = {
		id: 'unknown',
		leftValue: `=${isUnknown.trim()}`,
		rightValue: '',
		operator: { type: 'boolean', operation: 'true', singleValue: true },
	};
	const conditions = {
		combinator: 'and',
		options: { caseSensitive: true, leftValue: '', typeValidation: 'strict', version: 2 },
		conditions: [condition],
	};
	const device = { __rl: true, mode: 'sn', value: '={{ $json.sn }}' };
	const get = node('Get device', nodeType, 1, { resource: 'device', operation: 'get', device }, [220, 0]);
	const nodes = [
		node('Start', MANUAL, 1, {}, [0, 0]),
		{ ...get, onError: 'continueErrorOutput' },
		node('Found', 'n8n-nodes-base.noOp', 1, {}, [500, -80]),
		node('Unknown device?', 'n8n-nodes-base.if', 2.2, { conditions, options: {} }, [440, 120]),
	];
	const connections = {
		Start: { main: [to('Get device')] },
		'Get device': { main: [to('Found'), to('Unknown device?')] },
	};
	const serialNumbers = [platform.fleet.at(4).sn, 'RT00000000', platform.fleet.at(7).sn];
	const pinData = { Start: serialNumbers.map((sn) => ({ json: { sn } })) };
	return { ...workflowOf(nodes, connections), pinData };
}

/** A workflow with a new ID. */
function workflowOf(nodes: ExampleWorkflow['nodes'], connections: object): ExampleWorkflow {
	const id = newId();
	return { id, name: id, nodes, connections, active: false, settings: { executionOrder: 'v1' } };
}

/** A node of a workflow. It has the login, in case it sends requests. */
function node(
	name: string,
	type: string,
	typeVersion: number,
	parameters: Record<string, unknown>,
	position: number[],
) {
	const reference = { id: 'deviceManagementLogin', name: 'Device Management (login)' };
	const credentials = type === nodeType || type.endsWith('httpRequest') ? { deviceManagementApi: reference } : {};
	return { id: name, name, type, typeVersion, position, credentials, parameters };
}

function to(target: string) {
	return [{ node: target, type: 'main', index: 0 }];
}
