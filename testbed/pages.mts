/** Reads the pages of this repository: links, pictures, texts, and the JSON to copy. */
import MarkdownIt, { type Token } from 'markdown-it';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path/posix';
import { z } from 'zod/v4';

import { checkout } from './checkout.mts';

/** All pages, as paths from the checkout's root: README.md, other files there, and docs. */
export const pages = ['', 'docs', 'docs/maintainers'].flatMap((folder) =>
	readdirSync(join(checkout, folder))
		.filter((file) => file.endsWith('.md'))
		.map((file) => join(folder, file)),
);

/** Pages for people who change the package, not for users. */
export const maintainersPages = pages.filter(
	(page) => page.startsWith('docs/maintainers/') || page === 'CONTRIBUTING.md',
);
export const userPages = pages.filter((page) => !maintainersPages.includes(page));

const markdown = new MarkdownIt({ html: true });

export function readPage(page: string): string {
	return readFileSync(join(checkout, page), 'utf8');
}

/** Pages parsed so far, by their text: links lead to the same few pages again and again. */
const parsed = new Map<string, Token[]>();

/** Returns the blocks of a page, each followed by the tokens in it. */
function tokensOf(page: string): Token[] {
	const text = readPage(page);
	const tokens = parsed.get(text) ?? markdown.parse(text, {}).flatMap((token) => [token, ...(token.children ?? [])]);
	parsed.set(text, tokens);
	return tokens;
}

function headingsOn(page: string): string[] {
	const tokens = tokensOf(page);
	return tokens.flatMap(({ type }, at) => (type === 'heading_open' ? [tokens[at + 1]?.content ?? ''] : []));
}

/** Returns the anchors that GitHub creates for a page's headings. */
export function anchorsOf(page: string): string[] {
	const kept = (heading: string) => heading.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '');
	return headingsOn(page).map((heading) => kept(heading).trim().replaceAll(' ', '-'));
}

/** Returns the texts in italics on a page: labels of n8n and of the package. */
export const italicsOn = (page: string): string[] => textsWithin('em', page);

/** Returns what a page names: its headings, and its texts in bold and in italics. */
export function namesOn(page: string): string[] {
	return [...headingsOn(page), ...textsWithin('strong', page), ...italicsOn(page)];
}

function textsWithin(tag: 'em' | 'strong', page: string): string[] {
	const tokens = tokensOf(page);
	return tokens.flatMap(({ type }, at) => {
		if (type !== `${tag}_open`) return [];
		const end = tokens.findIndex((token, place) => place > at && token.type === `${tag}_close`);
		const within = tokens.slice(at + 1, end);
		return within.map((token) => (token.type === 'softbreak' ? ' ' : token.content)).join('');
	});
}

/** Returns the paragraphs, headings, list items and table cells of a page as plain text. Inline code is one word: `code`. */
export function textsOn(page: string): Array<{ text: string; inTable: boolean }> {
	let inTable = false;
	return tokensOf(page).flatMap(({ type, children }) => {
		if (type === 'table_open' || type === 'table_close') inTable = type === 'table_open';
		if (type !== 'inline') return [];
		return { text: (children ?? []).map(wordsOf).join(''), inTable };
	});
}

function wordsOf({ type, content }: Token): string {
	if (type === 'softbreak' || type === 'hardbreak') return ' ';
	if (type === 'html_inline') return /\balt="([^"]*)"/.exec(content)?.[1] ?? '';
	return type === 'code_inline' ? 'code' : content;
}

/** Returns the targets of a page's links and pictures, in Markdown and in HTML, unchanged. */
export function targetsOf(page: string): string[] {
	return tokensOf(page).flatMap((token) => {
		if (token.type === 'html_block' || token.type === 'html_inline') return targetsInHtml(token.content);
		return [token.attrGet('href'), token.attrGet('src')].flatMap((target) => (target === null ? [] : [String(target)]));
	});
}

/** Returns the addresses of the pictures in a Markdown text. */
export function picturesIn(text: string): string[] {
	return targetsInHtml(markdown.render(text), 'src|srcset');
}

function targetsInHtml(html: string, names = 'href|src|srcset'): string[] {
	const attributes = new RegExp(`\\s(${names})\\s*=\\s*["']([^"']*)["']`, 'gi');
	return [...html.matchAll(attributes)].flatMap(([, name = '', value = '']) =>
		// A srcset holds several addresses, each followed by a size.
		name.toLowerCase() === 'srcset' ? value.split(',').map((part) => part.trim().split(/\s+/)[0] ?? '') : [value],
	);
}

/** Returns a page's broken links inside the repository, those to headings included. */
export function lostTargetsOf(page: string): string[] {
	return targetsOf(page).filter((target) => {
		if (/^[a-z][a-z\d+.-]*:/i.test(target)) return false;
		const [path = '', anchor] = decodeURI(target).split('#');
		const place = path === '' ? page : join(page, '..', path);
		return !existsSync(join(checkout, place)) || (anchor !== undefined && !anchorsOf(place).includes(anchor));
	});
}

/**
 * Returns the JSON blocks of a page, parsed.
 * @throws SyntaxError for an invalid block
 */
export function jsonOn(page: string): unknown[] {
	return tokensOf(page)
		.filter(({ type, info }) => type === 'fence' && info.trim() === 'json')
		.map(({ content }): unknown => JSON.parse(content));
}

const connectionSchema = z.object({ node: z.string(), type: z.string(), index: z.number() });

/** The parts of a workflow that n8n needs when you paste it. */
export const nodeSchema = z.looseObject({
	name: z.string(),
	type: z.string(),
	typeVersion: z.number(),
	parameters: z.record(z.string(), z.unknown()),
	position: z.tuple([z.number(), z.number()]),
});
export const connectionsSchema = z.record(z.string(), z.record(z.string(), z.array(z.array(connectionSchema))));
const workflowSchema = z.looseObject({ nodes: z.array(nodeSchema), connections: connectionsSchema });

export type ShownWorkflow = z.infer<typeof workflowSchema>;

/**
 * Returns the workflows on a page, in order.
 * @throws ZodError for a workflow that n8n's editor would not accept
 */
export function workflowsOn(page: string): ShownWorkflow[] {
	return jsonOn(page)
		.filter((json) => typeof json === 'object' && json !== null && 'nodes' in json)
		.map((json) => workflowSchema.parse(json));
}
