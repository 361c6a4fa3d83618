import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod/v4';

import { RESOURCES } from '../nodes/DeviceManagement/resources/index.ts';
import { Fleet } from '../testbed/platform/server.mts';
import { core } from '../testbed/engine/host.cjs';
import { useBench } from '../testbed/jest.mts';
import { operations, recordNames, serialNumberItems } from '../testbed/operations.mts';
import { jsonOf } from '../testbed/output.mts';

const bench = useBench();
const nodeDir = join(__dirname, '../nodes/DeviceManagement');

const typeSchema = z.union([z.string(), z.array(z.string())]).transform((type) => [type].flat());
/** The part of JSON Schema that n8n's output previews are made of. */
const outputSchema = z.strictObject({
	type: z.literal('object'),
	properties: z.record(
		z.string(),
		z.strictObject({ type: typeSchema, items: z.strictObject({ type: typeSchema }).optional() }),
	),
	version: z.literal(1),
});

/** Reads a preview as n8n does, by node version, resource and operation. */
const preview = (resource: string, operation: string) =>
	outputSchema.parse(core.loadOutputSchema({ nodeDir, version: 1, resource, operation }));

const typeOf = (value: unknown): string => {
	if (value === null) return 'null';
	if (Array.isArray(value)) return 'array';
	return Number.isInteger(value) ? 'integer' : typeof value;
};
/** Field names in the order of their first item, each with the types that were seen, and those of its elements. */
const seenIn = (items: ReadonlyArray<Record<string, unknown>>) => {
	const fields = new Map<string, { type: Set<string>; items: Set<string> }>();
	for (const item of items) {
		for (const [name, value] of Object.entries(item)) {
			const field = fields.get(name) ?? { type: new Set(), items: new Set() };
			field.type.add(typeOf(value));
			if (Array.isArray(value)) for (const element of value) field.items.add(typeOf(element));
			fields.set(name, field);
		}
	}
	return [...fields].map(([name, field]) => ({ name, type: [...field.type].sort(), items: [...field.items].sort() }));
};
const described = (resource: string, operation: string) =>
	Object.entries(preview(resource, operation).properties).map(([name, { type, items }]) => ({
		name,
		type: [...type].sort(),
		items: [...(items?.type ?? [])].sort(),
	}));

it('__schema__ has one preview for every operation', () => {
	const files = readdirSync(join(nodeDir, '__schema__'), { recursive: true, encoding: 'utf8' })
		.filter((file) => file.endsWith('.json'))
		.map((file) => file.replaceAll('\\', '/'));
	const expected = Object.entries(RESOURCES).flatMap(([resource, { operations }]) =>
		Object.keys(operations).map((operation) => `v1.0.0/${resource}/${operation}.json`),
	);
	expect(files.sort()).toEqual(expected.sort());
});

describe('over a large fleet, the previews name every field and type that comes, nulls included, and no other', () => {
	beforeEach(() => {
		bench.platform.fleet = Fleet.seeded({ size: 500, seed: 11 });
	});

	// API Request promises no field.
	it.each(recordNames)('%s', async (name) => {
		const { resource, operation } = operations[name];
		const input = serialNumberItems(bench, name === 'get' ? 200 : 1);
		const output = jsonOf(await bench.run({ ...operations[name], output: 'simplified' }, { input }));
		expect(output).not.toEqual([]);
		expect(seenIn(output)).toEqual(described(resource, operation));
	});
});

it('API Request promises no field, as any endpoint may answer anything', () => {
	expect(preview('api', 'request').properties).toEqual({});
});
