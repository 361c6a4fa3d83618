/** The example workflows on the canvas of the editor. */
import assert from 'node:assert/strict';

import type { ExampleWorkflow } from '../n8n/examples.mts';
import { pages, targetsOf } from '../pages.mts';
import type { Editor } from './editor.mts';
import type { Witness } from './newUser.mts';

type Workflows = ReadonlyMap<string, ExampleWorkflow>;

const NOTE = 'n8n-nodes-base.stickyNote';

/** Returns a workflow with the notes of all examples side by side, because the editor takes seconds to open a workflow. */
export function notesOf(workflows: Workflows) {
	const notes = [...workflows.values()].flatMap(({ nodes }) => nodes.filter(({ type }) => type === NOTE));
	const nodes = notes.map((note, at) => ({ ...note, name: `Note ${at}`, position: [1200 * at, 0] }));
	return { id: 'notesOfExamples', name: 'Notes of the examples', active: false, nodes, connections: {} };
}

/** Opens that workflow, and checks that each note shows all of its text. */
export async function checkNotes(editor: Editor, { id, nodes }: ReturnType<typeof notesOf>): Promise<void> {
	await editor.openWorkflow(id, []);
	const notes = editor.page.getByTestId('sticky');
	await notes.nth(nodes.length - 1).waitFor();
	for (const note of await notes.all()) assert(await note.evaluate(isWhole), (await note.innerText()).slice(0, 80));
}

/** Whether a note shows all of its text. */
function isWhole(note: Element): boolean {
	return [note, ...Array.from(note.querySelectorAll('*'))].every(
		({ scrollHeight, clientHeight }) => scrollHeight <= clientHeight + 1,
	);
}

/** Takes the pictures of examples that pages show; the instance must have all of them. */
export async function showTemplates(editor: Editor, workflows: Workflows, look: Witness['look']): Promise<void> {
	const shown = new Set(pages.flatMap(targetsOf));
	for (const [name, { id, nodes }] of workflows) {
		const picture = `template-${name}`;
		if (!shown.has(`pictures/${picture}-light.png`)) continue;
		const names = nodes.flatMap((node) => (node.type === NOTE ? [] : [node.name]));
		await editor.openWorkflow(id, names);
		await look(picture, 'workflow');
	}
}
