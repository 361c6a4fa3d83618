import { keep } from '../../nodes/DeviceManagement/trigger/changes/values.ts';
import { conditionsField, readRules, refuseUnwatched } from '../../nodes/DeviceManagement/trigger/form/ruleForm.ts';
import { isAskedFor, isMet, numberOf } from '../../nodes/DeviceManagement/trigger/changes/rules.ts';
import { watchedFields } from '../../nodes/DeviceManagement/trigger/changes/watched.ts';
import { everyField } from '../../testbed/form.mts';

const ALL = ['onlineStatusChanged', 'statusChanged', 'attributeChanged'];
const fields = watchedFields(new Set(ALL), ['a']);
/** The rules as the trigger reads them. */
const read = (...given: object[]) => {
	const rules = readRules((_, fallback) => (given.length === 0 ? fallback : { rule: given }));
	refuseUnwatched(rules, fields);
	return rules;
};
const rule = (from: string, to: string, field = 'onlineStatus') => ({ field, from, to });

it.each<[ReturnType<typeof rule>[], boolean]>([
	[[rule('', '')], true],
	[[rule('1', '0')], true],
	[[rule('2', '0')], false],
	[[rule('1', '1')], false],
	[[rule('2', ''), rule('', '0')], true],
	[[rule('2', '2', 'status')], true],
])('with the rules %j, a change of the online status from 1 to 0 is reported: %p', (rules, expected) => {
	const [field] = fields;
	if (field === undefined) throw new Error('No field is watched');
	const change = { sn: 'A', device: {}, field, previous: keep(1), current: keep(0) };
	expect(isAskedFor(read(...rules), change)).toBe(expected);
});

it('a rule without values is read as the form shows it', () => {
	const values = everyField([conditionsField]).filter(({ path }) => path.startsWith('conditions.rule.'));
	const shown = Object.fromEntries(values.map(({ property }) => [property.name, property.default]));
	expect(read({})).toEqual(read(shown));
	expect(read({ field: 'attributes', attribute: ' a ' })).toMatchObject([rule('', '', 'attributes.a')]);
});

it('accepts the text of a value, also where only a digest was kept', () => {
	const long = ['x'.repeat(101), '["' + 'y'.repeat(101) + '"]'];
	const texts = ['null', 'true', '7', '{"a":null,"b":[1]}', ...long];
	const values = [null, true, 7, { b: [1], a: null }, long[0], ['y'.repeat(101)]] as const;
	for (const [index, value] of values.entries()) {
		expect(isMet(rule(texts[index] ?? '', '', 'a'), 'from', keep(value))).toBe(true);
		expect(texts.filter((text) => isMet(rule('', text, 'a'), 'to', keep(value)))).toEqual([texts[index]]);
	}
	const [{ from, to } = rule('', '')] = read({ from: ' offline\n', to: ' ' });
	expect([from, to, isMet(rule('offline', ''), 'from', keep(' offline '))]).toEqual(['offline', '', true]);
	// Of a status, a boolean is a number.
	for (const field of ['status', 'onlineStatus'])
		for (const one of [1, '1', true, 'true'])
			for (const to of ['1', 'true', '0', 'false'])
				expect(isMet(rule('', to, field), 'to', keep(one))).toBe(['1', 'true'].includes(to));
});

it('a limit is compared with a number, also in a text', () => {
	// State that n8n keeps can't contain an infinite number.
	const none = ['1e999', 'Infinity', '19 %', '', null].map((text) => [text, NaN] as const);
	for (const [value, number] of [[' 20 ', 20], ['020', 20], ['-1.5e1', -15], ...none] as const)
		expect([value, numberOf(keep(value), 'a')]).toEqual([value, number]);
});
