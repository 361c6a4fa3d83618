import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

import type { ICredentialType } from 'n8n-workflow';
import ts from 'typescript';

import { DeviceManagementApi } from '../credentials/DeviceManagementApi.credentials.ts';
import { DeviceManagement } from '../nodes/DeviceManagement/DeviceManagement.node.ts';
import { DeviceManagementTrigger } from '../nodes/DeviceManagement/DeviceManagementTrigger.node.ts';
import { labelsOf, quotedIn, WIRE_NAMES } from './form.mts';

/**
 * A message that names a field the node at hand does not have sends people on a search. Every text that a node can reach
 * through its imports is taken from the sources, and the labels that it quotes are looked for in the node's own form and in
 * the credential's.
 */
const root = join(__dirname, '..');
const SOURCES = ['credentials', 'nodes'].flatMap((folder) =>
	readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
		.filter((file) => file.endsWith('.ts'))
		.map((file) => join(folder, file)),
);

/** Functions that quote their last argument. */
const QUOTES_ITS_LABEL = new Set(['check', 'checkJson']);

const credential: ICredentialType = new DeviceManagementApi();
const credentialLabels = labelsOf(credential.properties);

/** A declaration at the top level of a file. */
interface Declaration {
	/** `file#name`. */
	id: string;
	texts: string[];
	/** Ids of the declarations that it mentions. */
	mentions: string[];
}

const declarations = new Map<string, Declaration>();
for (const file of SOURCES) {
	for (const declaration of declarationsOf(file)) declarations.set(declaration.id, declaration);
}

function declarationsOf(file: string): Declaration[] {
	const source = ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.Latest, true);
	const known = new Map<string, string>();
	const own: Array<{ name: string; node: ts.Node }> = [];
	for (const statement of source.statements) {
		if (ts.isImportDeclaration(statement)) {
			const from = ts.isStringLiteral(statement.moduleSpecifier) ? statement.moduleSpecifier.text : '';
			const bindings = statement.importClause?.namedBindings;
			if (!from.startsWith('.') || bindings === undefined || !ts.isNamedImports(bindings)) continue;
			for (const { name, propertyName } of bindings.elements) {
				known.set(name.text, `${fileOf(file, from)}#${(propertyName ?? name).text}`);
			}
		} else if (ts.isVariableStatement(statement)) {
			for (const node of statement.declarationList.declarations) own.push({ name: node.name.getText(), node });
		} else if (
			(ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement)) &&
			statement.name !== undefined
		) {
			own.push({ name: statement.name.text, node: statement });
		}
	}
	for (const { name } of own) known.set(name, `${file}#${name}`);
	return own.map(({ name, node }) => ({
		id: `${file}#${name}`,
		texts: [...textsIn(node), ...labelsGivenIn(node)],
		mentions: mentionsIn(node, known),
	}));
}

function fileOf(from: string, specifier: string): string {
	const path = normalize(join(dirname(from), specifier));
	const file = [`${path}.ts`, join(path, 'index.ts')].find((candidate) => SOURCES.includes(candidate));
	if (file === undefined) throw new Error(`${from} imports ${specifier}, which is no file`);
	return file;
}

function walk(node: ts.Node, visit: (node: ts.Node) => void): void {
	visit(node);
	ts.forEachChild(node, (child) => walk(child, visit));
}

/** Texts of a declaration; what a template fills in is a dot. */
function textsIn(declaration: ts.Node): string[] {
	const texts: string[] = [];
	walk(declaration, (node) => {
		if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) texts.push(node.text);
		if (ts.isTemplateExpression(node)) {
			texts.push([node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join('.'));
		}
	});
	return texts;
}

/** Labels that a declaration hands to a function which quotes them in its message, as if they were quoted there. */
function labelsGivenIn(declaration: ts.Node): string[] {
	const labels: string[] = [];
	walk(declaration, (node) => {
		if (!ts.isCallExpression(node) || !QUOTES_ITS_LABEL.has(node.expression.getText())) return;
		const given = node.arguments.at(-1);
		if (given !== undefined && ts.isStringLiteral(given)) labels.push(`'${given.text}'`);
	});
	return labels;
}

function mentionsIn(declaration: ts.Node, known: ReadonlyMap<string, string>): string[] {
	const mentions: string[] = [];
	walk(declaration, (node) => {
		if (!ts.isIdentifier(node)) return;
		const { parent } = node;
		const isMember =
			(ts.isPropertyAccessExpression(parent) || ts.isPropertyAssignment(parent) || ts.isMethodDeclaration(parent)) &&
			parent.name === node;
		const id = isMember ? undefined : known.get(node.text);
		if (id !== undefined) mentions.push(id);
	});
	return mentions;
}

/** Everything that is said on the way from these declarations on. */
function reachedFrom(entries: readonly string[]): Declaration[] {
	const reached = new Map<string, Declaration>();
	const waiting = [...entries];
	for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
		const declaration = declarations.get(id);
		if (declaration === undefined || reached.has(id)) continue;
		reached.set(id, declaration);
		waiting.push(...declaration.mentions);
	}
	return [...reached.values()];
}

const inFile = (file: string) => [...declarations.keys()].filter((id) => id.startsWith(`${file}#`));

/** Here words differ by purpose; `labelsByOperation.test.mts` hears them from each operation. */
const GOES_BY_PURPOSE = /^nodes\/DeviceManagement\/core\/errors\/purpose\.ts#/;

/** The trigger doesn't show this refusal: removal.ts forgets a device whose serial number can't be requested. */
const NOT_SHOWN_BY_TRIGGER = 'nodes/DeviceManagement/core/query.ts#devicePath';

function isSkipped(id: string, reader: string): boolean {
	return GOES_BY_PURPOSE.test(id) || (id === NOT_SHOWN_BY_TRIGGER && reader === 'Device Management Trigger');
}

/** Who reads the messages: a node by its file, with what its form and the credential's have. */
const readers = [new DeviceManagement(), new DeviceManagementTrigger()].map(({ constructor, description }) => ({
	reader: description.displayName,
	entries: inFile(`nodes/DeviceManagement/${constructor.name}.node.ts`),
	labels: [...labelsOf(description.properties), ...credentialLabels],
}));

test('every node of the package is a reader', () => {
	expect(readers).toHaveLength(SOURCES.filter((file) => file.endsWith('.node.ts')).length);
	for (const { entries } of readers) expect(entries).not.toEqual([]);
});

describe.each(readers)('$reader', ({ reader, entries, labels }) => {
	test('meets no text that quotes a field it does not have', () => {
		const strangers = reachedFrom(entries).flatMap(({ id, texts }) =>
			(isSkipped(id, reader) ? [] : texts).flatMap((text) =>
				quotedIn(text)
					.filter((quoted) => !labels.includes(quoted) && !WIRE_NAMES.has(quoted) && quoted !== '.')
					.map((quoted) => `${id} quotes '${quoted}': ${text}`),
			),
		);
		expect(strangers).toEqual([]);
	});
});

test('the search above reaches every message of core and transport', () => {
	const heard = new Set(
		reachedFrom([
			...inFile('credentials/DeviceManagementApi.credentials.ts'),
			...readers.flatMap(({ entries }) => entries),
		]).map(({ id }) => id),
	);
	const unheard = [...declarations.values()].filter(
		({ id, texts }) => texts.flatMap(quotedIn).length > 0 && !heard.has(id),
	);
	expect(unheard.map(({ id }) => id)).toEqual([]);
});

test('the credential’s own form quotes only its own fields', () => {
	const texts = declarations.get('nodes/DeviceManagement/transport/auth/form.ts#fields')?.texts ?? [];
	expect(texts.flatMap(quotedIn).filter((quoted) => !credentialLabels.includes(quoted))).toEqual([]);
});
