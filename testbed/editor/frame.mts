import type { Locator, Page } from 'playwright-core';

/**
 * The part of the screen that a picture shows:
 * - `screen`: all of it
 * - `step`: the form of a node and its output, without the input
 * - `dialog`: the open dialog
 * - `nodesPanel`: the nodes panel
 * - `workflow`: the nodes and notes on the canvas, without buttons
 */
export type Frame = 'screen' | 'step' | 'dialog' | 'nodesPanel' | 'workflow';

interface Box {
	x: number;
	y: number;
	width: number;
	height: number;
}

/** Hides the editor's buttons where they may cover the workflow. */
const CONTROLS =
	'[data-test-id="canvas-controls"], [data-test-id="canvas-execute-workflow-button"], [data-test-id="execute-workflow-button"], ' +
	'[data-test-id="workflow-chat-button"], [data-test-id="ask-assistant-floating-button"], [data-test-id="canvas-plus-button"] ' +
	'{ visibility: hidden }';

/** Returns the styles for a picture of this part. */
export function styleOf(frame: Frame): string {
	return frame === 'workflow' ? CONTROLS : '';
}

/** Returns the place of this part on the screen; undefined for all of it. */
export async function placeOf(page: Page, frame: Frame): Promise<Box | undefined> {
	switch (frame) {
		case 'screen':
			return undefined;
		case 'step':
			return await placeOfStep(page);
		case 'dialog':
			return await boxOf(page.locator('.el-dialog:visible').last());
		case 'nodesPanel':
			return await boxOf(page.getByTestId('node-creator'));
		case 'workflow':
			return await placeOfWorkflow(page);
	}
}

/** Ends below the last field, the output or an open list, whichever is lowest. */
async function placeOfStep(page: Page): Promise<Box> {
	const margin = 16;
	const panel = page.getByTestId('ndv');
	const output = await boxOf(panel.getByTestId('output-panel'));
	const form = await boxOf(panel.getByTestId('node-parameters'));
	const contents = page.locator(
		'[data-test-id="node-parameters"] .parameter-item:visible, [data-test-id="output-panel"] table:visible, ' +
			'[data-test-id="output-panel"] .json-data:visible, [data-test-id="output-panel"] [data-test-id="node-error-view"]:visible, ' +
			'[data-test-id="rlc-item"]:visible',
	);
	const boxes = await boxesOf(contents);
	const bottom = Math.max(...boxes.map(({ y, height }) => y + height)) + margin;
	return {
		x: form.x,
		y: output.y,
		width: output.x + output.width - form.x,
		height: Math.min(bottom - output.y, output.height),
	};
}

async function placeOfWorkflow(page: Page): Promise<Box> {
	const margin = 24;
	const canvas = await boxOf(page.getByTestId('canvas'));
	const boxes = await boxesOf(
		page.locator('[data-test-id="canvas-node"], [data-test-id="canvas-node"] *, [data-test-id="sticky"]'),
	);
	const left = Math.max(canvas.x, Math.min(...boxes.map(({ x }) => x)) - margin);
	const top = Math.max(canvas.y, Math.min(...boxes.map(({ y }) => y)) - margin);
	const right = Math.min(canvas.x + canvas.width, Math.max(...boxes.map(({ x, width }) => x + width)) + margin);
	const bottom = Math.min(canvas.y + canvas.height, Math.max(...boxes.map(({ y, height }) => y + height)) + margin);
	return { x: left, y: top, width: right - left, height: bottom - top };
}

async function boxOf(locator: Locator): Promise<Box> {
	const box = await locator.boundingBox();
	if (box === null) throw new Error('This part of the editor is not on the screen');
	return box;
}

/** Returns the places of all elements that take up room. */
async function boxesOf(locator: Locator): Promise<Box[]> {
	const boxes = await locator.evaluateAll((elements) =>
		elements.map((element) => {
			const { x, y, width, height } = element.getBoundingClientRect();
			return { x, y, width, height };
		}),
	);
	return boxes.filter(({ width, height }) => width > 0 && height > 0);
}
