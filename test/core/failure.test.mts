import { cancelledFailure, Failure, inputFailure } from '../../nodes/DeviceManagement/core/failure.ts';

test('a failure is an error with its message, and has its details', () => {
	const details = { kind: 'paging', cause: 'platform', message: 'It moves', remedy: 'Wait.' } as const;
	const failure = new Failure(details);
	expect(failure).toBeInstanceOf(Error);
	expect({ ...failure, text: failure.message }).toEqual({ name: 'Failure', details, text: 'It moves' });
});

test('wrong input is refused before any request', () => {
	const words = { message: "'Path' is empty", remedy: 'Enter it.' };
	expect(inputFailure(words.message, words.remedy).details).toEqual({ kind: 'input', cause: 'input', ...words });
});

test('n8n recognizes a stopped execution by its word', () => {
	expect(cancelledFailure().details).toEqual({
		kind: 'cancelled',
		cause: 'unknown',
		message: 'The execution was canceled',
		remedy: expect.stringContaining('Nothing more was sent'),
	});
});
