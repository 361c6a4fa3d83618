/** CONTRIBUTING names only what exists. Its commands and links are tested with those of all pages. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { globSync } from 'tinyglobby';

import { checkout } from '../testbed/checkout.mts';
import { codeOn } from '../testbed/pages.mts';

const files = globSync('{nodes,credentials,testbed,test,scripts}/**/*.{ts,mts}', { cwd: checkout });
const sources = files.map((file) => readFileSync(join(checkout, file), 'utf8')).join();
const words = new Set(sources.match(/[\w$]+/g));

/** A file or a folder. Paths without a top folder are in the folder of the nodes. `<name>` is any name. */
function isThere(path: string): boolean {
	const pattern = path.replace(/\/$/, '').replace(/<\w+>/g, '*');
	return ['', 'nodes/DeviceManagement'].some((folder) => {
		const options = { cwd: join(checkout, folder), onlyFiles: false };
		return pattern.includes('*') ? globSync(pattern, options).length > 0 : existsSync(join(options.cwd, pattern));
	});
}

test.each(
	codeOn('CONTRIBUTING.md').filter((code) => !/^(npm|[A-Z_\d]+=|bash|docker|\.m?ts$|--|get-many|alert)/.test(code)),
)('%s exists', (name) => expect(/[/.]/.test(name) ? isThere(name) : words.has(name)).toBe(true));
