/**
 * The versions of n8n that the package is tested with. A version outside the lockfile is resolved at a date, because newer
 * releases of its dependencies may not fit it. README says whether the package works with a version.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod/v4';

import { checkout } from '../checkout.mts';

/** The folder with the package.json and the lockfile of the pinned version. */
export const recipe = join(checkout, 'testbed', 'n8n');

/** The oldest version that README names, and the newest available one. The pinned version is between them. */
export const OLDEST = '2.35.7';
export const NEWEST = '2.41.1';

/** Dates at which a version was resolved and then ran. Other versions are resolved now. */
export const RESOLVED_AT: Readonly<Record<string, string>> = { [OLDEST]: '2026-08-25', [NEWEST]: '2026-09-30' };

const manifestSchema = z.looseObject({ dependencies: z.looseObject({ n8n: z.string() }) });

export type Manifest = z.infer<typeof manifestSchema>;

/** Reads the package.json of the pinned version. */
export async function readRecipe(): Promise<Manifest> {
	return manifestSchema.parse(JSON.parse(await readFile(join(recipe, 'package.json'), 'utf8')));
}

/** Returns the version that the lockfile pins. */
export async function pinnedVersion(): Promise<string> {
	return (await readRecipe()).dependencies.n8n;
}

/**
 * Reads `2.35.7,2.39.10`; the words `oldest`, `pinned` and `newest` name versions, too.
 * @throws Error with the name of an invalid entry
 */
export function versionsIn(text: string, pinned: string): string[] {
	const words: Readonly<Record<string, string>> = { oldest: OLDEST, pinned, newest: NEWEST };
	const versions = text.split(',').map((entry) => {
		const version = words[entry.trim()] ?? entry.trim();
		if (/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version)) return version;
		const allowed = `versions like ${pinned}, or oldest, pinned or newest, separated by commas`;
		throw new Error(`--n8n takes ${allowed}: not “${entry}”`);
	});
	return [...new Set(versions)];
}
