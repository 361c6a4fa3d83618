/**
 * Which changes the conditions of the form let pass. Only {@link isMet} compares a condition with a value. It doesn't read the form
 * (ruleForm.ts), and doesn't decide how long a value must last (step.ts).
 */
import { isRecord } from '../../core/json';
import { trimmed } from '../../core/text';
import type { Change } from './events';
import { isSame, keep, type Kept, partOf, textOf } from './values';

/** A condition: report only changes between these values. `field` is the name of a watched field. */
export interface ChangeRule {
	readonly field: string;
	readonly from: string;
	readonly to: string;
	/** On which side of the number in `to` the value must be. Otherwise it must be `to` itself. */
	readonly limit?: 'above' | 'below' | undefined;
}

/** Whether to report a change. Before a state that wasn't reported yet, nothing is known: only a rule for the state counts. */
export function isAskedFor(rules: readonly ChangeRule[], { field, previous, current }: Change): boolean {
	if (previous === undefined) return asksForState(rules, field.name, current);
	const own = rulesFor(rules, field.name);
	const asks = (rule: ChangeRule) =>
		isMet(rule, 'from', previous) && isMet(rule, 'to', current) && !isBeyond(rule, lastNumberOf(previous, field.name));
	return own.length === 0 || own.some(asks);
}

/** Whether no rule asks for a change, but a rule asks for a change from its new value. */
export function leadsToRule(rules: readonly ChangeRule[], change: Change): boolean {
	const { field, current } = change;
	return rulesFor(rules, field.name).some((rule) => isMet(rule, 'from', current)) && !isAskedFor(rules, change);
}

/** Whether a rule with 'To' and without 'From' accepts a value: it asks for a state, whatever was before. */
export function asksForState(rules: readonly ChangeRule[], field: string, value: Kept): boolean {
	return rulesFor(rules, field).some((rule) => isForState(rule) && isMet(rule, 'to', value));
}

export function isForState({ from, to }: ChangeRule): boolean {
	return from === '' && to !== '';
}

/** Whether two values are the same, or no rule with a limit tells them apart: a battery at 19 and at 18, if the limit is 20. */
export function isAlike(rules: readonly ChangeRule[], field: string, one: Kept, other: Kept): boolean {
	if (isSame(one, other, field)) return true;
	const own = rulesFor(rules, field);
	const sideOf = (rule: ChangeRule, value: Kept) => [
		isMet(rule, 'from', value),
		rule.limit === undefined ? isMet(rule, 'to', value) : isBeyond(rule, lastNumberOf(value, field)),
	];
	// A rule without a value asks for every change.
	const asksForAll = own.some(({ from, to }) => from + to === '');
	return hasLimit(own) && !asksForAll && own.every((rule) => `${sideOf(rule, one)}` === `${sideOf(rule, other)}`);
}

/** Returns a value with the last number before it, if rules have a limit and the value isn't a number. */
export function bridgeGap(rules: readonly ChangeRule[], field: string, value: Kept, before: Kept = null): Kept {
	if (!hasLimit(rulesFor(rules, field)) || !Number.isNaN(numberOf(value, field))) return value;
	const last = lastNumberOf(before, field);
	return Number.isNaN(last) ? value : { id: partOf(value, 'id'), shown: partOf(value, 'shown'), last };
}

/** Whether a value isn't a number, and the last number before it is known. */
export function isGap(value: Kept): value is Kept & { last: number } {
	return isRecord(value) && 'last' in value;
}

/** Whether a rule accepts a value before or after a change: its text is empty, or is what users see, or its limit is passed. */
export function isMet(rule: ChangeRule, side: 'from' | 'to', value: Kept): boolean {
	const { field, limit, [side]: text } = rule;
	if (side === 'to' && limit !== undefined) return isBeyond(rule, numberOf(value, field));
	return text === '' || textOf(keep(text), field) === shownText(value, field);
}

/** Returns the number of a value, or of the text of one; NaN if it isn't one. */
export function numberOf(value: Kept, field: string): number {
	const text = shownText(value, field);
	return /^[-+.\d]+(e[-+]?\d\d?)?$/i.test(text) ? Number(text) : NaN;
}

/** Returns the text of a value that a rule is compared with. */
export function shownText(value: Kept, field: string): string {
	return trimmed(textOf(partOf(value, 'shown'), field));
}

function lastNumberOf(value: Kept, field: string): number {
	return isGap(value) ? value.last : numberOf(value, field);
}

function isBeyond({ limit, to }: ChangeRule, number: number): boolean {
	return limit === 'below' ? number < Number(to) : limit === 'above' && number > Number(to);
}

function hasLimit(rules: readonly ChangeRule[]): boolean {
	return rules.some(({ limit }) => limit !== undefined);
}

export function rulesFor(rules: readonly ChangeRule[], field: string): ChangeRule[] {
	return rules.filter((rule) => rule.field === field);
}
