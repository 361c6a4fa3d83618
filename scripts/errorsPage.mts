import type { CODE_TABLE } from '../nodes/DeviceManagement/core/errors/codes.ts';
import type { CauseClass } from '../nodes/DeviceManagement/core/failure.ts';

/** What to do for each cause. */
const CAUSES: Record<CauseClass, string> = {
	credential: 'Change the credential, its user or the rights of the user.',
	input: 'Change a value in the node.',
	'not found': 'The platform does not have what was requested.',
	conflict: 'The request does not fit the data on the platform.',
	platform: 'The platform could not do its part. The same request may succeed later.',
	unknown: 'The code does not say what to change.',
};

/**
 * Writes the page docs/errors.md.
 * @param table the codes with the node's messages
 * @param texts the codes with the platform's texts (section 7 of the API document)
 * @returns the whole page as Markdown
 */
export function renderErrorsPage(table: typeof CODE_TABLE, texts: ReadonlyMap<number, string>): string {
	const causes = Object.entries(CAUSES).map(([cause, meaning]) => `- **${cause}**: ${meaning}`);
	if (table.some(({ temporary }) => temporary)) {
		causes.push(
			'- **temporary**: The same request may succeed later. The node retries a read, as often as _Max Retries_ says.',
		);
	}
	const rows = table.map(({ code, message, remedy, cause, temporary }) =>
		tableRow([
			`\`${code}\``,
			`\`${texts.get(code) ?? ''}\``,
			message,
			remedy,
			temporary ? `${cause}, temporary` : cause,
		]),
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
