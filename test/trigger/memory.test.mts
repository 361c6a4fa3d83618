import {
	carriedFrom,
	carryOn,
	forgetPolls,
	memoryOf,
	refuseUnstable,
} from '../../nodes/DeviceManagement/trigger/poll/memory.ts';

beforeEach(forgetPolls);

const memory = () => memoryOf('workflow', 'node');

it.each([
	['the same one', () => 'saved'],
	['the last one', (count: number) => (count === 0 ? 'saved' : `state ${count - 1}`)],
])('quiet polls compare with the last state, whatever their number, if n8n hands out %s', (_, handed) => {
	carryOn(memory(), undefined, 'saved', true);
	for (let count = 0; count < 9; count++) carryOn(memory(), handed(count), `state ${count}`, true);
	for (const known of ['saved', 'state 8']) expect(carriedFrom(memory(), known)).toBe('state 8');
	expect(carriedFrom(memory(), 'of another process')).toBe('of another process');
});

it('a poll compares with the state that n8n has, if n8n did not take the items of a poll, or another process polled', () => {
	carryOn(memory(), 'saved', 'quiet', true);
	carryOn(memory(), 'saved', 'reported', false);
	expect(carriedFrom(memory(), 'saved')).toBe('saved');
	carryOn(memory(), 'of another process', 'later', true);
	expect(['reported', 'of another process'].map((one) => carriedFrom(memory(), one))).toEqual(['reported', 'later']);
});

it('a thousand nodes are remembered: the one that polled longest ago is forgotten first', () => {
	for (const node of ['one', 'two']) memoryOf('workflow', node).remarks = [node];
	for (let count = 0; count < 999; count++) memoryOf('workflow', count === 0 ? 'one' : `other ${count}`);
	expect(memoryOf('workflow', 'one').remarks).toEqual(['one']);
	memoryOf('workflow', 'last');
	expect(memoryOf('workflow', 'two').remarks).toEqual([]);
});

it('a value that changes at two polls in a row is refused, but not one that changes once, or in the editor', () => {
	const polls = (texts: string, savedOf: (text: string) => string) =>
		Array.from(texts, (text) => {
			try {
				refuseUnstable(memory(), savedOf(text), { Events: ['deviceCreated'], Filters: [{ name: text }] });
				return '·';
			} catch {
				return 'E';
			}
		}).join('');
	expect(polls('aabbcdeeffg', () => 'expression')).toBe('·····EE····');
	expect(polls('hij', (text) => text)).toBe('···');
});
