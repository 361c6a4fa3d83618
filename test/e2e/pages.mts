/** What pages tell people to build in a real n8n: HTTP Request with the credential, and an If node behind the error output. */
import assert from 'node:assert/strict';

import { nodeType } from '../../testbed/deviceWorkflow.mts';
import type { Main } from '../../testbed/n8n/main.mts';
import { resultOf } from '../../testbed/n8n/results.mts';
import { chain } from '../../testbed/n8n/workflows.mts';
import { codeOn } from '../../testbed/pages.mts';
import type { EmbeddedPlatform } from '../../testbed/platform/server.mts';
import type { Checks } from './checks.mts';
import { newId } from './runs.mts';

const LOGIN = 'deviceManagementLogin';
const START = { name: 'Start', type: 'n8n-nodes-base.manualTrigger', typeVersion: 1, parameters: {} };

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
		const workflow = chain(newId(), LOGIN, [
			START,
			{ name: 'Read a device', type: 'n8n-nodes-base.httpRequest', typeVersion: 4.2, parameters: request },
			{ name: 'Get many devices', type: nodeType, typeVersion: 1, parameters: list },
		]);
		const results = await main.execute(await main.create(workflow), 'Start');
		assert.equal(resultOf(results, 'Read a device').items.length, 1);
		assert.equal(resultOf(results, 'Get many devices').items.length, platform.fleet.size);
		assert(platform.logins.attempted <= 1, `${platform.logins.attempted} logins`);
		assert(platform.requestsOf('sn').length > 0 && platform.requestsOf('list').length > 0);
	});
}

/** Separates unknown serial numbers from other failures, as docs/troubleshooting.md says. One of three serial numbers is unknown. */
export function errorOutputWorkflow({ fleet }: EmbeddedPlatform) {
	const [isUnknown = ''] = codeOn('docs/troubleshooting.md').filter((code) => code.includes('$json.details.code'));
	const operator = { type: 'boolean', operation: 'true', singleValue: true };
	const condition = { id: 'unknown', leftValue: `=${isUnknown.trim()}`, rightValue: '', operator };
	const rules = { caseSensitive: true, leftValue: '', typeValidation: 'strict', version: 2 };
	const conditions = { combinator: 'and', options: rules, conditions: [condition] };
	const device = { __rl: true, mode: 'sn', value: '={{ $json.sn }}' };
	const get = { name: 'Get device', type: nodeType, typeVersion: 1, onError: 'continueErrorOutput' };
	const workflow = chain(newId(), LOGIN, [
		START,
		{ ...get, parameters: { resource: 'device', operation: 'get', device } },
		{ name: 'Found', type: 'n8n-nodes-base.noOp', typeVersion: 1, parameters: {} },
	]);
	const name = 'Unknown device?';
	const branch = { id: name, name, type: 'n8n-nodes-base.if', typeVersion: 2.2, position: [440, 160] };
	const nodes = [...workflow.nodes, { ...branch, parameters: { conditions, options: {} } }];
	const outputs = ['Found', name].map((node) => [{ node, type: 'main', index: 0 }]);
	const connections = { ...workflow.connections, 'Get device': { main: outputs } };
	const serialNumbers = [fleet.at(4).sn, 'RT00000000', fleet.at(7).sn];
	return { ...workflow, nodes, connections, pinData: { Start: serialNumbers.map((sn) => ({ json: { sn } })) } };
}
