/**
 * Checks the packed tarball: n8n can load it, it has no files for developers, verification accepts it, npm's page shows the pictures
 * of its README, and another folder packs the same bytes. Prints a line per check.
 */
import { execa } from 'execa';
import { existsSync, readFileSync } from 'node:fs';
import { cp, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, posix } from 'node:path';
import { glob } from 'tinyglobby';
import { z } from 'zod/v4';

import { checkout, type Manifest, readManifest } from '../testbed/checkout.mts';
import { filesOnGitHub, inTemporaryFolder, packVersion, withPackedPackage } from '../testbed/pack.mts';
import { picturesIn } from '../testbed/pages.mts';
import { SOURCES } from './release/buildVersion.mts';
import { checksumOf, differingFiles, sameness } from './release/tarball.mts';

const require = createRequire(import.meta.url);
const iconSchema = z.object({ light: z.string(), dark: z.string() });

await inTemporaryFolder(checkPacks);
await withPackedPackage(async (folder) => {
	const files = (await glob('**', { cwd: folder, dot: true })).sort();
	const manifest = await readManifest(folder);
	console.log(`${manifest.name} ${manifest.version}: ${files.length} files`);
	checkFiles(folder, files, manifest);
	await checkLoading(folder, files, manifest);
});

/** Builds a copy of the sources in another folder, to detect output that depends on folder, time or order. */
async function checkPacks(temporary: string) {
	const copy = join(temporary, 'checkout');
	for (const name of SOURCES) await cp(join(checkout, name), join(copy, name), { recursive: true });
	await provideModules(copy);
	const build = join(checkout, 'node_modules', '@n8n', 'node-cli', 'bin', 'n8n-node.mjs');
	await execa(process.execPath, [build, 'build'], { cwd: copy });
	const { version } = await readManifest(checkout);
	const packed = await packVersion(join(temporary, 'packed'), version);
	const again = await packVersion(join(temporary, 'again'), version, copy);
	check('built and packed again elsewhere, it has the same bytes', await differences(packed, again));
	console.log(`    sha256 ${await checksumOf(packed)}`);
	const unpacked = ['-xzOf', basename(packed), 'package/README.md'];
	const { stdout: readme } = await execa('tar', unpacked, { cwd: dirname(packed) });
	const home = filesOnGitHub(version);
	const isThere = (url: string) => url.startsWith(home) && existsSync(join(checkout, url.slice(home.length)));
	check(
		'each picture of the packed README has the address of an existing file on GitHub',
		picturesIn(readme).filter((url) => !isThere(url)),
	);
}

/** Lets the files in a folder import the modules of this checkout. */
async function provideModules(folder: string) {
	await symlink(join(checkout, 'node_modules'), join(folder, 'node_modules'), 'junction');
}

/** Returns what differs between two tarballs; an empty list if they have the same bytes. */
async function differences(one: string, other: string): Promise<string[]> {
	const same = await sameness(one, other);
	return same === 'bytes' ? [] : [`same ${same}`, ...(await differingFiles(one, other))];
}

function checkFiles(folder: string, files: string[], manifest: Manifest) {
	const without = (names: string[]) => names.filter((name) => !files.includes(name));
	const isTest = (file: string) => /(?:^|[/._-])(?:test|tests|spec|__tests__)[/._-]/.test(file);
	const isCode = (file: string) => /^dist\/(?:nodes|credentials|icons)\/.*\.(?:js|json|svg)$/.test(file);
	const documents = ['README.md', 'LICENSE', 'package.json'];
	check('holds README.md, LICENSE and package.json', without(documents));
	check(
		'holds only these, and in dist the compiled code, JSON and icons of nodes and credentials, without tests',
		files.filter((file) => !documents.includes(file) && (!isCode(file) || isTest(file))),
	);
	check('every node has its Codex file', without(manifest.n8n.nodes.map((file) => file.replace(/\.js$/, '.json'))));
	// The verification rules know all other dependencies, and scripts that run on install. `npm run lint` applies them.
	const kinds = ['bundleDependencies', 'bundledDependencies', 'optionalDependencies'];
	const bundled = kinds.filter((kind) => kind in manifest);
	check('package.json has no bundled or optional dependencies', bundled);
	// Source maps and constants may contain the folder of the build.
	const isTraced = (file: string) => {
		const text = readFileSync(join(folder, file), 'utf8');
		return text.includes(checkout) || /\bsourceMappingURL=/.test(text);
	};
	check('names neither the folder it was built in nor a source map', files.filter(isTraced));
}

/** Loads the nodes and credentials, and checks their icons. `npm run lint` checks that they import only what n8n provides. */
async function checkLoading(folder: string, files: string[], { n8n }: Manifest) {
	const failures: string[] = [];
	await provideModules(folder);
	for (const file of [...n8n.nodes, ...n8n.credentials]) {
		try {
			// n8n finds the class by the name of the file.
			const { [basename(file).split('.')[0] ?? '']: Loaded } = require(join(folder, file));
			const loaded = new Loaded();
			const { light, dark } = iconSchema.parse(loaded.icon ?? loaded.description.icon);
			const paths = [light, dark].map((icon) => posix.join(dirname(file), icon.replace(/^file:/, '')));
			failures.push(...paths.filter((path) => !files.includes(path)).map((path) => `${file}: ${path} is missing`));
		} catch (error) {
			failures.push(`${file}: ${error}`);
		}
	}
	check('every node and credential loads, and has a light and a dark icon', failures);
}

function check(promise: string, counterexamples: string[]) {
	console.log(`${counterexamples.length === 0 ? '✔' : '✖'} ${promise}`);
	for (const counterexample of counterexamples) console.log(`    ${counterexample}`);
	if (counterexamples.length > 0) process.exitCode = 1;
}
