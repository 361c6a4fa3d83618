/**
 * Checks the packed tarball: n8n can load it, it has no files for developers, and verification accepts it. Prints a line per
 * check.
 */
import { execa } from 'execa';
import { cp, mkdtemp, readFile, readdir, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, posix } from 'node:path';
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

let isSound = true;
await checkReproducible();
await withPackedPackage(async (folder) => {
	const files = await filesUnder(folder);
	const manifest = await readManifest(folder);
	const sizes = await Promise.all(files.map(async (file) => (await stat(join(folder, file))).size));
	const kilobytes = Math.ceil(sizes.reduce((sum, size) => sum + size, 0) / 1024);
	console.log(`${manifest.name} ${manifest.version}: ${files.length} files, ${kilobytes} kB unpacked`);

	checkFiles(files);
	await checkNoTraces(folder, files);
	checkManifest(manifest, files);
	await checkImports(folder, files);
	await checkLoading(folder, manifest, files);
});
process.exitCode = isSound ? 0 : 1;

/** Builds a copy of the sources in another folder, to detect output that depends on folder, time or order. */
async function checkReproducible() {
	const temporary = await mkdtemp(join(tmpdir(), 'again-'));
	try {
		const copy = join(temporary, 'checkout');
		for (const name of SOURCES) {
			await cp(join(checkout, name), join(copy, name), { recursive: true });
		}
		await symlink(join(checkout, 'node_modules'), join(copy, 'node_modules'), 'junction');
		const build = join(checkout, 'node_modules', '@n8n', 'node-cli', 'bin', 'n8n-node.mjs');
		await execa(process.execPath, [build, 'build'], { cwd: copy });
		const one = await packTo(join(temporary, 'one'), checkout);
		const other = await packTo(join(temporary, 'other'), copy);
		check('built and packed again elsewhere, it has the same bytes', await differences(one, other));
		console.log(`    sha256 ${await checksumOf(one)}`);
		await checkVersions(temporary, one, copy);
	} finally {
		await rm(temporary, removing);
	}
}

/** Packs with a version that names a commit, from both folders, and with the version that the tarball `plain` has. */
async function checkVersions(temporary: string, plain: string, copy: string) {
	const { version } = await readManifest(checkout);
	const named = `${version}-dev.g0123456789ab`;
	const one = await packVersion(join(temporary, 'named'), named);
	const other = await packVersion(join(temporary, 'named again'), named, copy);
	const same = await packVersion(join(temporary, 'same version'), version);
	check('packed twice as the build of a commit, it has the same bytes', await differences(one, other));
	check('packed with its own version, it has the bytes of npm pack', await differences(plain, same));
	const others = (await differingFiles(plain, one)).filter((file) => file !== 'package/package.json');
	check('the build of a commit differs from npm pack only in package.json', others);
}

/** Returns what differs between two tarballs; an empty list if they have the same bytes. */
async function differences(one: string, other: string): Promise<string[]> {
	const same = await sameness(one, other);
	return same === 'bytes' ? [] : [`same ${same}`, ...(await differingFiles(one, other))];
}

function checkFiles(files: string[]) {
	check(
		'holds only dist, README.md, LICENSE and package.json',
		files.filter((file) => !file.startsWith('dist/') && !['README.md', 'LICENSE', 'package.json'].includes(file)),
	);
	check(
		'holds README.md, LICENSE and package.json',
		['README.md', 'LICENSE', 'package.json'].filter((file) => !files.includes(file)),
	);
	check(
		'dist holds only compiled code, JSON and icons of nodes and credentials',
		files.filter(
			(file) => file.startsWith('dist/') && !/^dist\/(?:nodes|credentials|icons)\/.*\.(?:js|json|svg)$/.test(file),
		),
	);
	check(
		'holds no tests, source maps, type declarations or TypeScript',
		files.filter((file) => /(?:^|[/._-])(?:test|tests|spec|__tests__)(?:[/._-]|$)|\.(?:map|[cm]?ts)$/.test(file)),
	);
}

/** Source maps and constants may contain the folder of the build. */
async function checkNoTraces(folder: string, files: string[]) {
	const traced: string[] = [];
	for (const file of files) {
		const text = await readFile(join(folder, file), 'utf8');
		if (text.includes(checkout) || /\bsourceMappingURL=/.test(text)) traced.push(file);
	}
	check('names neither the folder it was built in nor a source map', traced);
}

function checkManifest(manifest: Manifest, files: string[]) {
	check('has no dependencies', Object.keys(record(manifest['dependencies'])));
	const peers = JSON.stringify(manifest['peerDependencies']);
	check('peerDependencies are exactly {"n8n-workflow":"*"}', peers === '{"n8n-workflow":"*"}' ? [] : [peers ?? 'none']);
	check(
		'package.json has no overrides or bundled dependencies',
		['overrides', 'resolutions', 'bundleDependencies', 'bundledDependencies', 'optionalDependencies'].filter(
			(key) => key in manifest,
		),
	);
	check(
		'package.json has no scripts that run on install',
		['preinstall', 'install', 'postinstall', 'preprepare', 'prepare', 'postprepare'].filter(
			(script) => script in record(manifest['scripts']),
		),
	);
	const named = [...manifest.n8n.nodes, ...manifest.n8n.credentials];
	check(
		'every file package.json names for n8n is there',
		named.length > 0 ? named.filter((file) => !files.includes(file)) : ['none named'],
	);
	check(
		'every node has its Codex file',
		manifest.n8n.nodes.map((file) => file.replace(/\.js$/, '.json')).filter((file) => !files.includes(file)),
	);
}

async function checkImports(folder: string, files: string[]) {
	const refused: string[] = [];
	for (const file of files.filter((name) => name.endsWith('.js'))) {
		const code = await readFile(join(folder, file), 'utf8');
		for (const { fileName: module } of typescript.preProcessFile(code, true, true).importedFiles) {
			if (module.startsWith('.')) {
				const target = posix.join(posix.dirname(file), module);
				const candidates = [target, `${target}.js`, `${target}.json`, `${target}/index.js`];
				if (!candidates.some((name) => files.includes(name))) refused.push(`${file} imports missing ${module}`);
			} else if (!importable.some((name) => module === name || module.startsWith(`${name}/`))) {
				refused.push(`${file} imports ${module}`);
			}
		}
	}
	check(`imports only its own files and ${importable.join(', ')}`, refused);
}

/** Loads the nodes and credentials with the modules that n8n provides, and checks their icons. */
async function checkLoading(folder: string, manifest: Manifest, files: string[]) {
	const loaded: { file: string; icons: string[] }[] = [];
	const failures: string[] = [];
	for (const file of [...manifest.n8n.nodes, ...manifest.n8n.credentials]) {
		const { stdout, stderr, exitCode } = await execa(process.execPath, ['-e', printIcons, join(folder, file)], {
			env: { NODE_PATH: join(checkout, 'node_modules') },
			reject: false,
		});
		if (exitCode === 0) loaded.push({ file, icons: z.array(z.string()).parse(JSON.parse(stdout)) });
		else failures.push(`${file}: ${/^\w*Error.*$/m.exec(stderr)?.[0] ?? stderr}`);
	}
	check('every node and credential loads with the modules n8n provides', failures);
	check(
		'every node and credential has a light and a dark icon, and the files are there',
		loaded.flatMap(({ file, icons }) =>
			icons.length === 2
				? icons
						.map((icon) => posix.join(dirname(file), icon.replace(/^file:/, '')))
						.filter((icon) => !files.includes(icon))
				: [`${file} has ${icons.length} icons`],
		),
	);
}

async function filesUnder(folder: string): Promise<string[]> {
	const entries = await readdir(folder, { recursive: true, withFileTypes: true });
	return entries
		.filter((entry) => !entry.isDirectory())
		.map((entry) =>
			join(entry.parentPath, entry.name)
				.slice(folder.length + 1)
				.replaceAll('\\', '/'),
		)
		.sort();
}

function record(value: unknown): Record<string, unknown> {
	return z.record(z.string(), z.unknown()).parse(value ?? {});
}

function check(promise: string, counterexamples: string[]) {
	console.log(`${counterexamples.length === 0 ? '✔' : '✖'} ${promise}`);
	for (const counterexample of counterexamples) console.log(`    ${counterexample}`);
	if (counterexamples.length > 0) isSound = false;
}
