import { keep, textOf as textOfKept } from '../../nodes/DeviceManagement/trigger/values.ts';
import { conditionsField, readRules, refuseUnwatched } from '../../nodes/DeviceManagement/trigger/ruleForm.ts';
import { isAskedFor, isMet, numberOf } from '../../nodes/DeviceManagement/trigger/rules.ts';
import { watchedFields } from '../../nodes/DeviceManagement/trigger/watched.ts';
import { everyField } from '../form.mts';

/** The text that a rule needs to match a value. */
const textOf = (value: unknown, field: string) =>
	typeof value === 'string' && value.length > 100
		? value
		: (textOfLong(value) ?? textOfKept(keep(value as never), field));
const textOfLong = (value: unknown) =>
	JSON.stringify(value)?.length > 100 && typeof value !== 'string' ? JSON.stringify(value) : undefined;
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
	const values = [null, true, 7, '7', 'true', '', { a: [1] }, 'x'.repeat(101), ['y'.repeat(101)]];
	for (const one of values) {
		expect(isMet(rule(textOf(one, 'a'), '', 'a'), 'from', keep(one))).toBe(true);
		for (const other of values.map((value) => textOf(value, 'a')))
			expect(isMet(rule('', other, 'a'), 'to', keep(one))).toBe(other === '' || textOf(one, 'a') === other);
	}
	const [{ from, to } = rule('', '')] = read({ from: ' offline\n', to: ' ' });
	expect([from, to, isMet(rule('offline', ''), 'from', keep(' offline '))]).toEqual(['offline', '', true]);
	expect(['1', 1, { b: 1, a: null }].map((value) => textOf(value, 'a'))).toEqual(['1', '1', '{"a":null,"b":1}']);
	// Of a status, a boolean is a number.
	for (const field of ['status', 'onlineStatus'])
		for (const one of [1, '1', true, 'true'])
			for (const to of ['1', 'true', '0', 'false'])
				expect(isMet(rule('', to, field), 'to', keep(one))).toBe(['1', 'true'].includes(to));
});

it.each<[given: object, words: string]>([
	[{ from: { mode: 'text', value: undefined } }, "'Conditions' has a value of the wrong type"],
	[{ from: { mode: 'list' } }, "'Conditions' has a value of the wrong type"],
	[{ to: { mode: 'text', value: undefined } }, "'Conditions' has a value of the wrong type"],
	[{ to: { mode: 'below', value: undefined } }, "'To' under 'Conditions' is empty instead of a number"],
	[{ to: { mode: 'below', value: true } }, `'To' under 'Conditions' is "true" instead of a number`],
	[{ to: { mode: 'above', value: '1e999' } }, `'To' under 'Conditions' is "1e999" instead of a number`],
])('a condition whose expression gives no value is refused: %j', (given, words) => {
	expect(() => read(given)).toThrow(words);
});

it.each<[value: unknown, number: number]>([
	[' 20 ', 20],
	['020', 20],
	['-1.5e1', -15],
	// State that n8n keeps can't contain an infinite number.
	['1e999', NaN],
	['Infinity', NaN],
	['19 %', NaN],
	['', NaN],
	[null, NaN],
])('of %j, a limit is compared with %d', (value, number) => {
	expect(numberOf(keep(value as never), { name: 'a' })).toBe(number);
});
