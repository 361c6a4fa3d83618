/**
 * Checks the workflow files with GitHub's own parser for editors: part of `npm run lint`. It can't check what only GitHub knows: runners,
 * settings, and the inputs of an action. This repository's rules are in test/scripts/workflows.test.mts.
 */
import { validate } from '@actions/languageservice';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { glob } from 'tinyglobby';
import { TextDocument } from 'vscode-languageserver-textdocument';

import { checkout } from '../testbed/checkout.mts';

for (const file of (await glob(['.github/workflows/*', '.github/actions/*/*'], { cwd: checkout })).sort()) {
	const text = await readFile(join(checkout, file), 'utf8');
	const document = TextDocument.create(pathToFileURL(join(checkout, file)).href, 'yaml', 1, text);
	const found = await validate(document);
	console.log(`${found.length === 0 ? '✔' : '✖'} ${file}`);
	for (const { range, message } of found) console.log(`    line ${range.start.line + 1}: ${message}`);
	if (found.length > 0) process.exitCode = 1;
}
