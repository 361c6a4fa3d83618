/** The example workflows on the canvas of the editor. */
import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';

import type { ExampleWorkflow } from '../n8n/examples.mts';
import { pages, targetsOf } from '../pages.mts';
import type { Editor } from './editor.mts';
import type { Witness } from './newUser.mts';

const NOTE = 'n8n-nodes-base.stickyNote';

/** Opens each example, and takes the pictures that pages show; the instance must have all of them. */
export async function openTemplates(
	editor: Editor,
	workflows: ReadonlyMap<string, ExampleWorkflow>,
	{ step, look }: Witness,
): Promise<void> {
	const shown = new Set(pages.flatMap(targetsOf));
	for (const [name, { id, nodes }] of workflows) {
		await step(`${name}.json stands on the canvas with its whole note, and nothing covers anything`, async () => {
			const steps = nodes.filter(({ type }) => type !== NOTE);
			await editor.openWorkflow(
				id,
				steps.map((node) => node.name),
			);
			assert.deepEqual(await coveredOn(editor.page), []);
			for (const note of await editor.page.getByTestId('sticky').all()) assert(await note.evaluate(isWhole));
			const picture = `template-${name}`;
			if (shown.has(`pictures/${picture}-light.png`)) await look(picture, 'workflow');
		});
	}
}

/** Whether a note shows all of its text. */
function isWhole(note: Element): boolean {
	return [note, ...Array.from(note.querySelectorAll('*'))].every(
		({ scrollHeight, clientHeight }) => scrollHeight <= clientHeight + 1,
	);
}

/** The pairs of things on the canvas that cover each other: nodes with what stands below them, notes, buttons. */
async function coveredOn(page: Page): Promise<string[]> {
	const things: Array<{ name: string; boxes: Box[] }> = [];
	for (const node of await page.getByTestId('canvas-node').all()) {
		const name = (await node.getAttribute('data-node-name')) ?? '';
		// A node's name, and what it does, stand below its box.
		const words = node.getByText(name, { exact: true }).locator('xpath=..');
		things.push({ name, boxes: [await node.boundingBox(), await words.boundingBox()] });
	}
	for (const id of ['sticky', 'execute-workflow-button', 'workflow-chat-button']) {
		for (const thing of await page.getByTestId(id).all()) things.push({ name: id, boxes: [await thing.boundingBox()] });
	}
	return things.flatMap((one, at) =>
		things
			.slice(at + 1)
			.filter((other) => one.boxes.some((box) => other.boxes.some((its) => overlap(box, its))))
			.map((other) => `${one.name} and ${other.name}`),
	);
}

type Box = Awaited<ReturnType<Locator['boundingBox']>>;

function overlap(one: Box, other: Box): boolean {
	if (one === null || other === null) return false;
	const isBeside = one.x + one.width <= other.x || other.x + other.width <= one.x;
	return !isBeside && one.y + one.height > other.y && other.y + other.height > one.y;
}
