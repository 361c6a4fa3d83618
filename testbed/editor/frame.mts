import type { Locator, Page } from 'playwright-core';

import { caption } from './field.mts';

/**
 * The part of the screen that a picture shows:
 * - `step`: the form of a node and its output, without the input
 * - `stepToFilters`: the same, down to the filters
 * - `dialog`: the open dialog, down to its last field that is whole
 * - `nodesPanel`: the nodes panel, down to its last entry
 * - `list`: the form of a node, down to an open list
 * - `workflow`: the nodes on the canvas, without notes: their text is too small to read
 */
export type Frame = 'step' | 'stepToFilters' | 'dialog' | 'nodesPanel' | 'list' | 'workflow';

interface Box {
	x: number;
	y: number;
	width: number;
	height: number;
}

const MARGIN = 16;

/** The editor's buttons on the canvas, which may cover the workflow, and notes. */
const HIDDEN = [
	...['canvas-controls', 'execute-workflow-button', 'workflow-chat-button', 'sticky'].map(
		(id) => `[data-test-id="${id}"]`,
	),
	'[class*="nodeButtonsWrapper"]',
];

/** Returns the styles for a picture of this part. */
export function styleOf(frame: Frame): string {
	return frame === 'workflow' ? `${HIDDEN.join(', ')} { display: none !important }` : '';
}

/** Returns the place of this part on the screen. */
export async function placeOf(page: Page, frame: Frame): Promise<Box> {
	switch (frame) {
		case 'step':
			return await placeOfStep(page);
		case 'stepToFilters':
			return await placeOfStep(page, 'Filters');
		case 'dialog':
			return await placeOfDialog(page.locator('.el-dialog:visible').last());
		case 'nodesPanel': {
			const panel = page.getByTestId('node-creator');
			return downTo(await boxOf(panel), await boxesOf(panel.getByTestId('node-creator-item-name')));
		}
		case 'list': {
			const form = await boxOf(page.getByTestId('ndv').getByTestId('node-parameters'));
			return downTo(form, await boxesOf(page.getByTestId('rlc-item')));
		}
		case 'workflow':
			return await placeOfWorkflow(page);
	}
}

/**
 * Ends below the last field or the output, whichever is lower.
 * @param last label of a field to end at instead
 */
async function placeOfStep(page: Page, last?: string): Promise<Box> {
	const panel = page.getByTestId('ndv');
	const form = panel.getByTestId('node-parameters');
	const output = await boxOf(panel.getByTestId('output-panel'));
	const { x } = await boxOf(form);
	const step = { ...output, x, width: output.x + output.width - x };
	if (last !== undefined) {
		const field = form.getByTestId('parameter-item').filter({ has: caption(page, last) });
		return downTo(step, [await boxOf(field.first())]);
	}
	const fields = await boxesOf(form.getByTestId('parameter-item'));
	const shown = await boxesOf(
		panel.getByTestId('output-panel').locator('table, .vjs-tree-node, [data-test-id="node-error-view"]'),
	);
	return downTo(step, [...fields, ...shown]);
}

async function placeOfDialog(dialog: Locator): Promise<Box> {
	const box = await boxOf(dialog);
	const fields = dialog.getByTestId('credential-connection-parameter');
	const [whole, seen] = [await fields.evaluateAll(heights), await boxesOf(fields)];
	const fitting = seen.filter(({ height }, at) => height === whole[at]);
	return fitting.length === 0 ? box : downTo(box, fitting);
}

/** Returns a part with another lower end: below these contents. */
function downTo(part: Box, contents: readonly Box[]): Box {
	const bottom = Math.max(...contents.map(({ y, height }) => y + height)) + MARGIN;
	return { ...part, height: Math.min(bottom - part.y, part.height) };
}

async function placeOfWorkflow(page: Page): Promise<Box> {
	const canvas = await boxOf(page.getByTestId('canvas'));
	const boxes = await boxesOf(page.locator('[data-test-id="canvas-node"], [data-test-id="canvas-node"] *'));
	const left = Math.max(canvas.x, Math.min(...boxes.map(({ x }) => x)) - MARGIN);
	const top = Math.max(canvas.y, Math.min(...boxes.map(({ y }) => y)) - MARGIN);
	const right = Math.min(canvas.x + canvas.width, Math.max(...boxes.map(({ x, width }) => x + width)) + MARGIN);
	const bottom = Math.min(canvas.y + canvas.height, Math.max(...boxes.map(({ y, height }) => y + height)) + MARGIN);
	return { x: left, y: top, width: right - left, height: bottom - top };
}

async function boxOf(locator: Locator): Promise<Box> {
	const box = await locator.boundingBox();
	if (box === null) throw new Error('This part of the editor is not on the screen');
	return box;
}

function heights(elements: Element[]): number[] {
	return elements.map((element) => element.getBoundingClientRect().height).filter((height) => height > 0);
}

/** Returns the places of what is seen of each element; its own scroll areas may hide a part. */
async function boxesOf(locator: Locator): Promise<Box[]> {
	const boxes = await locator.evaluateAll((elements) =>
		elements.map((element) => {
			const { x, y, width, height, bottom } = element.getBoundingClientRect();
			let end = bottom;
			for (let area = element.parentElement; area !== null; area = area.parentElement) {
				if (getComputedStyle(area).overflowY !== 'visible') end = Math.min(end, area.getBoundingClientRect().bottom);
			}
			return { x, y, width, height: Math.min(height, end - y) };
		}),
	);
	return boxes.filter(({ width, height }) => width > 0 && height > 0);
}
