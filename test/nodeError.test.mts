import { type INode, UserError } from 'n8n-workflow';

import { Failure, type FailureDetails, inputFailure } from '../nodes/DeviceManagement/core/failure.ts';
import { explain, failureOf } from '../nodes/DeviceManagement/core/errors/failureOf.ts';
import { RESPONSES } from '../nodes/DeviceManagement/core/errors/table.ts';
import { asNodeError, withoutAuthorization } from '../nodes/DeviceManagement/nodeError.ts';
import { whyNoResponse } from '../nodes/DeviceManagement/transport/exchange.ts';

const node: INode = {
	...{ id: 'node', name: 'Devices', type: 'n8n-nodes-device-management.deviceManagement' },
	...{ typeVersion: 1, position: [0, 0], parameters: {} },
};

const refused = (details: Partial<FailureDetails>) =>
	new Failure({ kind: 'refused', cause: 'unknown', message: 'No', remedy: 'Wait.', ...details });

const ASKED = { words: 'list', mayChange: false, redact: String } as const;
const unsent = (code: string) => whyNoResponse(Object.assign(new Error(), { code }), ASKED);

describe('whether n8n tries again is decided by the cause', () => {
	test.each([
		['a dropped connection', unsent('ECONNRESET'), 'temporarily-unavailable'],
		['a certificate', unsent('DEPTH_ZERO_SELF_SIGNED_CERT'), 'configuration-invalid'],
		['an expired certificate', unsent('CERT_HAS_EXPIRED'), 'temporarily-unavailable'],
		['a time-out', failureOf({ kind: 'timeout', row: RESPONSES.tooSlow }, ASKED), 'temporarily-unavailable'],
		['HTTP 403', refused({ httpStatus: 403 }), 'temporarily-unavailable'],
		['HTTP 500', refused({ httpStatus: 500 }), 'temporarily-unavailable'],
		['HTTP 503 with a wait', refused({ httpStatus: 503, retryAfterMs: 7 }), 'temporarily-unavailable'],
		['HTTP 429 with a wait', refused({ httpStatus: 429, retryAfterMs: 7 }), 'rate-limited'],
		['a refused token', refused({ httpStatus: 401, token: 'refused' }), 'credential-invalid'],
		['a refused login in HTTP 403', refused({ httpStatus: 403, cause: 'credential' }), 'credential-invalid'],
		['an unknown host', unsent('ENOTFOUND'), 'temporarily-unavailable'],
		['a redirect', refused({ ...explain('HTTP 302', 'list'), httpStatus: 302 }), 'temporarily-unavailable'],
		['a limit of a login', refused({ cause: 'credential', temporary: true }), 'temporarily-unavailable'],
		['wrong input in HTTP 404', refused({ httpStatus: 404, cause: 'input' }), 'configuration-invalid'],
		['nothing found in HTTP 200', refused({ httpStatus: 200, cause: 'not found' }), 'configuration-invalid'],
		['a temporary code', refused({ httpStatus: 200, temporary: true, cause: 'input' }), 'temporarily-unavailable'],
		['an invalid field', inputFailure("'Events' is empty", 'Choose one.'), 'configuration-invalid'],
		['a code that does not tell', refused({ httpStatus: 200 }), undefined],
		['a conflict', refused({ httpStatus: 200, cause: 'conflict' }), undefined],
	])('%s', (_name, failure, cause) => {
		const { retryAfterMs } = failure.details;
		const told = cause && { cause, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
		expect(Object(asNodeError(node, failure, 0, false))['failure']).toEqual(told);
	});
});

test.each([
	['of a field', new UserError('No'), { cause: 'configuration-invalid' }],
	['of a database', new Error('No'), undefined],
])("n8n's own error %s has a cause if a user must act", (_name, thrown, cause) => {
	expect(asNodeError(node, thrown).failure).toEqual(cause);
});

test.each([
	[200, null],
	[404, '404'],
])('HTTP %i has the error code %s in n8n', (httpStatus, httpCode) => {
	expect(asNodeError(node, refused({ httpStatus }))).toMatchObject({ httpCode });
});

describe('a message with the word Authorization', () => {
	test.each([
		['an AUTHORIZATION', 'an …'],
		['Authorization:\nno authorization', '…:\nno …'],
	])('loses it in a poll, which has the message in the description: %j', (message, shown) => {
		const error = asNodeError(node, withoutAuthorization(refused({ message })));
		expect(error).toMatchObject({ message: shown, description: `Wait. In full: ${message}` });
	});

	test('keeps it elsewhere, also if it is about a field', () => {
		const failure = inputFailure("'Path' is no authorization", 'Enter it.');
		const error = asNodeError(node, failure, 3, true);
		expect(error).toMatchObject({ message: `${failure.message} [item 3]`, description: 'Enter it.' });
	});

	test('is another one than “not authorized”', () => {
		const failure = inputFailure("'Path' is empty, not authorized", 'Enter it.');
		expect(withoutAuthorization(failure)).toBe(failure);
	});
});
