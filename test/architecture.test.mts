import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path/posix';
import ts from 'typescript';

import { checkout } from '../testbed/checkout.mts';

/**
 * The layers of the repository, and the other layers that each may import. `shipped` means all layers of the package. A file
 * belongs to the first layer that its path matches.
 */
const LAYERS: ReadonlyArray<{ layer: string; files: RegExp; imports: readonly string[] }> = [
	{ layer: 'test', files: /^test\//, imports: ['hooks of jest', 'scripts', 'testbed', 'embedded platform', 'shipped'] },
	{
		layer: 'hooks of jest',
		files: /^testbed\/(jest|watchdog)\.mts$/,
		imports: ['testbed', 'embedded platform', 'shipped'],
	},
	{ layer: 'scripts', files: /^scripts\//, imports: ['testbed', 'embedded platform', 'shipped'] },
	// The embedded platform shares no code with the package, because it would share its mistakes, too.
	{ layer: 'embedded platform', files: /^testbed\/platform\//, imports: [] },
	{ layer: 'testbed', files: /^testbed\//, imports: ['embedded platform', 'shipped'] },
	{ layer: 'credentials', files: /^credentials\//, imports: ['transport', 'core'] },
	{
		layer: 'node',
		files: /^nodes\/DeviceManagement\/[^/]+\.node\.ts$/,
		imports: ['resources', 'listSearch', 'trigger', 'fields', 'transport', 'core'],
	},
	{
		layer: 'resources',
		files: /^nodes\/DeviceManagement\/resources\//,
		imports: ['fields', 'nodeError', 'transport', 'core'],
	},
	{
		layer: 'listSearch',
		files: /^nodes\/DeviceManagement\/listSearch\//,
		imports: ['fields', 'nodeError', 'transport', 'core'],
	},
	{
		layer: 'trigger',
		files: /^nodes\/DeviceManagement\/trigger\//,
		imports: ['fields', 'nodeError', 'transport', 'core'],
	},
	{ layer: 'fields', files: /^nodes\/DeviceManagement\/fields\//, imports: ['transport', 'core'] },
	{ layer: 'nodeError', files: /^nodes\/DeviceManagement\/nodeError\.ts$/, imports: ['transport', 'core'] },
	{ layer: 'transport', files: /^nodes\/DeviceManagement\/transport\//, imports: ['core'] },
	{ layer: 'core', files: /^nodes\/DeviceManagement\/core\//, imports: [] },
];

const SHIPPED = new Set([
	'credentials',
	'node',
	'resources',
	'listSearch',
	'trigger',
	'fields',
	'nodeError',
	'transport',
	'core',
]);

const folders = ['credentials', 'nodes', 'scripts', 'test', 'testbed'];
const sources = folders.flatMap((folder) =>
	readdirSync(join(checkout, folder), { recursive: true, encoding: 'utf8' })
		.map((path) => join(folder, path.replaceAll('\\', '/')))
		.filter((path) => /\.[cm]?[jt]s$/.test(path) && !path.includes('node_modules/')),
);

interface Imports {
	/** Files of this repository. */
	files: string[];
	/** Everything else: packages and Node's own modules. */
	packages: string[];
}

/** What each file imports, types included: every static or dynamic import, re-export and require with a fixed name. */
const imports = new Map(sources.map((file) => [file, importsOf(file)]));

function importsOf(file: string): Imports {
	const found: Imports = { files: [], packages: [] };
	const { importedFiles } = ts.preProcessFile(readFileSync(join(checkout, file), 'utf8'), true, true);
	for (const { fileName } of importedFiles) {
		if (fileName.startsWith('.')) found.files.push(resolved(file, fileName));
		else found.packages.push(fileName);
	}
	return found;
}

/** The file behind a relative import, by the ways in which this repository writes them. */
function resolved(from: string, name: string): string {
	const path = join(dirname(from), name);
	const candidates = [
		path,
		`${path}.ts`,
		path.replace(/\.mjs$/, '.d.mts'),
		path.replace(/\.cjs$/, '.d.cts'),
		`${path}/index.ts`,
	];
	const file = candidates.find(
		(candidate) => existsSync(join(checkout, candidate)) && statSync(join(checkout, candidate)).isFile(),
	);
	if (file === undefined) throw new Error(`${from} imports ${name}, which is not there`);
	return relative('.', file);
}

function layerOf(file: string): (typeof LAYERS)[number] {
	const found = LAYERS.find(({ files }) => files.test(file));
	if (found === undefined) throw new Error(`${file} is in no layer`);
	return found;
}

it('a layer only imports the layers that it may', () => {
	const back = [...imports].flatMap(([file, { files }]) => {
		const { layer, imports: allowed } = layerOf(file);
		return files
			.filter((other) => {
				const { layer: there } = layerOf(other);
				return there !== layer && !allowed.includes(there) && !(allowed.includes('shipped') && SHIPPED.has(there));
			})
			.map((other) => `${file} → ${other} (${layer} → ${layerOf(other).layer})`);
	});
	expect(back).toEqual([]);
});

it('no imports form a circle', () => {
	const done = new Set<string>();
	const circles: string[] = [];
	const visit = (file: string, path: readonly string[]): void => {
		const at = path.indexOf(file);
		if (at >= 0) circles.push([...path.slice(at), file].join(' → '));
		if (at >= 0 || done.has(file)) return;
		for (const other of imports.get(file)?.files ?? []) visit(other, [...path, file]);
		done.add(file);
	};
	for (const file of sources) visit(file, []);
	expect(circles).toEqual([]);
});

it('core imports nothing of n8n', () => {
	const named = [...imports]
		.filter(([file]) => layerOf(file).layer === 'core')
		.flatMap(([file, { packages }]) =>
			packages.filter((name) => name.includes('n8n')).map((name) => `${file} → ${name}`),
		);
	expect(named).toEqual([]);
});

it('only tests and the hooks of jest use jest', () => {
	const jest = /(?<![./\w'])(?:(?:before|after)(?:Each|All)\(|jest\.\w|expect\(|describe\()/;
	const knowing = sources
		.filter((file) => !['test', 'hooks of jest'].includes(layerOf(file).layer))
		.filter((file) => jest.test(readFileSync(join(checkout, file), 'utf8')));
	expect(knowing).toEqual([]);
});

it('every layer has files, and their imports are read', () => {
	const filled = new Set(sources.map((file) => layerOf(file).layer));
	expect(LAYERS.map(({ layer }) => layer).filter((layer) => !filled.has(layer))).toEqual([]);
	expect(imports.get('nodes/DeviceManagement/transport/platform.ts')?.files).toContain(
		'nodes/DeviceManagement/transport/waiting/retry.ts',
	);
	expect(imports.get('nodes/DeviceManagement/resources/router.ts')?.packages).toContain('n8n-workflow');
});
