/** `npm run docs:errors`: writes docs/errors.md from the code table. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { CODE_TABLE } from '../nodes/DeviceManagement/core/errors/codes.ts';
import type { CauseClass } from '../nodes/DeviceManagement/core/failure.ts';
import { checkout } from '../testbed/checkout.mts';
import { codes } from '../testbed/platform/codes.mts';

/** What to do for each cause. */
const CAUSES: Record<CauseClass, string> = {
	credential: 'Change the credential, its user or the rights of the user.',
	input: 'Change a value in the node.',
	'not found': 'The platform does not have what was requested.',
	conflict: 'The request does not fit the data on the platform.',
	platform: 'The platform could not do its part. The same request may succeed later.',
	unknown: 'The code does not say what to change.',
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
	writeFileSync(join(checkout, 'docs', 'errors.md'), renderErrorsPage(CODE_TABLE, new Map(codes)));
	process.stdout.write(`docs/errors.md holds ${CODE_TABLE.length} codes.\n`);
}

/**
 * Returns the page docs/errors.md as Markdown.
 * @param table the codes with the node's messages
 * @param texts the codes with the platform's texts (section 7 of the API document)
 */
export function renderErrorsPage(table: typeof CODE_TABLE, texts: ReadonlyMap<number, string>): string {
	const causes = Object.entries(CAUSES).map(([cause, meaning]) => `- **${cause}**: ${meaning}`);
	const rows = table.map(({ code, message, remedy, cause }) =>
		tableRow([`\`${code}\``, `\`${texts.get(code) ?? ''}\``, message, remedy, cause]),
	);
	return `# What the platform's codes mean

Every response of the platform has a return code. 0 means success. For every other code, the node shows an error:

- The message is the text under “What happened”, or a clearer one, with the code and the platform's own text.
- Below the message is the text under “What to do”. If the operation has fields to check, it names them.

If the node continues after an error, the failed item has the message in \`error\` and the code in \`details.code\`.

The causes:

${causes.join('\n')}

${[tableRow(['Code', 'Platform text', 'What happened', 'What to do', 'Cause']), tableRow(['---:', '---', '---', '---', '---']), ...rows].join('\n')}

\`npm run docs:errors\` generates this page from \`nodes/DeviceManagement/core/errors/codes.ts\`.
`;
}

/** Returns a row of a table. A bar would begin a new column, also within code. */
function tableRow(cells: readonly string[]): string {
	return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}
