/**
 * A message that quotes a field which the form at hand does not have sends people on a search. Every text that a node can reach is
 * taken from its bundle. Words that depend on the request are compared with the form of each operation.
 */
import { buildSync } from 'esbuild';
import type { INodeProperties } from 'n8n-workflow';
import ts from 'typescript';

import { DeviceManagementApi } from '../credentials/DeviceManagementApi.credentials.ts';
import { DeviceManagement } from '../nodes/DeviceManagement/DeviceManagement.node.ts';
import { DeviceManagementTrigger } from '../nodes/DeviceManagement/DeviceManagementTrigger.node.ts';
import { type Wording, WORDING } from '../nodes/DeviceManagement/core/errors/failureOf.ts';
import { DEVICE_LIST } from '../nodes/DeviceManagement/transport/devices.ts';
import { checkout } from '../testbed/checkout.mts';
import { operationNames, operations } from '../testbed/operations.mts';
import { runAlone } from '../testbed/oneItem.mts';
import { labelsOf, quotedIn, WIRE_NAMES } from '../testbed/form.mts';

const action = new DeviceManagement().description.properties;
const trigger = new DeviceManagementTrigger().description.properties;
const credentialLabels = labelsOf(new DeviceManagementApi().properties);

test.each([
	['nodes/DeviceManagement/DeviceManagement.node.ts', labelsOf(action)],
	// The trigger doesn't show the refusal that quotes 'Device': removal.ts forgets a device with such a serial number.
	['nodes/DeviceManagement/DeviceManagementTrigger.node.ts', [...labelsOf(trigger), 'Device']],
	['nodes/DeviceManagement/transport/auth/credentialForm.ts', []],
])('%s reaches no text that quotes a field it does not have', (file, labels) => {
	const known = new Set([...labels, ...credentialLabels, ...WIRE_NAMES]);
	const strangers = textsReachedFrom(file).filter((text) => quotedIn(text).some((quoted) => !known.has(quoted)));
	expect(strangers).toEqual([]);
});

/** The texts of a file and of what it uses of its imports; what a template fills in is a dot. */
function textsReachedFrom(file: string): string[] {
	const bundled = { bundle: true, packages: 'external', format: 'esm', charset: 'utf8', write: false } as const;
	const { outputFiles } = buildSync({ absWorkingDir: checkout, entryPoints: [file], ...bundled });
	// The bundler names each file in a comment. The words of failureOf.ts are for one form each.
	const parts = outputFiles.flatMap(({ text }) => text.split(/^\/\/ (?=\w+\/)/m));
	return parts.filter((part) => !part.startsWith('nodes/DeviceManagement/core/errors/failureOf.ts')).flatMap(textsIn);
}

function textsIn(code: string): string[] {
	const texts: string[] = [];
	const visit = (node: ts.Node) => {
		if (ts.isStringLiteralLike(node)) texts.push(node.text);
		if (ts.isTemplateExpression(node)) {
			texts.push([node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join('.'));
		}
		// These functions quote their last argument.
		const label =
			ts.isCallExpression(node) && /^check(Json)?$/.test(node.expression.getText()) && node.arguments.at(-1);
		if (label && ts.isStringLiteral(label)) texts.push(`'${label.text}'`);
		ts.forEachChild(node, visit);
	};
	visit(ts.createSourceFile('part.js', code, ts.ScriptTarget.Latest, true));
	return texts;
}

/** What the form shows with these parameters, as far as they are chosen from a list. */
function formOf(chosen: Record<string, unknown>): INodeProperties[] {
	return action.filter(({ displayOptions }) =>
		['resource', 'operation', 'method'].every((name) => {
			const values = displayOptions?.show?.[name];
			return values === undefined || values.some((value) => value === chosen[name]);
		}),
	);
}

function expectFields(form: INodeProperties[], words: Wording | undefined): void {
	const labels = new Set([...labelsOf(form), ...credentialLabels]);
	const quoted = Object.values(words === undefined ? {} : WORDING[words]).flatMap(quotedIn);
	expect([words, quoted.filter((label) => !labels.has(label))]).toEqual([expect.any(String), []]);
}

test.each([...operationNames.map((name) => operations[name]), { ...operations.request, method: 'POST' }])(
	'the form of $resource $operation has the fields that the words for its requests quote',
	async (parameters) => {
		let words: Wording | undefined;
		const note = (request: { words: Wording }) => {
			words = request.words;
			throw new Error();
		};
		await runAlone(parameters, note).catch(() => {});
		expectFields(formOf(parameters), words);
	},
);

test('the forms of Get and of the trigger have the fields that the words for their dropdowns and lists quote', () => {
	expectFields(formOf({ resource: 'device', operation: 'get' }), 'dropdown');
	expectFields(trigger, DEVICE_LIST.words);
});
