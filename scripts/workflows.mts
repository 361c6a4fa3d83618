/**
 * Checks the workflow files with GitHub's own parser for editors, and by this repository's rules: part of `npm run lint`. It can't
 * check what only GitHub knows: runners, settings, and the inputs of an action.
 */
import { validate } from '@actions/languageservice';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { glob } from 'tinyglobby';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { z } from 'zod/v4';

import { checkout, readManifest } from '../testbed/checkout.mts';
import { problemsIn, problemsInAction } from './workflows/rules.mts';

const manifest = await readManifest(checkout);
const known = {
	scripts: Object.keys(z.record(z.string(), z.string()).parse(manifest['scripts'])),
	hasFile: (path: string) => existsSync(join(checkout, path)),
};
for (const file of (await glob(['.github/workflows/*', '.github/actions/*/*'], { cwd: checkout })).sort()) {
	const text = await readFile(join(checkout, file), 'utf8');
	const document = TextDocument.create(pathToFileURL(join(checkout, file)).href, 'yaml', 1, text);
	const found = (await validate(document)).map(({ range, message }) => `line ${range.start.line + 1}: ${message}`);
	const problems = [...found, ...(file.includes('/actions/') ? problemsInAction : problemsIn)(text, known)];
	console.log(`${problems.length === 0 ? '✔' : '✖'} ${file}`);
	for (const problem of problems) console.log(`    ${problem}`);
	if (problems.length > 0) process.exitCode = 1;
}
