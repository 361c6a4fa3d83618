import { globSync } from 'tinyglobby';

import { checkout } from '../testbed/checkout.mts';
import { exampleWorkflows } from '../testbed/n8n/examples.mts';
import { maintainersPages, readPage, textsOn, userPages } from '../testbed/pages.mts';

/** A text that people read, and its file. */
interface Text {
	place: string;
	text: string;
	/** Tables and code are not running text. */
	isRunning: boolean;
}

const UNWANTED =
	/\b(nobody|whoever|somebody|anew|amid|meanwhile|likewise|by itself|can not|all the same|as good as)\b/gi;
const LONGEST_SENTENCE = 30;

test.each<[of: string, texts: () => Text[] | Promise<Text[]>]>([
	['README and pages for users', () => userPages.flatMap(onPage)],
	['pages for maintainers', () => maintainersPages.flatMap(onPage)],
	['labels, descriptions, messages and comments', inCode],
	['notes in examples', notesInExamples],
])(
	`%s have no word that a plain one replaces, and no sentence of more than ${LONGEST_SENTENCE} words`,
	async (_of, texts) => {
		const unwanted = (await texts()).flatMap(({ place, text, isRunning }) => {
			const long = (isRunning ? sentencesOf(text) : []).filter((sentence) => wordsIn(sentence) > LONGEST_SENTENCE);
			return [...long, ...(text.match(UNWANTED) ?? [])].map((found) => ({ place, found, text }));
		});
		expect(unwanted).toEqual([]);
	},
);

function onPage(page: string): Text[] {
	return textsOn(page).map(({ text, inTable }) => ({ place: page, text, isRunning: !inTable }));
}

/** Every line of shipped code, with its comments. */
function inCode(): Text[] {
	return globSync('{nodes,credentials}/**/*.ts', { cwd: checkout }).flatMap((place) =>
		readPage(place)
			.split('\n')
			.map((text) => ({ place, text, isRunning: false })),
	);
}

async function notesInExamples(): Promise<Text[]> {
	return [...(await exampleWorkflows())].flatMap(([place, { nodes }]) =>
		nodes
			.filter(({ type }) => type === 'n8n-nodes-base.stickyNote')
			.map(({ parameters }) => ({ place, text: String(parameters['content']), isRunning: true })),
	);
}

function sentencesOf(text: string): string[] {
	// A sentence may begin with n8n, which the segmenter takes for the middle of one.
	const capitalized = text.replace(/(?<=[.!?] )n8n/g, 'N8n');
	return [...new Intl.Segmenter('en', { granularity: 'sentence' }).segment(capitalized)].map(({ segment }) => segment);
}

function wordsIn(sentence: string): number {
	return sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}
