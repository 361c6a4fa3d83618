import { timeInWords } from '../../nodes/DeviceManagement/core/failure.ts';

test('spans of time are told in seconds up to a minute, and then in minutes, rounded up', () => {
	const words = [1, 1001, 60_000, 60_001, 300_000, 3_600_000].map(timeInWords);
	expect(words).toEqual(['1 second', '2 seconds', '60 seconds', '2 minutes', '5 minutes', '60 minutes']);
});
