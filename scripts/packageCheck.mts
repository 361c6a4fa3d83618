/**
 * `npm run package-check`: packs the package as a release does and checks what the tarball holds. Prints a line per check. That n8n
 * loads it, and that two packs of one commit are the same, is shown by `npm run test:e2e` and `npm run release`.
 */
import { readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { glob } from 'tinyglobby';

import { checkout, readManifest } from '../testbed/checkout.mts';
import { inTemporaryFolder, packVersion, unpack } from '../testbed/pack.mts';
import { onGitHub } from '../testbed/pages.mts';

await inTemporaryFolder(async (temporary) => {
	const { version } = await readManifest(checkout);
	const folder = join(temporary, 'package');
	await unpack(await packVersion(temporary, version), folder);
	await checkPackage(folder);
});

async function checkPackage(folder: string): Promise<void> {
	const paths = (await glob('**', { cwd: folder, dot: true })).sort();
	const files = new Map<string, string>();
	for (const path of paths) files.set(path, await readFile(join(folder, path), 'utf8'));
	const manifest = await readManifest(folder);
	console.log(`${manifest.name} ${manifest.version}: ${files.size} files`);

	const documents = ['README.md', 'LICENSE', 'package.json'];
	const isTest = (path: string) => /(?:^|[/._-])(?:test|tests|spec|__tests__)[/._-]/.test(path);
	const isCode = (path: string) => /^dist\/(?:nodes|credentials|icons)\/.*\.(?:js|json|svg)$/.test(path);
	check(
		'holds only README.md, LICENSE and package.json, and in dist compiled code, JSON and icons without tests',
		paths.filter((path) => !documents.includes(path) && (!isCode(path) || isTest(path))),
	);
	const icons = [...files].flatMap(([path, text]) =>
		[...text.matchAll(/\bfile:([\w./-]+\.svg)/g)].map(([, icon = '']) => posix.join(posix.dirname(path), icon)),
	);
	const codexes = manifest.n8n.nodes.map((path) => path.replace(/\.js$/, '.json'));
	check(
		'every icon is there, and the Codex file of every node',
		[...icons, ...codexes].filter((name) => !files.has(name)),
	);
	// Source maps and constants may contain the folder of the build.
	const isTraced = (text: string) => text.includes(checkout) || /\bsourceMappingURL=/.test(text);
	const traced = [...files].filter(([, text]) => isTraced(text)).map(([path]) => path);
	check('names neither the folder it was built in nor a source map', traced);
	// npm's page finds no relative address in `srcset`. Tests find addresses of files that don't exist.
	const pictures = [...(files.get('README.md') ?? '').matchAll(/\bsrc(?:set)?="([^"]*)"/g)].map(([, url = '']) => url);
	check(
		'each picture of the README has an address on GitHub',
		pictures.filter((url) => !url.startsWith(onGitHub.files)),
	);
}

function check(promise: string, counterexamples: string[]): void {
	console.log(`${counterexamples.length === 0 ? '✔' : '✖'} ${promise}`);
	for (const counterexample of counterexamples) console.log(`    ${counterexample}`);
	if (counterexamples.length > 0) process.exitCode = 1;
}
