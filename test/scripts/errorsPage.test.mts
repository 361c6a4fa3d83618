import { CODE_TABLE, withTable } from '../../scripts/errorsPage.mts';
import { readPage } from '../../testbed/pages.mts';
import { codes } from '../../testbed/platform/codes.mts';

const page = readPage('docs/errors.md');

it('docs/errors.md is up to date with the code table; if not, run npm run docs:errors', () => {
	expect(page).toBe(withTable(page, CODE_TABLE, new Map(codes)));
	const explained = [...page.matchAll(/^- \*\*(.+):\*\* /gm)].map(([, cause]) => cause);
	expect(new Set(explained)).toEqual(new Set(CODE_TABLE.map(({ cause }) => cause)));
});
