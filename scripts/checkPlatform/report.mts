import Table from 'cli-table3';

import { bold, plain } from '../demo/tables.mts';
import { MOST_REQUESTS } from './requests.mts';
import { type Row, type Verdict, verdictOn } from './rows.mts';

/** A finished platform check. */
export interface Report {
	/** Name and version of this package. */
	package: string;
	rows: readonly Row[];
	/** HTTP requests sent. */
	requests: number;
}

export const MARKS: Readonly<Record<Row['result'], string>> = { yes: '✓', no: '✗', unsure: '?' };

/** The exit code of the command: 0 works, 1 something essential is missing, 2 an essential row is not sure. */
export const EXIT_CODES: Readonly<Record<Verdict, number>> = { works: 0, missing: 1, unsure: 2 };

/** The report for people: a table and a conclusion. */
export function asTable({ rows, requests }: Report, width: number): string {
	const [mark, check, found] = [3, 24, 30];
	const table = new Table({
		head: ['', 'Check', 'Your platform', 'What it means'].map(bold),
		style: { head: [], border: [], compact: true },
		wordWrap: true,
		// The frame takes five columns.
		colWidths: [mark, check, found, Math.max(30, width - mark - check - found - 5)],
	});
	for (const row of rows) {
		const name = row.essential ? `${row.check} *` : row.check;
		table.push([MARKS[row.result], name, plain(row.found), plain(row.advice)]);
	}
	const counts = (['yes', 'no', 'unsure'] as const).map(
		(result) => `${rows.filter((row) => row.result === result).length} ${MARKS[result]}`,
	);
	return [
		table.toString(),
		'✓ yes   ✗ no   ? not sure   * essential',
		'',
		bold(conclusion(rows)),
		`${counts.join(', ')} with ${requests} of at most ${MOST_REQUESTS} requests. Nothing was changed on the platform.`,
	].join('\n');
}

/** The report for machines, as JSON. It holds no secret, no address and no device. */
export function asJson({ package: name, rows, requests }: Report): string {
	const report = { package: name, verdict: verdictOn(rows), requests, mostRequests: MOST_REQUESTS, rows };
	return JSON.stringify(report, undefined, 2);
}

function conclusion(rows: readonly Row[]): string {
	const named = (result: Row['result']) =>
		rows
			.filter((row) => row.essential && row.result === result)
			.map(({ check }) => check)
			.join(', ');
	switch (verdictOn(rows)) {
		case 'works':
			return 'The nodes work with this platform.';
		case 'missing':
			return `The nodes do not work with this platform yet: ${named('no')}.`;
		case 'unsure':
			return `The check could not tell whether the nodes work with this platform: ${named('unsure')}.`;
	}
}
