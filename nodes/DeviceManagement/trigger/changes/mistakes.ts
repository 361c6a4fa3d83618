import { cleanText, countTexts } from '../../core/text';
import { type ChangeRule, isMet, numberOf, rulesFor, shownText } from './rules';
import type { Kept } from './values';
import { type WatchedField, wordsFor } from './watched';

const FEW = 10;

/**
 * Returns words on the first rule for a field that no value matches, nor any of the kind that exists: probably, it has a typing error.
 * @param values those of all devices
 */
export function findMistake(rules: readonly ChangeRule[], field: WatchedField, values: readonly Kept[]) {
	for (const rule of rulesFor(rules, field.name)) {
		const side = (['from', 'to'] as const).find((each) => !mayMatch(rule, each, values));
		if (side === undefined) continue;
		const what = `${side === 'to' && rule.limit ? `a number ${rule.limit} ` : ''}"${rule[side]}"`;
		const texts = values.map((value) => shownText(value, field.name).replace(/^\0.*/, 'a long text'));
		const counts = countTexts(texts).map(([text, count]) => `${cleanText(text)} (${count})`);
		const others = counts.length > FEW ? ` and ${counts.length - FEW} others` : '';
		return {
			message: `No device has ${what} in ${wordsFor(field)}`,
			found: `${counts.slice(0, FEW).join(', ') || 'an empty text'}${others}`,
			remedy: `Correct '${side === 'to' ? 'To' : 'From'}' under 'Conditions'.`,
		};
	}
	return undefined;
}

function mayMatch(rule: ChangeRule, side: 'from' | 'to', values: readonly Kept[]): boolean {
	if (values.length === 0 || values.some((value) => isMet(rule, side, value))) return true;
	if (rule.field === 'onlineStatus') return ['0', '1'].some((status) => isMet(rule, side, status));
	const given = values.filter((value) => !/^(null)?$/.test(shownText(value, rule.field)));
	if (given.length === 0 || rule[side] === 'null') return true;
	if (side === 'to' && rule.limit) return given.some((value) => !Number.isNaN(numberOf(value, rule.field)));
	return given.some((value) => looksLikeNumber(shownText(value, rule.field)) === looksLikeNumber(rule[side]));
}

/** Also a version, a date or a value with a unit. */
const looksLikeNumber = (text: string) => /^[-+.]*\d/.test(text);
