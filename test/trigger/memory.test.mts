import { carriedFrom, carryOn, forgetPolls, memoryOf, takeTurn } from '../../nodes/DeviceManagement/trigger/memory.ts';

beforeEach(forgetPolls);

describe('the state to compare with', () => {
	const memory = () => memoryOf('workflow', 'node');

	it('is what quiet polls came to, whichever state since the last report n8n hands out', () => {
		carryOn(memory(), undefined, 'one');
		carryOn(memory(), 'one', 'two');
		carryOn(memory(), 'one', 'three');
		for (const handed of [undefined, 'one', 'two', 'three']) expect(carriedFrom(memory(), handed)).toBe('three');
	});

	it('is the one before a report, until n8n hands out what the report wrote', () => {
		carryOn(memory(), 'one', 'two');
		// This poll compared with 'two', and wrote 'three'.
		carryOn(memory(), 'one', 'two');
		expect(carriedFrom(memory(), 'one')).toBe('two');
		expect(carriedFrom(memory(), 'three')).toBe('three');
		carryOn(memory(), 'three', 'four');
		expect(carriedFrom(memory(), 'one')).toBe('one');
	});

	it('is one that another process wrote', () => {
		carryOn(memory(), 'one', 'two');
		expect(carriedFrom(memory(), 'other')).toBe('other');
		expect(carriedFrom(memoryOf('workflow', 'another node'), 'one')).toBe('one');
	});

	it('is known for the last thousand states, and for the one that n8n hands out each time', () => {
		carryOn(memory(), 'saved', 'first');
		for (let count = 0; count < 1500; count++) carryOn(memory(), 'saved', `state ${count}`);
		expect(carriedFrom(memory(), 'saved')).toBe('state 1499');
		expect(carriedFrom(memory(), 'state 1000')).toBe('state 1499');
		expect(carriedFrom(memory(), 'state 9')).toBe('state 9');
	});

	it('is known for the state that the database holds, after any number of quiet polls in memory', () => {
		carryOn(memory(), undefined, 'saved');
		for (let count = 0; count < 1500; count++)
			carryOn(memory(), count === 0 ? 'saved' : `state ${count}`, `state ${count + 1}`);
		expect(carriedFrom(memory(), 'saved')).toBe('state 1500');
	});

	it('is dropped if the process keeps too much, the least recently used node first', () => {
		const large = 'x'.repeat(90_000_000);
		for (const node of ['one', 'two', 'three']) carryOn(memoryOf('workflow', node), undefined, `${node} ${large}`);
		memoryOf('workflow', 'three');
		expect(carriedFrom(memoryOf('workflow', 'three'), undefined)).toContain('three');
		expect(carriedFrom(memoryOf('workflow', 'one'), undefined)).toBeUndefined();
	});
});

it('one poll of a node at a time has the turn, until a minute after its deadline', () => {
	const memory = memoryOf('workflow', 'node');
	const turn = takeTurn(memory, 1000, 5000);
	expect(turn).toEqual({ until: 66_000 });
	expect(takeTurn(memory, 65_999, 5000)).toBeUndefined();
	expect(takeTurn(memory, 66_000, 5000)).toBe(memory.turn);
});
