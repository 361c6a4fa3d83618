import { join } from 'node:path';
import { z } from 'zod/v4';

import { core } from '../testbed/engine/host.cjs';
import { useBench } from '../testbed/jest.mts';
import { operations, recordNames, serialNumberItems } from '../testbed/operations.mts';
import { jsonOf } from '../testbed/output.mts';
import { Fleet } from '../testbed/platform/server.mts';

const bench = useBench();
const nodeDir = join(__dirname, '../nodes/DeviceManagement');

const typeSchema = z.union([z.string(), z.array(z.string())]).transform((type) => [type].flat());
/** The part of JSON Schema that n8n's output previews are made of. */
const outputSchema = z.strictObject({
	type: z.literal('object'),
	properties: z.record(
		z.string(),
		z.strictObject({ type: typeSchema, items: z.strictObject({ type: typeSchema }).default({ type: [] }) }),
	),
	version: z.literal(1),
});

/** The fields of a preview, which is read as n8n reads it: by node version, resource and operation. */
function preview(resource: string, operation: string) {
	const { properties } = outputSchema.parse(core.loadOutputSchema({ nodeDir, version: 1, resource, operation }));
	return Object.entries(properties).map(([name, { type, items }]) => [name, type.sort(), items.type.sort()]);
}

const typesOf = (values: unknown[]) => [...new Set(values.map(typeOf))].sort();
const typeOf = (value: unknown): string => {
	if (value === null || Array.isArray(value)) return value === null ? 'null' : 'array';
	return Number.isInteger(value) ? 'integer' : typeof value;
};

test.each(recordNames)('the preview of %s names every field and type of a large fleet, and no other', async (name) => {
	bench.platform.fleet = Fleet.seeded({ size: 500, seed: 11 });
	const { resource, operation } = operations[name];
	const input = serialNumberItems(bench, name === 'get' ? 200 : 1);
	const output = jsonOf(await bench.run({ ...operations[name], output: 'simplified' }, { input }));
	const seen = [...new Set(output.flatMap(Object.keys))].map((field) => {
		const values = output.flatMap((item) => (field in item ? [item[field]] : []));
		return [field, typesOf(values), typesOf(values.filter(Array.isArray).flat())];
	});
	expect(seen).toEqual(preview(resource, operation));
});

test('API Request promises no field, as any endpoint may answer anything', () => {
	expect(preview('api', 'request')).toEqual([]);
});
