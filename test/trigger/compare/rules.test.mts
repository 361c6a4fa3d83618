import fc from 'fast-check';

import { keep, textOf } from '../../../nodes/DeviceManagement/trigger/compare/kept.ts';
import { isAskedFor, isMet, onlyWhenField, readRules } from '../../../nodes/DeviceManagement/trigger/compare/rules.ts';
import { watchedFields } from '../../../nodes/DeviceManagement/trigger/compare/watched.ts';
import { runs } from '../../../testbed/runs.mts';
import { everyField } from '../../form.mts';
import { text, value } from './values.mts';

const fields = watchedFields(new Set(['onlineStatusChanged', 'statusChanged']), []);
const [field] = fields;
if (field === undefined) throw new Error('No field is watched');
const change = (from: unknown, to: number) => ({
	sn: 'A',
	device: { onlineStatus: to },
	field,
	previous: keep(typeof from === 'number' || typeof from === 'string' ? from : null),
	current: keep(to),
});
const rule = (from: string, to: string, name = field.name) => ({ field: name, from, to });

it.each([
	[[], true],
	[[rule('', '')], true],
	[[rule('1', '0')], true],
	[[rule('1', '')], true],
	[[rule('', '0')], true],
	[[rule('2', '0')], false],
	[[rule('1', '1')], false],
	[[rule('2', ''), rule('', '0')], true],
	[[rule('2', '2', 'status')], true],
])('%j: %p', (given, expected) => {
	// As the trigger reads them.
	const rules = readRules((_, fallback) => (given.length === 0 ? fallback : { rule: given }), fields);
	expect(isAskedFor(rules, change(1, 0))).toBe(expected);
});

it('a rule without values is read as the form shows it', () => {
	const values = everyField([onlyWhenField]).filter(({ path }) => path.startsWith('conditions.rule.'));
	const shown = Object.fromEntries(values.map(({ property }) => [property.name, property.default]));
	const read = (given: object) => readRules(() => ({ rule: [given] }), fields);
	expect(read({})).toEqual(read(shown));
});

it('accepts the text of a value, also where only a digest was kept', () => {
	fc.assert(
		fc.property(value, text, (one, other) => {
			expect(isMet(rule(textOf(one), ''), 'from', keep(one))).toBe(true);
			expect(isMet(rule('', other), 'to', keep(one))).toBe(other === '' || textOf(one) === other);
		}),
		runs(1000),
	);
	expect([textOf('1'), textOf(1), textOf({ b: 1, a: null })]).toEqual(['1', '1', '{"a":null,"b":1}']);
});
