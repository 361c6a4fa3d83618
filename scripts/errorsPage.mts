import type { CauseClass, CODE_TABLE } from '../nodes/DeviceManagement/core/errors/codes.ts';

/** What has to happen for each cause. */
const CAUSES: Record<CauseClass, string> = {
	credential: 'Change the credential, its user or the rights of the user.',
	input: 'Change a value in the node.',
	'not found': 'The platform does not have what was requested.',
	conflict: 'The request does not fit the data on the platform.',
	platform: 'The platform could not do its part. The same request may succeed later.',
	unknown: 'The code does not tell.',
};

/**
 * Writes the page docs/errors.md.
 * @param table the codes in our words
 * @param texts the codes in the platform's words (section 7 of the API document)
 * @returns the whole page as Markdown
 */
export function renderErrorsPage(table: typeof CODE_TABLE, texts: ReadonlyMap<number, string>): string {
	const causes = Object.entries(CAUSES).map(([cause, meaning]) => `- **${cause}**: ${meaning}`);
	const rows = table.map(({ code, message, remedy, cause }) =>
		tableRow([`\`${code}\``, `\`${texts.get(code) ?? ''}\``, message, remedy, cause]),
	);
	return `# What the platform's codes mean

Every response of the platform carries a return code. 0 is success, anything else is a refusal. The node puts a refusal into
the words below: what happened is the error's message, what to do is its description. The message ends with the code and
the platform's own text. Where the operation has fields to check, the description names them.

A failed item of a node that is set to continue has the message in \`error\` and the code in \`details.code\`.

The causes:

${causes.join('\n')}

${[tableRow(['Code', 'Platform text', 'What happened', 'What to do', 'Cause']), tableRow(['---:', '---', '---', '---', '---']), ...rows].join('\n')}

This page is made from \`nodes/DeviceManagement/core/errors/codes.ts\` by \`npm run docs:errors\`.
`;
}

/** Returns a row of a table. A bar would begin a new column, also within code. */
function tableRow(cells: readonly string[]): string {
	return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}
