import type { INode, INodeExecutionData } from 'n8n-workflow';

import { unwrap } from '../../nodes/DeviceManagement/core/envelope.ts';
import { inWords } from '../../nodes/DeviceManagement/core/errors/purpose.ts';
import { asNodeError } from '../../nodes/DeviceManagement/nodeError.ts';
import type { OnError } from '../../testbed/deviceWorkflow.mts';
import { useBench } from '../../testbed/jest.mts';
import { type OperationName, operationNames, operations } from '../../testbed/operations.mts';
import { message } from '../../testbed/platform/codes.mts';
import { settled } from './fakes.mts';

const bench = useBench({ fleet: { size: 3 } });

/** Runs an operation for three items, one after the other, with one request each. */
const run = async (operation: OperationName, onError: OnError) =>
	await bench.run(
		{ ...operations[operation], options: { parallelRequests: 1 } },
		{ onError, input: bench.fleet.devices.map(({ sn }, mark) => ({ sn, mark: String(mark) })) },
	);

/** One code of each cause, the one that only says more by its details, and one that is not documented. */
test.each([
	['get', 'configuration-invalid', { code: 10001, details: ['alpha-7'] }],
	['getAll', undefined, { code: 10003, details: [] }],
	['count', undefined, { code: 10008, details: ['alpha-7', 'beta-8'] }],
	['request', 'credential-invalid', { code: 14103, details: [] }],
	['get', undefined, { code: 20815, details: [], msg: 'quota of the tenant is used up' }],
] as const)('%s stops with the message of a code, its detail, its cause (%s) and the item: %j', async (...row) => {
	const [operation, cause, refusal] = row;
	const { code, details } = refusal;
	const msg = 'msg' in refusal ? refusal.msg : message(code, ...details);
	// A list asks again with a smaller page.
	bench.platform.settings.fault = ({ order }) => (order >= 2 ? { code, details: [...details], msg } : undefined);
	const { error } = await run(operation, 'stopWorkflow');
	expect(error?.message).toMatch(/^[A-Z][\w' ]{9,} \(code /);
	expect(error?.message.endsWith(`(code ${code}: ${msg}) [item 1]`)).toBe(true);
	expect(error?.description).toMatch(/^[A-Z].*\.$/);
	expect(error).toMatchObject({ context: { itemIndex: 1, data: { code } } });
	expect(Object(error)['failure']?.cause).toBe(cause);
});

test.each(operationNames)(
	'a refused item of %s says why under “continue”, and leaves the others alone',
	async (operation) => {
		const isFirst = ({ pairedItem }: INodeExecutionData) => Object(pairedItem).item !== 1;
		const healthy = (await run(operation, 'stopWorkflow')).data('Devices').filter(isFirst);
		const refused = {
			error: 'The record exists already (code 10003: duplicate record) [item 1]',
			details: { code: 10003, httpStatus: 200, description: expect.stringMatching(/^Use another name/) },
		};
		for (const [onError, output] of [
			['continueRegularOutput', 0],
			['continueErrorOutput', 1],
		] as const) {
			bench.platform.forget();
			bench.platform.settings.fault = ({ order }) => (order === 2 ? { code: 10003 } : undefined);
			const result = await run(operation, onError);
			expect(result.error).toBeUndefined();
			const failed = result.data('Devices', output).filter(({ json }) => 'error' in json);
			expect(failed).toMatchObject([{ json: refused, pairedItem: { item: 1 } }]);
			expect(result.data('Devices').filter(({ json }) => !('error' in json))).toEqual(healthy);
			expect(healthy).not.toEqual([]);
		}
	},
);

const node: INode = { id: 'n', name: 'Devices', type: 'x', typeVersion: 1, position: [0, 0], parameters: {} };

/** A proxy's response during a redeploy must not stop polls for half an hour, as n8n does after a permanent error. */
test.each([
	[undefined, 429, 'rate-limited'],
	[undefined, 500, 'temporarily-unavailable'],
	[undefined, 503, 'temporarily-unavailable'],
	[undefined, 401, 'credential-invalid'],
	[undefined, 403, 'temporarily-unavailable'],
	[undefined, 404, 'temporarily-unavailable'],
	[undefined, 301, 'configuration-invalid'],
	[undefined, 413, 'configuration-invalid'],
	[10002, 403, 'temporarily-unavailable'],
	[9999, 404, 'temporarily-unavailable'],
	[9999, 401, 'credential-invalid'],
	[14103, 403, 'credential-invalid'],
	[14201, 404, 'credential-invalid'],
	[10001, 403, 'configuration-invalid'],
	[10007, 404, 'configuration-invalid'],
])('code %s in HTTP %i has the cause %s', async (code, status, cause) => {
	const body = new TextEncoder().encode(code === undefined ? '' : JSON.stringify({ code }));
	const thrown = await settled(
		Promise.resolve({ status, body, retryAfterMs: undefined, redirectOrigin: undefined }).then(unwrap),
	);
	const error = asNodeError(node, inWords(thrown, 'count', String));
	expect(error).toMatchObject({ httpCode: String(status), failure: { cause } });
});

test.each(['ECONNREFUSED ENOENT <b>x</b>', 'authorization/../x'])(
	'a message with %s has it unchanged',
	async (detail) => {
		bench.platform.settings.fault = () => ({ code: 10007, details: [detail], status: 418 });
		const message = `The record does not exist (code 10007: ${detail} non-existent)`;
		expect((await bench.run(operations.count)).error?.message).toBe(message);
		const result = await bench.run(operations.count, { onError: 'continueRegularOutput' });
		// The code explains a status other than 200, which is kept.
		expect(result.data('Devices')[0]?.json).toMatchObject({
			error: message,
			details: { code: 10007, httpStatus: 418 },
		});
	},
);
