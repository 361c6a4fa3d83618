import {
	carriedFrom,
	carryOn,
	forgetPolls,
	memoryOf,
	refuseMoving,
} from '../../nodes/DeviceManagement/trigger/memory.ts';

beforeEach(forgetPolls);

describe('the state to compare with', () => {
	const memory = () => memoryOf('workflow', 'node');
	const carry = (stored: string | undefined, to: string, isQuiet = true) => carryOn(memory(), stored, to, isQuiet);

	it.each([
		['the same one', () => 'saved'],
		['the last one', (count: number) => (count === 0 ? 'saved' : `state ${count - 1}`)],
	])('is known after any number of quiet polls, if n8n hands out %s', (_, handed) => {
		carry(undefined, 'saved');
		for (let count = 0; count < 9; count++) carry(handed(count), `state ${count}`);
		for (const known of ['saved', 'state 8']) expect(carriedFrom(memory(), known)).toBe('state 8');
		expect(carriedFrom(memory(), 'of another process')).toBe('of another process');
	});

	it('is what n8n has, if it did not take the items of a poll', () => {
		carry('saved', 'quiet');
		carry('saved', 'reported', false);
		expect(['saved', 'reported'].map((handed) => carriedFrom(memory(), handed))).toEqual(['saved', 'reported']);
	});

	it('is what n8n has, if another process polled since it was saved', () => {
		carry('saved', 'quiet');
		carry('of another process', 'later');
		expect(carriedFrom(memory(), 'saved')).toBe('saved');
		expect(carriedFrom(memory(), 'of another process')).toBe('later');
	});

	it('is forgotten after a thousand other nodes, the least recently used node first', () => {
		for (const node of ['one', 'two']) memoryOf('workflow', node).remarks = [node];
		for (let count = 0; count < 999; count++) memoryOf('workflow', count === 0 ? 'one' : `other ${count}`);
		expect(memoryOf('workflow', 'one').remarks).toEqual(['one']);
		memoryOf('workflow', 'last');
		expect(memoryOf('workflow', 'two').remarks).toEqual([]);
	});
});

it('a value that changes at two polls in a row is refused, but not one that changes once, or in the editor', () => {
	const poll = (text: string, saved = 'expression') => {
		try {
			refuseMoving(memoryOf('workflow', 'node'), saved, { Events: ['deviceCreated'], Filters: [{ name: text }] });
			return 'polls';
		} catch {
			return 'fails';
		}
	};
	expect(Array.from('aabbcdeeffg', (text) => poll(text)).join(' ')).toBe(
		'polls polls polls polls polls fails fails polls polls polls polls',
	);
	expect(['h', 'i', 'j'].map((text) => poll(text, text))).toEqual(['polls', 'polls', 'polls']);
});
