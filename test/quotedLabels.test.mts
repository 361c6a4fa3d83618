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
import { explain, failureOf, type Wording, WORDING } from '../nodes/DeviceManagement/core/errors/failureOf.ts';
import { RESPONSES } from '../nodes/DeviceManagement/core/errors/table.ts';
import { checkout } from '../testbed/checkout.mts';
import { hurry, useBench } from '../testbed/jest.mts';
import { type OperationName, operationNames, operations } from '../testbed/operations.mts';
import { Watch } from '../testbed/watch.mts';
import { labelsOf, quotedIn, WIRE_NAMES } from './form.mts';

const bench = useBench({ fleet: { size: 3 } });

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

/** What reads from the platform, the form that a person sees of it, and a function that runs it and returns its error, if any. */
type Reader = [name: string, Wording, form: INodeProperties[], hear: () => Promise<unknown>];

/** What the form shows with these parameters, as far as they are chosen from a list. */
function formOf(chosen: Record<string, unknown>): INodeProperties[] {
	return action.filter(({ displayOptions }) =>
		['resource', 'operation', 'method'].every((name) => {
			const values = displayOptions?.show?.[name];
			return values === undefined || values.some((value) => value === chosen[name]);
		}),
	);
}

function operation(name: OperationName, words: Wording, more: { method?: string; filters?: object } = {}): Reader {
	const parameters = { ...operations[name], ...more, options: { maxRetries: 0 } };
	const hear = async () => (await bench.run(parameters, { input: [{ sn: 'RT1' }] })).error;
	return [[name, JSON.stringify(more)].join(' '), words, formOf(parameters), hear];
}

const OF_API = { request: 'apiRequest', requestAll: 'apiRequest' } as const;
/** The words for each operation's requests; a new operation needs a row. */
const WORDS: Record<OperationName, Wording> = { get: 'device', getAll: 'list', count: 'count', ...OF_API };
const get = { resource: 'device', operation: 'get' };
const dropdown = async () =>
	await bench.engine.listSearch(get, bench.engine.credentialReference(bench.apiKey), 'searchDevices');
const poll = async () => await new Watch(bench, { options: { maxRetries: 0 } }).activate();
const readers: Reader[] = [
	...operationNames.map((name) => operation(name, WORDS[name])),
	operation('request', 'apiRequestWithBody', { method: 'POST' }),
	operation('count', 'count', { filters: { onlineStatus: '0' } }),
	['the dropdown of Get', 'dropdown', formOf(get), dropdown],
	['the trigger', 'list', trigger, poll],
];

describe.each(readers)('%s', (_name, words, form, hear) => {
	test('has the fields that its words quote', () => {
		const labels = new Set([...labelsOf(form), ...credentialLabels]);
		const quoted = Object.values(WORDING[words]).flatMap(quotedIn);
		expect(quoted.filter((label) => !labels.has(label))).toEqual([]);
	});

	test('says its words', async () => {
		bench.platform.settings.fault = () => ({ code: 10005 });
		expect(await hear().catch(Object)).toHaveProperty('description', explain(10005, words).remedy);
		hurry(200);
		bench.platform.settings.fault = () => 'hang';
		// A write says before them what to check.
		const asked = { words, mayChange: false, redact: String };
		const { remedy } = failureOf({ kind: 'timeout', row: RESPONSES.tooSlow }, asked).details;
		expect(await hear().catch(Object)).toHaveProperty('description', expect.stringContaining(remedy));
	});
});
