import { cancelledFailure } from '../../nodes/DeviceManagement/core/failure.ts';

test('n8n recognizes a stopped execution by its word', () => {
	expect(cancelledFailure().details).toEqual({
		kind: 'cancelled',
		cause: 'unknown',
		message: 'The execution was canceled',
		remedy: expect.stringContaining('Nothing more was sent'),
	});
});
