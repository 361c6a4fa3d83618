import type { Locator, Page } from 'playwright-core';

import { caption } from './form.mts';

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

type Box = Exclude<Awaited<ReturnType<Locator['boundingBox']>>, null>;

const MARGIN = 16;

/** Returns the place of this part on the screen. */
export async function placeOf(page: Page, frame: Frame): Promise<Box> {
	const [panel, nodesPanel] = [page.getByTestId('ndv'), page.getByTestId('node-creator')];
	const form = panel.getByTestId('node-parameters');
	const fields = form.getByTestId('parameter-item');
	switch (frame) {
		case 'nodesPanel':
			return downTo(await boxOf(nodesPanel), await boxesOf(nodesPanel.getByTestId('node-creator-item-name')));
		case 'list':
			return downTo(await boxOf(form), await boxesOf(page.getByTestId('rlc-item')));
		case 'dialog': {
			const dialog = page.locator('.el-dialog:visible').last();
			const shown = await boxesOf(dialog.getByTestId('credential-connection-parameter'));
			const whole = shown.filter(({ height, wholeHeight }) => height === wholeHeight);
			return whole.length === 0 ? await boxOf(dialog) : downTo(await boxOf(dialog), whole);
		}
		case 'workflow': {
			const nodes = await boxesOf(page.locator('[data-test-id="canvas-node"], [data-test-id="canvas-node"] *'));
			return around(nodes, await boxOf(page.getByTestId('canvas')));
		}
	}
	const output = await boxOf(panel.getByTestId('output-panel'));
	const { x } = await boxOf(form);
	const step = { ...output, x, width: output.x + output.width - x };
	if (frame === 'stepToFilters') {
		return downTo(step, [await boxOf(fields.filter({ has: caption(page, 'Filters') }).first())], MARGIN / 2);
	}
	// The output may be lower than the last field.
	const shown = panel.getByTestId('output-panel').locator('table, .vjs-tree-node, [data-test-id="node-error-view"]');
	return downTo(step, [...(await boxesOf(fields)), ...(await boxesOf(shown))]);
}

/** Returns a part with another lower end: below these contents. */
function downTo(part: Box, contents: readonly Box[], margin = MARGIN): Box {
	const bottom = Math.max(...contents.map(({ y, height }) => y + height)) + margin;
	return { ...part, height: Math.min(bottom - part.y, part.height) };
}

/** Returns the part of `within` that has all these contents. */
function around(contents: readonly Box[], within: Box): Box {
	const x = Math.max(within.x, Math.min(...contents.map((box) => box.x)) - MARGIN);
	const y = Math.max(within.y, Math.min(...contents.map((box) => box.y)) - MARGIN);
	const right = Math.min(within.x + within.width, Math.max(...contents.map((box) => box.x + box.width)) + MARGIN);
	const bottom = Math.min(within.y + within.height, Math.max(...contents.map((box) => box.y + box.height)) + MARGIN);
	return { x, y, width: right - x, height: bottom - y };
}

async function boxOf(locator: Locator): Promise<Box> {
	const box = await locator.boundingBox();
	if (box === null) throw new Error('This part of the editor is not on the screen');
	return box;
}

/** Returns the places of what is seen of each element; its own scroll areas may hide a part. */
async function boxesOf(locator: Locator): Promise<Array<Box & { wholeHeight: number }>> {
	const boxes = await locator.evaluateAll((elements) =>
		elements.map((element) => {
			const { x, y, width, height, bottom } = element.getBoundingClientRect();
			let end = bottom;
			for (let area = element.parentElement; area !== null; area = area.parentElement) {
				if (getComputedStyle(area).overflowY !== 'visible') end = Math.min(end, area.getBoundingClientRect().bottom);
			}
			return { x, y, width, height: Math.min(height, end - y), wholeHeight: height };
		}),
	);
	return boxes.filter(({ width, height }) => width > 0 && height > 0);
}
