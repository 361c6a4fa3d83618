import { randomUUID } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/v4';

import type { CredentialRows, StoredCredential } from './credentials.mts';

const rowSchema = z.strictObject({ id: z.string(), name: z.string(), type: z.string(), data: z.string() });

/**
 * The rows of a credentials table that several processes share: one file per row in a folder. Renaming replaces a file at
 * once, so that no process ever reads half a row.
 */
export class CredentialFolder implements CredentialRows {
	constructor(private readonly folder: string) {}

	get(id: string): StoredCredential | undefined {
		try {
			return rowSchema.parse(JSON.parse(readFileSync(this.file(id), 'utf8')));
		} catch (error) {
			if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
			throw error;
		}
	}

	set(id: string, row: StoredCredential): void {
		const temporary = `${this.file(id)}.${randomUUID()}`;
		writeFileSync(temporary, JSON.stringify(row), { mode: 0o600 });
		renameSync(temporary, this.file(id));
	}

	private file(id: string): string {
		return join(this.folder, `${encodeURIComponent(id)}.json`);
	}
}
