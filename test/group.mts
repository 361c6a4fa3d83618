/**
 * Runs several test files as one, so that jest loads n8n's engine once for all of them. `npm test` has a few such groups
 * (jest.groups.config.js); `npm test -- <file>` runs one file alone.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { globSync } from 'tinyglobby';
// Here, because it registers an `afterEach` for every test.
import '../testbed/jest.mts';

declare const GROUP: { number: number; of: number };

const folder = __dirname;
// `import()` returns too late for `describe`.
const load = createRequire(__filename);
for (const [index, file] of globSync('**/*.test.mts', { cwd: folder }).sort().entries()) {
	if (index % GROUP.of === GROUP.number) describe(`test/${file}`, () => void load(join(folder, file)));
}
