import { fileURLToPath } from 'node:url';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod/v4';

/** The folder of this checkout, without a slash at the end. */
export const checkout = fileURLToPath(new URL('..', import.meta.url)).replace(/[\\/]$/, '');

const manifestSchema = z.looseObject({
	name: z.string(),
	version: z.string(),
	n8n: z.looseObject({ nodes: z.array(z.string()), credentials: z.array(z.string()) }),
});

export type Manifest = z.infer<typeof manifestSchema>;

/** Reads the package.json in `folder`; throws when it is not one of an n8n package. */
export async function readManifest(folder: string): Promise<Manifest> {
	return manifestSchema.parse(JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')));
}
