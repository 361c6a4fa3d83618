import { createRequire } from 'node:module';
import { z } from 'zod/v4';

import type { N8nHost } from './host.mts';

/** The parts of SheetJS that are used here. n8n installs it; this repository doesn't. `f` is a formula that runs. */
interface Library {
	read(file: Uint8Array): { SheetNames: string[]; Sheets: Record<string, Record<string, { f?: string }>> };
	write(workbook: object, options: { bookType: 'xlsx'; type: 'buffer' }): Buffer;
	utils: {
		aoa_to_sheet(rows: readonly unknown[][]): object;
		sheet_to_json(sheet: object, options: { header: 1; defval: string }): unknown[][];
	};
}

/** Writes and reads spreadsheets as a user's program does. */
export class Spreadsheets {
	readonly #library: Library;

	constructor({ n8n }: N8nHost) {
		this.#library = z.custom<Library>((value) => Object(value) === value).parse(createRequire(n8n)('@e965/xlsx'));
	}

	/** A file with these rows. A text is a text cell, a number a number. */
	write(rows: readonly unknown[][]): Buffer {
		const Sheets = { Sheet: this.#library.utils.aoa_to_sheet(rows) };
		return this.#library.write({ SheetNames: ['Sheet'], Sheets }, { bookType: 'xlsx', type: 'buffer' });
	}

	/**
	 * Returns the rows of a file, the head included.
	 * @throws Error if a program would run a formula in it
	 */
	read(file: Uint8Array): unknown[][] {
		const { SheetNames, Sheets } = this.#library.read(file);
		const sheet = Sheets[SheetNames[0] ?? ''] ?? {};
		const [at, formula] = Object.entries(sheet).find(([, { f }]) => f !== undefined) ?? [];
		if (formula) throw new Error(`${at} runs the formula ${formula.f}`);
		return this.#library.utils.sheet_to_json(sheet, { header: 1, defval: '' });
	}
}
