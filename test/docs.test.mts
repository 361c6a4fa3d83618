/**
 * What the pages say exists: each label, each target of a link, each command and each message. No test asks a page for a text, so that
 * pages can become shorter.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { globSync } from 'tinyglobby';
import { z } from 'zod/v4';

import { DeviceManagementApi } from '../credentials/DeviceManagementApi.credentials.ts';
import { DeviceManagement } from '../nodes/DeviceManagement/DeviceManagement.node.ts';
import { DeviceManagementTrigger } from '../nodes/DeviceManagement/DeviceManagementTrigger.node.ts';
import { checkout } from '../testbed/checkout.mts';
import { exampleWorkflows, signInCredentials } from '../testbed/n8n/examples.mts';
import {
	codeOn,
	labelsOn,
	lostTargetsOf,
	onGitHub,
	ownFileOf,
	pages,
	readPage,
	targetsOf,
	userPages,
} from '../testbed/pages.mts';
import { actionsOf, labelsOf } from '../testbed/form.mts';

const read = (file: string) => readFileSync(join(checkout, file), 'utf8');

test.each(pages)('%s has no broken links', (page) => {
	expect(lostTargetsOf(page)).toEqual([]);
});

test('the README leads to every page, and every example and picture is on a page', () => {
	const reached = new Set(['README.md']);
	for (const page of reached) {
		for (const target of pages.includes(page) ? targetsOf(page) : []) reached.add(ownFileOf(page, target) ?? '');
	}
	const shown = globSync(['examples/**/*.json', 'docs/pictures/*'], { cwd: checkout });
	expect([...pages, ...shown].filter((file) => !reached.has(file))).toEqual([]);
});

test('links to pages in the editor, in examples and in scripts lead to existing pages and headings', () => {
	const places = '{nodes,credentials,examples,scripts,.github}/**/*.{ts,mts,json,yml,yaml}';
	const files = globSync(places, { cwd: checkout, dot: true });
	const links = files.flatMap((file) => read(file).match(/https:\/\/github\.com\/[\w./-]+\/blob\/[\w./#-]+/g) ?? []);
	expect(links.length).toBeGreaterThan(5);
	expect(links.filter((link) => !link.startsWith(onGitHub.pages))).toEqual([]);
	expect(links.flatMap((link) => lostTargetsOf('README.md', [link]))).toEqual([]);
});

test('each command of a page is a script of this package, and has the flags and files that the page names', () => {
	const { scripts } = z.object({ scripts: z.record(z.string(), z.string()) }).parse(JSON.parse(read('package.json')));
	const COMMAND = /^(?:[A-Z]+=\S+ )*(?:npm (?:run (?:--silent )?)?(?!run)(\S+)|bash)( .*)?$/;
	const isOurs = /^([A-Z]+=\S+ )*(npm (run|start|test)|bash )/;
	const commands = pages.flatMap(codeOn).flatMap((code) => code.split('\n').filter((line) => isOurs.test(line)));
	const lost = commands.filter((command) => {
		const [, script, rest = ''] = COMMAND.exec(command) ?? [];
		const does = script === undefined ? rest : (scripts[script] ?? '');
		const sources = (does.match(/[\w./-]+\.(mts|mjs|js|sh)\b|\.ci\/run/g) ?? []).map(read).join();
		// What jest knows.
		const flags = script === 'test' ? [] : (rest.match(/(?<= )--[\w-]+/g) ?? []);
		const files = rest.match(/(?<= )[\w.*-]+(\/[\w.*-]+)+/g) ?? [];
		// `npm test` takes the beginnings of paths.
		const isThere = (file: string) => globSync([`${file}*`, `${file}/**`], { cwd: checkout, dot: true }).length > 0;
		return sources === '' || flags.some((flag) => !sources.includes(flag)) || !files.every(isThere);
	});
	expect(commands.length).toBeGreaterThan(10);
	expect(lost).toEqual([]);
});

/** Labels of n8n and of other services. Pages call them by these names. */
const OF_OTHERS = `
	Community nodes|Settings|Install|Update|Uninstall|Overview|Credentials|Create credential|Save|More details|Execute step|Execute workflow
	Publish|Import|From file|Fetch Test Event|Poll Times|Every Minute|Every X|Custom|Timezone|Error Workflow|On Error|Stop Workflow|Continue
	Continue (using error output)|Retry On Fail|Retry|Timeout Workflow|Trigger manually|HTTP Request
	Predefined Credential Type|Edit Fields|If|Filter|Loop Over Items|Wait|Call n8n Workflow Tool|Postgres
	Security|Report a vulnerability|URL|Pagination|Batching|Never Error|Text|Parse Mode|Message|Message Text
	Content Type|Download raw file|⋯|+`
	.split(/\s*[|\n]\s*/)
	.filter((label) => label !== '');

test('each label that a page for users names is one of the package, of an example or of n8n', async () => {
	const forms = [
		new DeviceManagementApi(),
		new DeviceManagement().description,
		new DeviceManagementTrigger().description,
	];
	const access = { baseUrl: '', apiKey: '', loginName: '', password: '' };
	const labels = new Set([
		...OF_OTHERS,
		...forms.flatMap(({ displayName, properties }) => [displayName, ...labelsOf(properties), ...actionsOf(properties)]),
		...signInCredentials(access).map(({ name }) => name),
		...[...(await exampleWorkflows()).values()].flatMap(({ name, nodes }) => [name, ...nodes.map((node) => node.name)]),
	]);
	const named = userPages.flatMap((page) => labelsOn(page).map((label) => ({ page, label })));
	expect(named.length).toBeGreaterThan(50);
	expect(named.filter(({ label }) => !labels.has(label))).toEqual([]);
});

test('the messages that the page about trouble quotes are those of the package', () => {
	const sources = globSync('{nodes,credentials}/**/*.ts', { cwd: checkout }).map(read).join();
	const messages = [...readPage('docs/troubleshooting.md').matchAll(/^\| “(.+?)” +\|/gm)];
	expect(messages.length).toBeGreaterThan(5);
	// “…” and numbers replace varying parts. The others must be in the sources.
	const pieces = messages.flatMap(([, message = '']) => message.split(/…|\(|\d+/)).map((piece) => piece.trim());
	expect(pieces.filter((piece) => !sources.includes(piece))).toEqual([]);
});
