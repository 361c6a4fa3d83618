/**
 * Writes docs/errors.md from the code table: `npm run docs:errors`.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { CODE_TABLE } from '../nodes/DeviceManagement/core/errors/codes.ts';
import { checkout } from '../testbed/checkout.mts';
import { codes } from '../testbed/platform/codes.mts';
import { renderErrorsPage } from './errorsPage.mts';

await writeFile(join(checkout, 'docs', 'errors.md'), renderErrorsPage(CODE_TABLE, new Map(codes)));
process.stdout.write(`docs/errors.md holds ${CODE_TABLE.length} codes.\n`);
