import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path/posix';
import ts from 'typescript';

import { checkout } from '../testbed/checkout.mts';

/**
 * The rooms of the repository and the rooms that each may import from, itself aside; `shipped` stands for all that go
 * into the package. A file's room is the first that its path fits.
 */
const ROOMS: ReadonlyArray<{ room: string; files: RegExp; imports: readonly string[] }> = [
	{ room: 'test', files: /^test\//, imports: ['hooks of jest', 'scripts', 'testbed', 'embedded platform', 'shipped'] },
	{ room: 'hooks of jest', files: /^testbed\/jest\.mts$/, imports: ['testbed', 'embedded platform', 'shipped'] },
	{ room: 'scripts', files: /^scripts\//, imports: ['testbed', 'embedded platform', 'shipped'] },
	// The embedded platform shares no code with the package, because it would share its mistakes, too.
	{ room: 'embedded platform', files: /^testbed\/platform\//, imports: [] },
	{ room: 'testbed', files: /^testbed\//, imports: ['embedded platform', 'shipped'] },
	{ room: 'credentials', files: /^credentials\//, imports: ['transport', 'core'] },
	{
		room: 'node',
		files: /^nodes\/DeviceManagement\/[^/]+\.node\.ts$/,
		imports: ['resources', 'listSearch', 'trigger', 'fields', 'transport', 'core'],
	},
	{
		room: 'resources',
		files: /^nodes\/DeviceManagement\/resources\//,
		imports: ['fields', 'way out', 'transport', 'core'],
	},
	{
		room: 'listSearch',
		files: /^nodes\/DeviceManagement\/listSearch\//,
		imports: ['fields', 'way out', 'transport', 'core'],
	},
	{
		room: 'trigger',
		files: /^nodes\/DeviceManagement\/trigger\//,
		imports: ['fields', 'way out', 'transport', 'core'],
	},
	{ room: 'fields', files: /^nodes\/DeviceManagement\/fields\//, imports: ['transport', 'core'] },
	{ room: 'way out', files: /^nodes\/DeviceManagement\/nodeError\.ts$/, imports: ['transport', 'core'] },
	{ room: 'transport', files: /^nodes\/DeviceManagement\/transport\//, imports: ['core'] },
	{ room: 'core', files: /^nodes\/DeviceManagement\/core\//, imports: [] },
];

const SHIPPED = new Set([
	'credentials',
	'node',
	'resources',
	'listSearch',
	'trigger',
	'fields',
	'way out',
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

function roomOf(file: string): (typeof ROOMS)[number] {
	const found = ROOMS.find(({ files }) => files.test(file));
	if (found === undefined) throw new Error(`${file} is in no layer`);
	return found;
}

it('arrows between the rooms point one way', () => {
	const back = [...imports].flatMap(([file, { files }]) => {
		const { room, imports: allowed } = roomOf(file);
		return files
			.filter((other) => {
				const { room: there } = roomOf(other);
				return there !== room && !allowed.includes(there) && !(allowed.includes('shipped') && SHIPPED.has(there));
			})
			.map((other) => `${file} → ${other} (${room} → ${roomOf(other).room})`);
	});
	expect(back).toEqual([]);
});

it('no imports go round in a circle', () => {
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

it('core knows nothing of n8n', () => {
	const named = [...imports]
		.filter(([file]) => roomOf(file).room === 'core')
		.flatMap(([file, { packages }]) =>
			packages.filter((name) => name.includes('n8n')).map((name) => `${file} → ${name}`),
		);
	expect(named).toEqual([]);
});

it('only tests and the hooks they stand on know jest', () => {
	const jest = /(?<![./\w'])(?:(?:before|after)(?:Each|All)\(|jest\.\w|expect\(|describe\()/;
	const knowing = sources
		.filter((file) => !['test', 'hooks of jest'].includes(roomOf(file).room))
		.filter((file) => jest.test(readFileSync(join(checkout, file), 'utf8')));
	expect(knowing).toEqual([]);
});

it('every room has files, and the walk reads their imports', () => {
	const filled = new Set(sources.map((file) => roomOf(file).room));
	expect(ROOMS.map(({ room }) => room).filter((room) => !filled.has(room))).toEqual([]);
	expect(imports.get('nodes/DeviceManagement/transport/platform.ts')?.files).toContain(
		'nodes/DeviceManagement/core/retry.ts',
	);
	expect(imports.get('nodes/DeviceManagement/resources/router.ts')?.packages).toContain('n8n-workflow');
});
