import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { CODE_TABLE } from '../../nodes/DeviceManagement/core/errors/codes.ts';
import { renderErrorsPage } from '../../scripts/errorsPage.mts';
import { codes } from '../../testbed/platform/codes.mts';

const page = readFileSync(join(__dirname, '../../docs/errors.md'), 'utf8');

it('docs/errors.md is up to date with the code table; if not, run npm run docs:errors', () => {
	expect(page).toBe(renderErrorsPage(CODE_TABLE, new Map(codes)));
});

it('says what each cause means', () => {
	for (const cause of new Set(CODE_TABLE.map((row) => row.cause)))
		expect(page).toMatch(new RegExp(`^- \\*\\*${cause}\\*\\*: \\S`, 'm'));
});

it('says which codes are temporary, and what that means', () => {
	const page = renderErrorsPage([{ ...CODE_TABLE[0]!, cause: 'platform', temporary: true }], new Map());
	expect(page).toMatch(/^- \*\*temporary\*\*: .*retries a read/m);
	expect(page).toContain('| platform, temporary |');
});

it('a bar in a text starts no new column', () => {
	expect(renderErrorsPage(CODE_TABLE, new Map([[10003, 'a | b']]))).toContain('| `a \\| b` |');
});
