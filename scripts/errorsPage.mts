import type { CauseClass, CodeExplanation } from '../nodes/DeviceManagement/core/codes.ts';

/** What each cause class asks of the person who reads the message. */
const CAUSES: Record<CauseClass, string> = {
	credential: 'The credential, the user behind it or its rights have to change.',
	input: 'A value in the node has to change.',
	'not found': 'What was asked for is not there.',
	conflict: 'What was asked for does not fit what the platform holds.',
	platform: 'The platform could not do its part; the same request may succeed later.',
	unknown: 'The code does not tell.',
};

/**
 * Writes the page docs/errors.md.
 * @param table the platform's codes with the words a person gets (section 7 of the API document)
 * @returns the whole page as Markdown
 */
export function renderErrorsPage(table: readonly CodeExplanation[]): string {
	const causes = Object.entries(CAUSES).map(([cause, meaning]) => `- **${cause}**: ${meaning}`);
	const rows = table.map(({ code, text, message, remedy, cause }) =>
		tableRow([`\`${code}\``, `\`${text}\``, message, remedy, cause]),
	);
	return `# What the platform's codes mean

Every answer of the platform carries a return code; 0 is success, anything else is a refusal. The nodes put a refusal into
the words below: what happened is the error's message, what to do is its description, which ends with the code and the
platform's own text. Where that text has a detail in place of \`%s\`, the message ends with it. Where the operation
has fields for what is to be checked, the description names them. A code that is not in the table is shown as it came.

A failed item of a node that is set to continue has the message in \`error\` and the code in \`details.code\`.

The causes:

${causes.join('\n')}

${[tableRow(['Code', 'Platform text', 'What happened', 'What to do', 'Cause']), tableRow(['---:', '---', '---', '---', '---']), ...rows].join('\n')}

This page is made from \`nodes/DeviceManagement/core/codes.ts\` by \`npm run docs:errors\`.
`;
}

/** A bar would begin a new column, also within code. */
function tableRow(cells: readonly string[]): string {
	return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}
