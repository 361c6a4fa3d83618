import { cancelledFailure, Failure, inputFailure } from '../../nodes/DeviceManagement/core/failure.ts';

test('a failure is an error with its message, and holds its details', () => {
	const details = { kind: 'paging', cause: 'platform', message: 'It moves', remedy: 'Wait.' } as const;
	const failure = new Failure(details);
	expect(failure).toBeInstanceOf(Error);
	expect(failure.name).toBe('Failure');
	expect(failure.message).toBe('It moves');
	expect(failure.details).toBe(details);
	expect(failure.cause).toBeUndefined();
});

test('wrong input is refused before any request', () => {
	expect(inputFailure("'Path' is empty", 'Enter it.').details).toEqual({
		kind: 'input',
		cause: 'input',
		message: "'Path' is empty",
		remedy: 'Enter it.',
	});
});

test('a stopped execution is known to n8n by its word', () => {
	expect(cancelledFailure().details).toEqual({
		kind: 'cancelled',
		cause: 'unknown',
		message: 'The execution was canceled',
		remedy: expect.stringContaining('Nothing more was sent'),
	});
});
