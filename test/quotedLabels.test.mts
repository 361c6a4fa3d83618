/**
 * A message that quotes a field which the form at hand does not have sends people on a search. Every text that a node can reach is
 * taken from its bundle. Words that depend on the purpose of a request are heard from each operation.
 */
import { buildSync } from 'esbuild';
import type { INodeProperties } from 'n8n-workflow';
import ts from 'typescript';

import { DeviceManagementApi } from '../credentials/DeviceManagementApi.credentials.ts';
import { DeviceManagement } from '../nodes/DeviceManagement/DeviceManagement.node.ts';
import { DeviceManagementTrigger } from '../nodes/DeviceManagement/DeviceManagementTrigger.node.ts';
import { CODE_TABLE, explainCode } from '../nodes/DeviceManagement/core/errors/codes.ts';
import { explainStatus } from '../nodes/DeviceManagement/core/errors/statuses.ts';
import { forgetAccounts } from '../nodes/DeviceManagement/transport/auth/account.ts';
import { checkout } from '../testbed/checkout.mts';
import { hurry, useBench, useServers } from '../testbed/jest.mts';
import { type OperationName, operationNames, operations } from '../testbed/operations.mts';
import type { Fault } from '../testbed/platform/server.mts';
import { triggerWorkflow, Watch } from '../testbed/watch.mts';
import { labelsOf, quotedIn, WIRE_NAMES } from './form.mts';

const bench = useBench({ fleet: { size: 3 } });
const serve = useServers();

const action = new DeviceManagement().description.properties;
const trigger = new DeviceManagementTrigger().description.properties;
const credentialLabels = labelsOf(new DeviceManagementApi().properties);

describe.each([
	['nodes/DeviceManagement/DeviceManagement.node.ts', labelsOf(action)],
	// The trigger doesn't show the refusal that quotes 'Device': removal.ts forgets a device with such a serial number.
	['nodes/DeviceManagement/DeviceManagementTrigger.node.ts', [...labelsOf(trigger), 'Device']],
	['nodes/DeviceManagement/transport/auth/form.ts', []],
])('%s', (file, labels) => {
	test('reaches no text that quotes a field it does not have', () => {
		const known = new Set([...labels, ...credentialLabels, ...WIRE_NAMES]);
		const strangers = textsReachedFrom(file).filter((text) => quotedIn(text).some((quoted) => !known.has(quoted)));
		expect(strangers).toEqual([]);
	});
});

/** The texts of a file and of what it uses of its imports; what a template fills in is a dot. */
function textsReachedFrom(file: string): string[] {
	const { outputFiles } = buildSync({
		absWorkingDir: checkout,
		entryPoints: [file],
		bundle: true,
		packages: 'external',
		format: 'esm',
		charset: 'utf8',
		write: false,
	});
	// The bundler names each file in a comment. The words of purpose.ts are for one purpose each.
	const parts = outputFiles.flatMap(({ text }) => text.split(/^\/\/ (?=\w+\/)/m));
	return parts.filter((part) => !part.startsWith('nodes/DeviceManagement/core/errors/purpose.ts')).flatMap(textsIn);
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

interface Reader {
	name: string;
	form: INodeProperties[];
	/** Runs it; returns its error, if any. */
	hear(): Promise<{ message: string; description?: string | null | undefined } | undefined>;
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

function operation(name: OperationName, more: { method?: string } = {}): Reader {
	const parameters = { ...operations[name], ...more, options: { maxRetries: 0 } };
	return {
		name: [name, ...Object.values(more)].join(' '),
		form: formOf(parameters),
		hear: async () => (await bench.run(parameters, { input: [{ sn: 'RT1' }] })).error,
	};
}

function thrower(name: string, form: INodeProperties[], run: () => Promise<unknown>): Reader {
	return { name, form, hear: async () => await run().then(() => undefined, Object) };
}

const get = { resource: 'device', operation: 'get' };
const watch = { options: { maxRetries: 0 } };
const readers: readonly Reader[] = [
	...operationNames.map((name) => operation(name)),
	operation('request', { method: 'POST' }),
	thrower('the dropdown of Get', formOf(get), async () => {
		await bench.engine.listSearch(get, bench.engine.credentialReference(bench.apiKey), 'searchDevices');
	}),
	thrower('the trigger', trigger, async () => await new Watch(bench, watch).activate()),
	thrower('the trigger’s test event', trigger, async () => {
		await bench.engine.poll(triggerWorkflow(bench.engine, bench.apiKey, watch), { mode: 'manual', staticData: {} });
	}),
];

/** Whether words depend on the purpose of the request; all others quote no field but the credential's. */
const dependOnPurpose = ({ message, remedy }: { message: string; remedy: string }) =>
	/\{(?!outside)/.test(message + remedy);
const codes = CODE_TABLE.map(({ code }) => code).filter((code) => dependOnPurpose(explainCode(code)));
const statuses = Array.from({ length: 500 }, (_, index) => 100 + index).filter((status) =>
	dependOnPurpose(explainStatus(status)),
);
const faults: Fault[] = [
	...codes.map((code) => ({ code, details: ['alpha'] })),
	...statuses.map((status) => ({ status })),
	{ code: 0, data: 'x' },
	{ code: 0 },
];

describe.each(readers)('$name quotes no field that it does not have', ({ name, form, hear }) => {
	const labels = new Set([...labelsOf(form), ...credentialLabels, ...WIRE_NAMES]);

	/** @returns what the reader quotes after this fault; it says something to all but a payload that API Request takes */
	async function quotedAfter(fault: unknown): Promise<string[]> {
		forgetAccounts();
		const words = await hear();
		if (words === undefined && !(name.startsWith('request') && Object(fault)['code'] === 0))
			throw new Error(`Nothing is said to ${JSON.stringify(fault)}`);
		const quoted = words === undefined ? [] : quotedIn(`${words.message}. ${words.description ?? ''}`);
		expect({ fault, words, strangers: quoted.filter((label) => !labels.has(label)) }).toMatchObject({ strangers: [] });
		return quoted;
	}

	test('with any response of the platform', async () => {
		for (const fault of faults) {
			bench.platform.settings.fault = () => fault;
			await quotedAfter(fault);
		}
	});

	const pageSize = labels.has('Page Size') ? [expect.stringMatching('Page Size')] : [];

	test('after a time-out, and lowers the page size if it has one', async () => {
		hurry(200);
		bench.platform.settings.fault = () => 'hang';
		expect(await quotedAfter('a time-out')).toEqual(expect.arrayContaining(pageSize));
	});

	test('after a response over 64 MB, and lowers the page size if it has one', async () => {
		const server = await serve((_request, response) =>
			response.writeHead(200, { 'content-length': '70000000' }).write('{'),
		);
		await bench.engine.editCredential(bench.apiKey, { baseUrl: server.url });
		expect(await quotedAfter('a response over 64 MB')).toEqual(expect.arrayContaining(pageSize));
	});
});
