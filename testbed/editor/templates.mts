/** The example workflows on the canvas of the editor. */
import assert from 'node:assert/strict';

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
			await editor.openWorkflow(
				id,
				nodes.filter(({ type }) => type !== NOTE).map((node) => node.name),
			);
			assert.deepEqual(await editor.hiddenOnCanvas(), []);
			const picture = `template-${name}`;
			if (shown.has(`pictures/${picture}-light.png`)) await look(picture, 'workflow');
		});
	}
}
