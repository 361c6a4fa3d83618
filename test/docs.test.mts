import MarkdownIt from 'markdown-it';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod/v4';

import { checkout } from '../testbed/checkout.mts';
import { readWorkflow } from '../testbed/engine/workflowFile.mts';

const folders = ['.', 'docs'];
const pages = folders.flatMap((folder) =>
	readdirSync(join(checkout, folder))
		.filter((file) => file.endsWith('.md'))
		.map((file) => join(folder, file)),
);

const read = (page: string) => readFileSync(join(checkout, page), 'utf8');
const markdown = new MarkdownIt({ html: true });
const tokens = (page: string) =>
	markdown.parse(read(page), {}).flatMap((token) => [token, ...(token.children ?? [])]);

/** The anchor that GitHub gives a heading. */
const anchorOf = (heading: string) =>
	heading
		.toLowerCase()
		.replace(/[^\p{L}\p{N}\s_-]/gu, '')
		.trim()
		.replaceAll(' ', '-');

const anchorsOf = (page: string) => {
	const all = tokens(page);
	return all.flatMap(({ type }, index) => (type === 'heading_open' ? [anchorOf(all[index + 1]?.content ?? '')] : []));
};

test.each(pages)('%s leads nowhere that is not there', (page) => {
	const targets = tokens(page)
		.flatMap((token) => [token.attrGet('href'), token.attrGet('src')])
		.flatMap((target) => (target === null || /^[a-z]+:/.test(String(target)) ? [] : String(target)));
	const lost = targets.filter((target) => {
		const [path = '', anchor] = decodeURI(target).split('#');
		const place = path === '' ? page : join(dirname(page), path);
		if (!existsSync(join(checkout, place))) return true;
		return anchor !== undefined && !anchorsOf(place).includes(anchor);
	});
	expect(lost).toEqual([]);
});

test.each(pages)('%s shows no JSON that is none, and no workflow that n8n would not take', (page) => {
	for (const { type, info, content } of tokens(page)) {
		if (type !== 'fence' || info.trim() !== 'json') continue;
		const json: unknown = JSON.parse(content);
		if (z.object({ nodes: z.array(z.unknown()) }).safeParse(json).success) readWorkflow(z.custom<Parameters<typeof readWorkflow>[0]>().parse(json));
	}
});

test('every example is named on a page', () => {
	const text = pages.map(read).join('\n');
	const files = readdirSync(join(checkout, 'examples'));
	expect(files.filter((file) => !text.includes(`examples/${file}`))).toEqual([]);
});
