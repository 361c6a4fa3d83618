/**
 * Checks the packed tarball: n8n can load it, it has no files for developers, verification accepts it, and another folder packs the
 * same bytes. Prints a line per check.
 */
import { execa } from 'execa';
import { cp, mkdtemp, readFile, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, posix } from 'node:path';
import { glob } from 'tinyglobby';
import typescript from 'typescript';
import { z } from 'zod/v4';

import { checkout, type Manifest, readManifest } from '../testbed/checkout.mts';
import { withPackedPackage } from '../testbed/pack.mts';
import { removing } from '../testbed/removing.mts';
import { SOURCES } from './release/buildVersion.mts';
import { checksumOf, differingFiles, packTo, packVersion, sameness } from './release/tarball.mts';

/** The modules that n8n provides at run time and verification lets a package import. */
const importable = ['n8n-workflow', 'zod', 'lodash', 'luxon', 'moment', 'p-limit', 'crypto'];

/** n8n finds the class by the name of the file. Icons are in a node's description or in the credential. */
const printIcons = `
	const file = process.argv[1];
	const loaded = new (require(file)[require('node:path').basename(file).split('.')[0]])();
	const { icon } = loaded.description ?? loaded;
	console.log(JSON.stringify(Object.values(typeof icon === 'string' ? { icon } : icon ?? {})));
`;

const temporary = await mkdtemp(join(tmpdir(), 'again-'));
try {
	await checkPacks();
	await withPackedPackage(async (folder) => {
		const files = (await glob('**', { cwd: folder, dot: true })).sort();
		const manifest = await readManifest(folder);
		const sizes = await Promise.all(files.map(async (file) => (await stat(join(folder, file))).size));
		const kilobytes = Math.ceil(sizes.reduce((sum, size) => sum + size, 0) / 1024);
		console.log(`${manifest.name} ${manifest.version}: ${files.length} files, ${kilobytes} kB unpacked`);
		checkFiles(files, manifest);
		checkManifest(manifest);
		await checkTexts(folder, files);
		await checkLoading(folder, files, manifest);
	});
} finally {
	await rm(temporary, removing);
}

/** Builds a copy of the sources in another folder, to detect output that depends on folder, time or order. */
async function checkPacks() {
	const copy = join(temporary, 'checkout');
	for (const name of SOURCES) await cp(join(checkout, name), join(copy, name), { recursive: true });
	await symlink(join(checkout, 'node_modules'), join(copy, 'node_modules'), 'junction');
	const build = join(checkout, 'node_modules', '@n8n', 'node-cli', 'bin', 'n8n-node.mjs');
	await execa(process.execPath, [build, 'build'], { cwd: copy });
	const { version } = await readManifest(checkout);
	const plain = await packTo(join(temporary, 'plain'), checkout);
	const again = await packTo(join(temporary, 'again'), copy);
	check('built and packed again elsewhere, it has the same bytes', await differences(plain, again));
	console.log(`    sha256 ${await checksumOf(plain)}`);
	const same = await packVersion(join(temporary, 'same version'), version, copy);
	check('packed with its own version, it has the bytes of npm pack', await differences(plain, same));
	const named = await packVersion(join(temporary, 'named'), `${version}-dev.g0123456789ab`);
	const others = (await differingFiles(plain, named)).filter((file) => file !== 'package/package.json');
	check('the build of a commit differs from npm pack only in package.json', others);
}

/** Returns what differs between two tarballs; an empty list if they have the same bytes. */
async function differences(one: string, other: string): Promise<string[]> {
	const same = await sameness(one, other);
	return same === 'bytes' ? [] : [`same ${same}`, ...(await differingFiles(one, other))];
}

function checkFiles(files: string[], { n8n }: Manifest) {
	const without = (names: string[]) => names.filter((name) => !files.includes(name));
	const isTest = (file: string) => /(?:^|[/._-])(?:test|tests|spec|__tests__)[/._-]/.test(file);
	const isCode = (file: string) => /^dist\/(?:nodes|credentials|icons)\/.*\.(?:js|json|svg)$/.test(file);
	const documents = ['README.md', 'LICENSE', 'package.json'];
	check('holds README.md, LICENSE and package.json', without(documents));
	check(
		'holds only these, and in dist the compiled code, JSON and icons of nodes and credentials, without tests',
		files.filter((file) => !documents.includes(file) && (!isCode(file) || isTest(file))),
	);
	const named = [...n8n.nodes, ...n8n.credentials];
	check('every file package.json names for n8n is there', named.length > 0 ? without(named) : ['none named']);
	check('every node has its Codex file', without(n8n.nodes.map((file) => file.replace(/\.js$/, '.json'))));
}

/** The verification rules know all other dependencies, and scripts that run on install. `npm run lint` applies them to the tarball. */
function checkManifest(manifest: Manifest) {
	const kinds = ['bundleDependencies', 'bundledDependencies', 'optionalDependencies'];
	check(
		'package.json has no bundled or optional dependencies',
		kinds.filter((kind) => kind in manifest),
	);
}

async function checkTexts(folder: string, files: string[]) {
	const traced: string[] = [];
	const refused: string[] = [];
	for (const file of files) {
		const text = await readFile(join(folder, file), 'utf8');
		// Source maps and constants may contain the folder of the build.
		if (text.includes(checkout) || /\bsourceMappingURL=/.test(text)) traced.push(file);
		if (!file.endsWith('.js')) continue;
		for (const { fileName: module } of typescript.preProcessFile(text, true, true).importedFiles) {
			// Its own files are there if it loads, which the next check tries.
			const isProvided = ['.', ...importable].some((name) => module === name || module.startsWith(`${name}/`));
			if (!isProvided && !module.startsWith('../')) refused.push(`${file} imports ${module}`);
		}
	}
	check('names neither the folder it was built in nor a source map', traced);
	check(`imports only its own files and ${importable.join(', ')}`, refused);
}

/** Loads the nodes and credentials with the modules that n8n provides, and checks their icons. */
async function checkLoading(folder: string, files: string[], { n8n }: Manifest) {
	const failures: string[] = [];
	const missing: string[] = [];
	const env = { NODE_PATH: join(checkout, 'node_modules') };
	for (const file of [...n8n.nodes, ...n8n.credentials]) {
		const run = await execa(process.execPath, ['-e', printIcons, join(folder, file)], { env, reject: false });
		if (run.exitCode !== 0) {
			failures.push(`${file}: ${/^\w*Error.*$/m.exec(run.stderr)?.[0] ?? run.stderr}`);
			continue;
		}
		const icons = z.array(z.string()).parse(JSON.parse(run.stdout));
		const paths = icons.map((icon) => posix.join(dirname(file), icon.replace(/^file:/, '')));
		if (paths.length !== 2) missing.push(`${file} has ${paths.length} icons`);
		missing.push(...paths.filter((path) => !files.includes(path)));
	}
	check('every node and credential loads with the modules n8n provides', failures);
	check('every node and credential has a light and a dark icon, and the files are there', missing);
}

function check(promise: string, counterexamples: string[]) {
	console.log(`${counterexamples.length === 0 ? '✔' : '✖'} ${promise}`);
	for (const counterexample of counterexamples) console.log(`    ${counterexample}`);
	if (counterexamples.length > 0) process.exitCode = 1;
}
