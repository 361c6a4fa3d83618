/**
 * The rows of a platform check: their names and order, what a row says, and the verdict on all of them. The command prints them as a
 * table or as JSON. It sends no request and judges no response.
 */
import type { FailureDetails } from '../../nodes/DeviceManagement/core/failure.ts';
import { bold, tableOf } from '../terminal.mts';
import { inWords, isRefusal } from './probe.mts';

/** What a check can find out, in the order of the table. */
const CHECKS = {
	signIn: 'Sign-in',
	list: 'Device list',
	severalPages: 'Several pages',
	pageSize: 'Largest page size',
	totals: 'Total',
	sort: 'Sort by time',
	filters: 'Filters',
	get: 'Get by serial number',
	unknownSerialNumber: 'Unknown serial number',
	onlineStatus: 'Field onlineStatus',
} as const;

export type CheckId = keyof typeof CHECKS;

/** Without these the nodes don't work. */
const ESSENTIAL: ReadonlySet<CheckId> = new Set(['signIn', 'list', 'severalPages', 'get']);

export const MARKS = { yes: '✓', no: '✗', unsure: '?' } as const;

/** What one check found. */
export interface Finding {
	/** `unsure`: the check could not tell. */
	result: keyof typeof MARKS;
	/** What the platform does, in a few words. Of devices, it holds counts and short status values only. */
	found: string;
	/** What that means for the nodes: one line. */
	advice: string;
}

export type Findings = Partial<Record<CheckId, Finding>>;

export interface Row extends Finding {
	id: CheckId;
	check: string;
	essential: boolean;
}

export const yes = (found: string, advice: string): Finding => ({ result: 'yes', found, advice });
export const no = (found: string, advice: string): Finding => ({ result: 'no', found, advice });
export const unsure = (found: string, advice: string): Finding => ({ result: 'unsure', found, advice });
export const RUN_AGAIN = 'Run the check again.';

/** What a refusal shows. Any other failure may pass, so the check can't tell. */
export function ifRefused(refusal: FailureDetails, finding: (words: string) => Finding): Finding {
	const words = inWords(refusal);
	return isRefusal(refusal) ? finding(words) : unsure(words, RUN_AGAIN);
}

/**
 * The rows of the table, one for each check.
 * @param missing for a check without a finding
 */
export function rowsOf(findings: Findings, missing: Finding): Row[] {
	const ids = Object.keys(CHECKS).filter((id): id is CheckId => id in CHECKS);
	return ids.map((id) => ({
		id,
		check: CHECKS[id],
		essential: ESSENTIAL.has(id),
		...(findings[id] ?? missing),
	}));
}

/** Whether the nodes work with the platform, by the essential rows, and the exit code of the command. */
export function verdictOn(rows: readonly Row[]): { verdict: string; exitCode: number; conclusion: string } {
	const verdicts = [
		['no', 'missing', 1, 'The nodes do not work with this platform yet'],
		['unsure', 'unsure', 2, 'The check could not tell whether the nodes work with this platform'],
	] as const;
	for (const [result, verdict, exitCode, conclusion] of verdicts) {
		const names = rows.filter((row) => row.essential && row.result === result).map(({ check }) => check);
		if (names.length > 0) return { verdict, exitCode, conclusion: `${conclusion}: ${names.join(', ')}.` };
	}
	return { verdict: 'works', exitCode: 0, conclusion: 'The nodes work with this platform.' };
}

/** The report for people: a table and a conclusion. */
export function asTable(rows: readonly Row[], width: number): string {
	const [mark, check, found] = [3, 24, 30];
	const table = tableOf(
		rows.map((row) => [MARKS[row.result], row.essential ? `${row.check} *` : row.check, row.found, row.advice]),
		{
			head: ['', 'Check', 'Your platform', 'What it means'],
			wordWrap: true,
			// The frame takes five columns.
			colWidths: [mark, check, found, Math.max(30, width - mark - check - found - 5)],
		},
	);
	return [
		table,
		'✓ yes   ✗ no   ? not sure   * essential',
		'',
		bold(verdictOn(rows).conclusion),
		'Nothing was changed on the platform.',
	].join('\n');
}

/**
 * The report for machines, as JSON. It holds no secret, no address and no device.
 * @param by name and version of this package
 */
export function asJson(rows: readonly Row[], by: string): string {
	const { verdict } = verdictOn(rows);
	return JSON.stringify({ package: by, verdict, rows }, undefined, 2);
}
