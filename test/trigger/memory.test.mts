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

	it.each([
		['the same one', () => 'saved'],
		['the last one', (count: number) => (count === 0 ? 'saved' : `state ${count - 1}`)],
	])(
		'is known after any number of quiet polls, if n8n hands out %s: for a thousand states and the first',
		(_, handed) => {
			carryOn(memory(), undefined, 'saved');
			for (let count = 0; count < 1500; count++) carryOn(memory(), handed(count), `state ${count}`);
			for (const known of ['saved', 'state 1000']) expect(carriedFrom(memory(), known)).toBe('state 1499');
			expect(carriedFrom(memory(), 'state 9')).toBe('state 9');
		},
	);

	it('is forgotten after a thousand other nodes, the least recently used node first', () => {
		for (const node of ['one', 'two']) carryOn(memoryOf('workflow', node), undefined, node);
		for (let count = 0; count < 999; count++) memoryOf('workflow', count === 0 ? 'one' : `other ${count}`);
		expect(carriedFrom(memoryOf('workflow', 'one'), undefined)).toBe('one');
		memoryOf('workflow', 'last');
		expect(carriedFrom(memoryOf('workflow', 'two'), undefined)).toBeUndefined();
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
