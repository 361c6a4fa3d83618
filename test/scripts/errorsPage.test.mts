import { CODE_TABLE } from '../../nodes/DeviceManagement/core/errors/codes.ts';
import { renderErrorsPage } from '../../scripts/errorsPage.mts';
import { readPage } from '../../testbed/pages.mts';
import { codes } from '../../testbed/platform/codes.mts';

it('docs/errors.md is up to date with the code table; if not, run npm run docs:errors', () => {
	expect(readPage('docs/errors.md')).toBe(renderErrorsPage(CODE_TABLE, new Map(codes)));
});

it('a bar in a text starts no new column', () => {
	const rows = CODE_TABLE.slice(0, 1);
	const page = renderErrorsPage(rows, new Map(rows.map(({ code }) => [code, 'a | b'])));
	expect(page).toMatch(/`a \\\| b` .*\| unknown \|$/m);
});
