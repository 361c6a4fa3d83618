import fc from 'fast-check';

import { Failure, type FailureDetails } from '../nodes/DeviceManagement/core/failure.ts';
import { type Listing, type ListOptions, readList } from '../nodes/DeviceManagement/core/paging/list.ts';
import type { Page, PageSource } from '../nodes/DeviceManagement/core/paging/page.ts';
import { readPart } from '../nodes/DeviceManagement/core/paging/part.ts';
import { Fleet } from './platform/fleet.mts';
import { type Metadata, PagedServer, type ServerScript } from './pagedServer.mts';

/** A request for a page, each number from 1. A pass begins with the first page, without a page parameter. */
interface Asked {
	page: number;
	isFirst: boolean;
	pass: number;
	request: number;
	size: number;
}
type Said = Omit<Page<string>, 'content'>;

/**
 * A list of letters that counts from 1. It records the requests.
 * @param list the pages, like 'ab cd e'; '-' is an empty page, and '…' at the end repeats the last page for ever
 * @param said the metadata of a page besides its number, or its failure
 */
export function pages(
	list: string | ((asked: Asked) => string),
	said: Said | ((asked: Asked) => Said | Error | Promise<Said | Error>) = {},
) {
	const asked: Array<number | undefined> = [];
	const sizes: number[] = [];
	let pass = 0;
	const fetchPage: PageSource<string>['fetchPage'] = async (parameter, size) => {
		sizes.push(size);
		const isFirst = parameter === undefined;
		if (isFirst) pass++;
		const request = { page: parameter ?? 1, isFirst, pass, request: asked.push(parameter), size };
		const written = typeof list === 'string' ? list : list(request);
		const answer = await (typeof said === 'function' ? said(request) : said);
		if (answer instanceof Error) throw answer;
		return { content: lettersOf(written, request.page), number: request.page - 1, ...answer };
	};
	const source: PageSource<string> = { fetchPage, identify: (letter) => letter };
	return { source, asked, sizes };
}

/** Returns the items of a page, from 1. */
function lettersOf(list: string, page: number): string[] {
	const words = list.replace('…', '').split(' ');
	const word = words[page - 1] ?? (list.endsWith('…') ? words.at(-1) : '');
	return [...(word ?? '')].filter((letter) => letter !== '-');
}

/** The embedded platform with so many devices. It counts from 1, unless the script says otherwise. */
export const serve = (size: number, script: Partial<ServerScript> = {}) =>
	new PagedServer(Fleet.seeded({ size }), { numbering: 'one-based', largestSize: 2000, ...script });

export interface Options {
	pageSize: number;
	parallelRequests: number;
	skip?: number;
	limit?: number | undefined;
	byId?: ListOptions<unknown, unknown>['byId'];
}
/** Reads a list. Counts the readings: each begins with a first page that the platform sends. */
export async function fetchList<T>(
	source: PageSource<T>,
	options: Options,
): Promise<Listing<T> & { readings: number }> {
	let readings = 0;
	const fetchPage: typeof source.fetchPage = async (parameter, ...size) => {
		const page = await source.fetchPage(parameter, ...size);
		if (parameter === undefined) readings++;
		return page;
	};
	const listing = await readList({ ...source, fetchPage }, { ...options, keep: (item) => item });
	return { ...listing, readings };
}
export const fetchPart = async <T,>(source: PageSource<T>, options: Options): Promise<Listing<T>> =>
	await readPart(source, { ...options, keep: (item) => item });

/** Replaces these fields of the metadata, or leaves them out. */
export const say =
	(said: Metadata) =>
	(honest: Metadata): Metadata => ({ ...honest, ...said });

export const removeFirst = (fleet: Fleet) => void fleet.remove(fleet.at(0).sn);
export const failure = (details: Partial<FailureDetails>) =>
	new Failure({ kind: 'status', cause: 'platform', message: 'none', remedy: '', mayRefusePage: true, ...details });
export const late = failure({ kind: 'timeout', mayRefusePage: false });
export const noSuchPage = failure({ kind: 'refused', cause: 'input', code: 10001 });

const size = fc.integer({ min: 1, max: 15 });
/** A fleet on a server with right metadata, and how it is read. */
export const shape = fc.record({
	numbering: fc.constantFrom('one-based' as const, 'zero-based' as const),
	fleetSize: fc.oneof(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max: 80 })),
	pageSize: size,
	largestSize: size,
	parallel: fc.integer({ min: 1, max: 8 }),
	turns: fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 1, maxLength: 5 }),
});
export type Shape = typeof shape extends fc.Arbitrary<infer T> ? T : never;
