import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { CODE_TABLE } from '../../nodes/DeviceManagement/core/codes.ts';
import { renderErrorsPage } from '../../scripts/errorsPage.mts';

const page = readFileSync(join(__dirname, '../../docs/errors.md'), 'utf8');

it('docs/errors.md is what the code table says now; if not: npm run docs:errors', () => {
	expect(page).toBe(renderErrorsPage(CODE_TABLE));
});

it('has a row of five cells for every code, in the order of the table', () => {
	const rows = page.split('\n').filter((line) => line.startsWith('| `'));
	expect(rows).toHaveLength(CODE_TABLE.length);
	for (const [position, { code, text, message, remedy, cause }] of CODE_TABLE.entries()) {
		const cells = rows[position]?.split(/(?<!\\)\|/).slice(1, -1).map((cell) => cell.trim());
		expect(cells).toEqual([`\`${code}\``, `\`${text}\``, message, remedy, cause]);
	}
});

it('says what each cause means', () => {
	for (const cause of new Set(CODE_TABLE.map((row) => row.cause))) expect(page).toMatch(new RegExp(`^- \\*\\*${cause}\\*\\*: \\S`, 'm'));
});

it('a bar in a text starts no new column', () => {
	const [row] = CODE_TABLE;
	if (row === undefined) throw new Error('The table is empty');
	expect(renderErrorsPage([{ ...row, text: 'a | b' }])).toContain('| `a \\| b` |');
});
