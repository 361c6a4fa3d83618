/** Reads the pages of this repository: links, pictures, texts, labels and code. */
import MarkdownIt, { type Token } from 'markdown-it';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path/posix';

import { checkout } from './checkout.mts';

/** All pages, as paths from the checkout's root: README.md, other files there, and docs. */
export const pages = ['', 'docs', 'docs/maintainers'].flatMap((folder) =>
	readdirSync(join(checkout, folder))
		.filter((file) => file.endsWith('.md'))
		.map((file) => join(folder, file)),
);

/** The pages for users; the others are for people who change the package. */
export const userPages = pages.filter((page) => !page.startsWith('docs/maintainers/') && page !== 'CONTRIBUTING.md');

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
function anchorsOf(page: string): string[] {
	const kept = (heading: string) => heading.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '');
	return headingsOn(page).map((heading) => kept(heading).trim().replaceAll(' ', '-'));
}

/** Returns the labels that a page names: its texts in bold and in italics, but no sentences. `A > B` are two. */
export function labelsOn(page: string): string[] {
	const texts = [...textsWithin('strong', page), ...textsWithin('em', page)];
	return texts.filter((text) => !/[.:?!]$/.test(text)).flatMap((text) => text.split(/ [>→] /));
}

/** Returns the code of a page: its blocks, and the code in its sentences. */
export function codeOn(page: string): string[] {
	return tokensOf(page).flatMap(({ type, content }) => (type === 'fence' || type === 'code_inline' ? [content] : []));
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

/** Returns the targets of a page's links and pictures, in Markdown and in HTML, unchanged. */
export function targetsOf(page: string): string[] {
	return tokensOf(page).flatMap((token) => {
		if (token.type === 'html_block' || token.type === 'html_inline') return targetsInHtml(token.content);
		return [token.attrGet('href'), token.attrGet('src')].flatMap((target) => (target === null ? [] : [String(target)]));
	});
}

/** Where GitHub has the pages, and the files that other websites show. */
export const onGitHub = {
	pages: 'https://github.com/n8n-nodes-device-management/n8n-nodes-device-management/blob/main/',
	files: 'https://raw.githubusercontent.com/n8n-nodes-device-management/n8n-nodes-device-management/main/',
};

/** Returns the file of this repository, without a heading, that a page's target leads to; undefined for another website. */
export function ownFileOf(page: string, target: string): string | undefined {
	const own = Object.values(onGitHub).find((address) => target.startsWith(address));
	if (own === undefined && /^[a-z][a-z\d+.-]*:/i.test(target)) return undefined;
	const [path = ''] = decodeURI(own === undefined ? target : `/${target.slice(own.length)}`).split('#');
	if (path === '') return page;
	return path.startsWith('/') ? path.slice(1) : join(page, '..', path);
}

function targetsInHtml(html: string): string[] {
	return [...html.matchAll(/\s(href|src|srcset)\s*=\s*["']([^"']*)["']/gi)].flatMap(([, name = '', value = '']) =>
		// A srcset holds several addresses, each followed by a size.
		name.toLowerCase() === 'srcset' ? value.split(',').map((part) => part.trim().split(/\s+/)[0] ?? '') : [value],
	);
}

/** Returns a page's broken links inside the repository, those to headings included. */
export function lostTargetsOf(page: string, targets = targetsOf(page)): string[] {
	return targets.filter((target) => {
		const file = ownFileOf(page, target);
		if (file === undefined) return false;
		const [, anchor] = target.split('#');
		return !existsSync(join(checkout, file)) || (anchor !== undefined && !anchorsOf(file).includes(anchor));
	});
}

/** Returns the JSON blocks of a page, parsed. */
export function jsonOn(page: string): unknown[] {
	return tokensOf(page)
		.filter(({ type, info }) => type === 'fence' && info.trim() === 'json')
		.map(({ content }): unknown => JSON.parse(content));
}
