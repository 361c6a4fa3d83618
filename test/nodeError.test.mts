import fc from 'fast-check';
import type { INode } from 'n8n-workflow';

import { Failure, type FailureDetails, inputFailure } from '../nodes/DeviceManagement/core/failure.ts';
import { explainUnsent, timedOut } from '../nodes/DeviceManagement/core/errors/unsent.ts';
import { asNodeError, failedItem, withoutAuthorization } from '../nodes/DeviceManagement/nodeError.ts';
import { runs } from '../testbed/runs.mts';

const node: INode = {
	id: 'node',
	name: 'Devices',
	type: 'n8n-nodes-device-management.deviceManagement',
	typeVersion: 1,
	position: [0, 0],
	parameters: {},
};

const refused = (details: Partial<FailureDetails>) =>
	new Failure({ kind: 'refused', cause: 'unknown', message: 'No', remedy: 'Wait.', ...details });

describe('whether n8n tries again is decided by the cause', () => {
	test.each([
		['a dropped connection', explainUnsent('ECONNRESET', '', false, 0), 'temporarily-unavailable'],
		['a certificate', explainUnsent('CERT_HAS_EXPIRED', '', false, 0), 'configuration-invalid'],
		['a time-out', timedOut(1000), 'temporarily-unavailable'],
		['HTTP 403', refused({ httpStatus: 403 }), 'temporarily-unavailable'],
		['HTTP 404', refused({ httpStatus: 404 }), 'temporarily-unavailable'],
		['HTTP 500', refused({ httpStatus: 500 }), 'temporarily-unavailable'],
		['HTTP 503 with a wait', refused({ httpStatus: 503, retryAfterMs: 7 }), 'temporarily-unavailable'],
		['HTTP 429 with a wait', refused({ httpStatus: 429, retryAfterMs: 7 }), 'rate-limited'],
		['a refused token', refused({ httpStatus: 401, tokenRefused: true }), 'credential-invalid'],
		['a refused login in HTTP 403', refused({ httpStatus: 403, cause: 'credential' }), 'credential-invalid'],
		['wrong input in HTTP 404', refused({ httpStatus: 404, cause: 'input' }), 'configuration-invalid'],
		['nothing found in HTTP 200', refused({ httpStatus: 200, cause: 'not found' }), 'configuration-invalid'],
		['a temporary code', refused({ httpStatus: 200, temporary: true }), 'temporarily-unavailable'],
		['a code that does not tell', refused({ httpStatus: 200 }), undefined],
		['a conflict', refused({ httpStatus: 200, cause: 'conflict' }), undefined],
	])('%s', (_name, failure, cause) => {
		const { retryAfterMs } = failure.details;
		const told = cause && { cause, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
		expect(Object(asNodeError(node, failure, 0, false))['failure']).toEqual(told);
	});
});

test.each([
	[200, null],
	[404, '404'],
])('HTTP %i has the error code %s in n8n', (httpStatus, httpCode) => {
	expect(asNodeError(node, refused({ httpStatus }))).toMatchObject({ httpCode });
});

describe('a message with the word Authorization', () => {
	const word = fc.mixedCase(fc.constant('authorization'));
	const about = fc.tuple(fc.string(), word, fc.string()).map((parts) => parts.join(''));

	test('is as it was, except in a poll, which has it in the description', () => {
		fc.assert(
			fc.property(about, fc.boolean(), fc.boolean(), (message, isInput, severalItems) => {
				const failure = isInput
					? inputFailure(message, 'Change it.')
					: new Failure({ kind: 'refused', cause: 'unknown', message, remedy: 'Wait.', httpStatus: 200 });
				const error = asNodeError(node, failure, 3, severalItems);
				expect(error.message).toBe(`${message}${severalItems ? ' [item 3]' : ''}`);
				expect(error.description).toBe(failure.details.remedy);
				expect(failedItem(error, failure)).toMatchObject({
					error: error.message,
					details: { description: error.description },
				});
				const ofPoll = asNodeError(node, withoutAuthorization(failure));
				expect(ofPoll.message).not.toMatch(/authorization/i);
				expect(ofPoll.description).toBe(`${failure.details.remedy} In full: ${message}`);
			}),
			runs(1000),
		);
	});

	test('is another one than “not authorized”', () => {
		const failure = inputFailure("'Path' is empty, not authorized", 'Enter it.');
		expect(withoutAuthorization(failure)).toBe(failure);
	});
});
