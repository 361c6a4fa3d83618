/** `npm run docs:errors`: writes the table of docs/errors.md from the code table. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { explain } from '../nodes/DeviceManagement/core/errors/failureOf.ts';
import { CODES } from '../nodes/DeviceManagement/core/errors/table.ts';
import { checkout } from '../testbed/checkout.mts';
import { codes } from '../testbed/platform/codes.mts';

/** All codes in the order of the document. */
export const CODE_TABLE = CODES.map(([code]) => ({ ...explain(code, 'test'), code }));

if (process.argv[1] === fileURLToPath(import.meta.url)) {
	const file = join(checkout, 'docs', 'errors.md');
	writeFileSync(file, withTable(readFileSync(file, 'utf8'), CODE_TABLE, new Map(codes)));
	process.stdout.write(`docs/errors.md holds ${CODE_TABLE.length} codes.\n`);
}

/**
 * Returns the page docs/errors.md with these rows in its table.
 * @param table the codes with their causes
 * @param texts the codes with the platform's texts (section 7 of the API document)
 */
export function withTable(page: string, table: typeof CODE_TABLE, texts: ReadonlyMap<number, string>): string {
	const failures = table.filter(({ code }) => code !== 0);
	const rows = failures.map(({ code, cause }) => `| \`${code}\` | \`${texts.get(code) ?? ''}\` | ${cause} |\n`);
	return page.replace(/(?<=^\| ---:.*\n)(\|.*\n)*/m, () => rows.join(''));
}
