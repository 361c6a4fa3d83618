import { remarkOn } from '../../nodes/DeviceManagement/core/remark.ts';

const steady = { items: ['a', 'b'], metOtherwise: [], settled: true, reportedTotal: 2, passes: 1 };

test('a settled list of as many devices as the platform counts needs no words', () => {
	expect(remarkOn(steady, {})).toBeUndefined();
	expect(remarkOn({ ...steady, reportedTotal: undefined }, {})).toBeUndefined();
	expect(remarkOn({ ...steady, reportedTotal: 100 }, { limit: 2 })).toBeUndefined();
});

test('a platform that counts other than it lists is quoted with both numbers', () => {
	expect(remarkOn({ ...steady, reportedTotal: 3, passes: 2 }, {})).toBe(
		'The platform reports 3 devices but lists 2 in each of 2 readings. The output holds the ones it lists.',
	);
});

test('so is one that lists fewer than the limit, and counts otherwise', () => {
	const remark = (reportedTotal: number, limit: number, skip = 0) => remarkOn({ ...steady, reportedTotal, passes: 2 }, { limit, skip });
	expect(remark(3, 3)).toBe('The platform reports 3 devices but lists 2 in each of 2 readings. The output holds the ones it lists.');
	expect(remark(250, 200)).toMatch(/^The platform reports 250 devices but lists 2 in/);
	expect(remark(1, 3)).toMatch(/^The platform reports 1 devices but lists 2 in/);
	expect(remark(250, 200, 100)).toMatch(/^The platform reports 150 devices after the first 100 but lists 2 in/);
	expect(remark(2, 3)).toBeUndefined();
	expect(remark(250, 2)).toBeUndefined();
	expect(remark(102, 200, 100)).toBeUndefined();
});

test('an unsettled list says how many devices any reading met', () => {
	const unsettled = { ...steady, metOtherwise: ['c'], settled: false, passes: 3 };
	expect(remarkOn(unsettled, {})).toMatch(/also on the last of 3 readings\. .* every device that any reading met, 3 in all;/);
	expect(remarkOn(unsettled, { limit: 3 })).toMatch(/also on the last of 3 readings\. .* the first 3 devices of that reading;/);
});

test('a part says what it left out', () => {
	const part = { ...steady, reportedTotal: 102 };
	expect(remarkOn(part, { skip: 100 })).toBeUndefined();
	expect(remarkOn({ ...part, items: [], reportedTotal: 60 }, { skip: 100 })).toBeUndefined();
	expect(remarkOn({ ...part, reportedTotal: 103, passes: 2 }, { skip: 100 })).toBe(
		'The platform reports 3 devices after the first 100 but lists 2 in each of 2 readings. The output holds the ones it lists.',
	);
	const unsettled = { ...part, settled: false, passes: 3 };
	expect(remarkOn(unsettled, { skip: 100, limit: 2 })).toMatch(/The output holds 2 devices of that reading after the first 100;/);
	expect(remarkOn(unsettled, { skip: 100 })).toMatch(/every device that any reading met after the first 100, 2 in all;/);
});
