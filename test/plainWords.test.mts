import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { z } from 'zod/v4';

import { checkout } from '../testbed/checkout.mts';
import { maintainersPages, textsOn, userPages } from '../testbed/pages.mts';

/** A text that people read, and its file. */
interface Text {
	place: string;
	text: string;
	/** Tables and messages are not running text. */
	isRunning: boolean;
}

interface Source {
	name: string;
	texts: () => Text[];
}

const sources: readonly Source[] = [
	{ name: 'README and pages for users', texts: () => userPages.flatMap(onPage) },
	{ name: 'pages for maintainers', texts: () => maintainersPages.flatMap(onPage) },
	{ name: 'labels, descriptions and messages of the nodes', texts: () => inCode('nodes') },
	{ name: 'labels, descriptions and messages of the credential', texts: () => inCode('credentials') },
	{ name: 'notes in examples', texts: notesInExamples },
];

const UNWANTED = [
	...['nobody', 'whoever', 'somebody', 'anew', 'amid', 'meanwhile', 'likewise', 'by itself', 'can not'],
	...['all the same', 'as good as'],
];
const LONGEST_SENTENCE = 30;

describe.each(sources)('$name', ({ texts }) => {
	test('hold no word that a plain one replaces', () => {
		const unwanted = new RegExp(`\\b(${UNWANTED.join('|')})\\b`, 'gi');
		const found = texts().flatMap(({ place, text }) =>
			[...text.matchAll(unwanted)].map(([word]) => ({ place, word, text })),
		);
		expect(found).toEqual([]);
	});

	test(`have no sentence of more than ${LONGEST_SENTENCE} words`, () => {
		const long = texts()
			.filter(({ isRunning }) => isRunning)
			.flatMap(({ place, text }) => sentencesOf(text).map((sentence) => ({ place, sentence })))
			.filter(({ sentence }) => wordsIn(sentence) > LONGEST_SENTENCE);
		expect(long).toEqual([]);
	});
});

function onPage(page: string): Text[] {
	return textsOn(page).map(({ text, inTable }) => ({ place: page, text, isRunning: !inTable }));
}

/** Every text in shipped code, comments aside. */
function inCode(folder: string): Text[] {
	const files = readdirSync(join(checkout, folder), { recursive: true, encoding: 'utf8' });
	return files
		.filter((file) => file.endsWith('.ts'))
		.flatMap((file) => {
			const place = join(folder, file);
			const source = ts.createSourceFile(place, readFileSync(join(checkout, place), 'utf8'), ts.ScriptTarget.Latest);
			const texts: Text[] = [];
			const visit = (node: ts.Node) => {
				const isText =
					ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node);
				if (isText) texts.push({ place, text: node.text, isRunning: false });
				ts.forEachChild(node, visit);
			};
			visit(source);
			return texts;
		});
}

function notesInExamples(): Text[] {
	const schema = z.object({
		nodes: z.array(z.object({ type: z.string(), parameters: z.looseObject({ content: z.string().optional() }) })),
	});
	const files = readdirSync(join(checkout, 'examples')).filter((file) => file.endsWith('.json'));
	return files.flatMap((file) => {
		const { nodes } = schema.parse(JSON.parse(readFileSync(join(checkout, 'examples', file), 'utf8')));
		return nodes
			.filter(({ type }) => type === 'n8n-nodes-base.stickyNote')
			.map(({ parameters }) => ({ place: file, text: parameters.content ?? '', isRunning: true }));
	});
}

function sentencesOf(text: string): string[] {
	// A sentence may begin with n8n, which the segmenter takes for the middle of one.
	const capitalized = text.replace(/(?<=[.!?] )n8n/g, 'N8n');
	return [...new Intl.Segmenter('en', { granularity: 'sentence' }).segment(capitalized)].map(({ segment }) => segment);
}

function wordsIn(sentence: string): number {
	return sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}
