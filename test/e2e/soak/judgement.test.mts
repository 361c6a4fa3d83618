import { readPage } from '../../../testbed/pages.mts';
import { DOCS } from './docs.mts';
import { type Change, type Disturbance, FAULT, judge, type Poll, type Report, type Watched } from './judgement.mts';

const minutes = (count: number) => count * 60_000;
const end = minutes(60);
const off: Change = { at: minutes(10) + 5000, sn: 'A', value: '0' };
const on: Change = { at: minutes(20) + 5000, sn: 'A', value: '1' };
const polls: Poll[] = Array.from({ length: 60 }, (_, at) => ({ from: minutes(at), to: minutes(at) + 500 }));
const told = (change: Change, at: number, eventId = 'one'): Report => ({ ...change, at, eventId });
const killed: Disturbance = {
	...{ name: 'killed', from: minutes(10), to: minutes(12) },
	allows: { lost: 'a page: lost', doubled: 'a page: doubled', late: 'a page: late' },
};
const trigger = (given: Partial<Watched>): Watched => ({
	...{ name: 'trigger', holdMs: 0, reports: [], polls, failed: [] },
	...given,
});
const outcomes = (journal: Change[], given: Partial<Watched>, disturbances: Disturbance[] = []) =>
	judge(journal, [trigger(given)], disturbances, end).map(({ outcome, reason }) => `${outcome}: ${reason ?? 'fine'}`);

const failed = [{ at: minutes(11), serialNumbers: ['A'] }];
const seen = told(off, minutes(11));
test.each<[string, Change[], Partial<Watched>, Disturbance[], string]>([
	['reported once', [off], { reports: [seen] }, [], 'reported: fine'],
	['never reported', [off], {}, [], `lost in a poll: ${FAULT}`],
	['never reported, but n8n was killed', [off], {}, [killed], `lost in a poll: ${FAULT}`],
	['its execution failed', [off], { failed }, [], `lost: ${FAULT}`],
	['its execution failed as n8n was killed', [off], { failed }, [killed], 'lost: a page: lost (killed)'],
	[
		'of an execution that lost its data',
		[off],
		{ failed: [{ at: minutes(11), serialNumbers: [] }] },
		[killed],
		'lost: a page: lost (killed)',
	],
	[
		'of another failed execution',
		[off],
		{ failed: [{ at: minutes(11), serialNumbers: ['B'] }] },
		[killed],
		`lost in a poll: ${FAULT}`,
	],
	['twice', [off], { reports: [seen, seen] }, [], `doubled: ${FAULT}`],
	['twice as n8n was killed', [off], { reports: [seen, seen] }, [killed], 'doubled: a page: doubled (killed)'],
	['as two events', [off], { reports: [seen, told(off, seen.at, 'other')] }, [killed], `doubled: ${FAULT}`],
	['late', [off], { reports: [told(off, minutes(14))] }, [], `late: ${FAULT}`],
	['late as n8n was killed', [off], { reports: [told(off, minutes(14))] }, [killed], 'late: a page: late (killed)'],
	['far too late', [off], { reports: [told(off, minutes(16))] }, [killed], `late: ${FAULT}`],
	['before its wait', [off], { holdMs: minutes(3), reports: [seen] }, [], `early: ${FAULT}`],
	['not at the end', [{ ...off, at: minutes(59.5) }], {}, [], 'pending: fine'],
	['of no change', [], { reports: [seen] }, [], `early: ${FAULT}`],
])('judges an event: %s', (_, journal, given, disturbances, expected) => {
	expect(outcomes(journal, given, disturbances)).toEqual([expected]);
});

test('a change that is back before its wait has ended is none, and coming back is none', () => {
	const holdMs = minutes(15);
	expect(outcomes([off, on], { holdMs })).toEqual(['none due: fine', 'none due: fine']);
	const reports = [told(off, minutes(19)), told(on, minutes(37))];
	expect(outcomes([off, on], { holdMs, reports })).toEqual([`early: ${FAULT}`, `late: ${DOCS.countedFromPoll}`]);
	expect(outcomes([off, on], { holdMs: minutes(3) })).toEqual([`lost in a poll: ${FAULT}`, 'none due: fine']);
});

test('a change between two polls is none', () => {
	const back = { ...on, at: off.at + 10_000 };
	expect(outcomes([off, back], {})).toEqual(['none due: fine', 'none due: fine']);
});

test.each(Object.values(DOCS))('is in the docs: %s', (sentence) => {
	const [page = ''] = sentence.split(': ', 1);
	const text = readPage(page)
		.replace(/\]\([^)]*\)|[[_*]/g, '')
		.replace(/\s+/g, ' ');
	expect(text).toContain(sentence.slice(page.length + 2));
});
