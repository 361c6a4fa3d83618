import type { Locator, Page } from 'playwright-core';

import { caption, nextFrame, passTime, pick } from './field.mts';

/** The panel of a node: its input, its fields, its output. */
export class NodePanel {
	constructor(
		private readonly page: Page,
		private readonly panel: Locator,
	) {}

	/** The credential that n8n selected. */
	async credential(): Promise<string> {
		return await this.panel.getByTestId('node-credentials-select').locator('input').first().inputValue();
	}

	async chooseCredential(name: string): Promise<void> {
		await this.panel.getByTestId('node-credentials-select').click();
		await pick(this.page, name);
	}

	/** Chooses from the list under a label; of several with that label, the last. */
	async choose(label: string, option: string): Promise<void> {
		await this.field(label).getByRole('combobox').first().click();
		await pick(this.page, option);
	}

	/** Adds a choice to the list under a label, or removes it. */
	async toggle(label: string, option: string): Promise<void> {
		await this.choose(label, option);
		// The list stays open for the next choice.
		await this.panel.getByText(label, { exact: true }).first().click();
	}

	/** Turns the value of a field into an expression with the same result. */
	async useExpression(label: string): Promise<void> {
		await this.field(label).hover();
		await this.field(label).getByTestId('radio-button-expression').click();
		await passTime(this.page);
	}

	/** Types into the field under a label; of several with that label, the last. */
	async fill(label: string, text: string): Promise<void> {
		await this.field(label).locator('input:not([role="combobox"])').fill(text);
		await passTime(this.page);
	}

	async switchOn(label: string): Promise<void> {
		await this.field(label).locator('.el-switch').click();
	}

	/** Opens a collection like “Add Filter” and takes an entry from it. */
	async add(collection: string, entry: string): Promise<void> {
		await this.panel.getByPlaceholder(collection, { exact: true }).click();
		await pick(this.page, entry);
	}

	/** Clicks a button by its words. */
	async click(button: string): Promise<void> {
		await this.panel.getByRole('button', { name: button, exact: true }).click();
	}

	/** Chooses the mode of a resource locator, like “From List”. */
	async locateBy(mode: string): Promise<void> {
		await this.panel.getByTestId('rlc-mode-selector').click();
		await pick(this.page, mode);
	}

	/** Opens the list of a resource locator, and waits for its first entry. */
	async openList(): Promise<void> {
		await this.panel.getByTestId('rlc-input').click();
		await this.page.getByTestId('rlc-item').first().waitFor();
	}

	/** Scrolls the open list until it shows an entry that begins with the text. */
	async scrollListTo(text: string): Promise<void> {
		const entry = this.listed(text);
		const all = this.page.getByTestId('rlc-item');
		while (!(await entry.isVisible())) {
			const before = await all.count();
			await all.last().scrollIntoViewIfNeeded();
			await all.nth(before).waitFor();
		}
		await entry.scrollIntoViewIfNeeded();
	}

	/**
	 * Types into the search of the open list, and waits for the results.
	 * @param found a text that every result has
	 */
	async searchList(text: string, found: string): Promise<void> {
		await this.page.getByTestId('rlc-search').fill(text);
		await passTime(this.page);
		await this.page.getByTestId('rlc-item').filter({ hasNotText: found }).first().waitFor({ state: 'detached' });
		await this.listed(found).first().waitFor();
	}

	async pickFromList(text: string): Promise<void> {
		await this.listed(text).click();
	}

	/** Makes the output wider and the input narrower. */
	async widenOutput(): Promise<void> {
		const handle = this.panel.getByTestId('panel-drag-button');
		const box = await handle.boundingBox();
		if (box === null) throw new Error('The panel has no handle');
		const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
		await this.page.mouse.move(x, y);
		await this.page.mouse.down();
		for (const way of [60, 130, 130]) {
			await this.page.mouse.move(x - way, y);
			await nextFrame(this.page);
		}
		await this.page.mouse.up();
	}

	/** Shows the form from its first field. */
	async scrollToTop(): Promise<void> {
		await this.panel.getByTestId('node-parameters').getByTestId('parameter-item').first().scrollIntoViewIfNeeded();
	}

	/** Runs this step. */
	async execute(): Promise<void> {
		await this.panel.getByTestId('node-execute-button').click();
	}

	/** Clicks “Fetch Test Event” of a trigger. */
	async fetchTestEvent(): Promise<void> {
		await this.panel.getByRole('button', { name: 'Fetch Test Event' }).first().click();
	}

	async close(): Promise<void> {
		await this.panel.getByTestId('ndv-close-button').click();
		await this.panel.waitFor({ state: 'hidden' });
	}

	/** Returns the output table: for each row, its texts by column, in order. */
	async table(): Promise<Array<Record<string, string>>> {
		const table = this.output.locator('table');
		await table.locator('tbody tr').first().waitFor();
		const columns = await table.locator('thead th').allInnerTexts();
		const rows = await table.locator('tbody tr').all();
		const texts = await Promise.all(rows.map(async (row) => await row.locator('td').allInnerTexts()));
		// The last column has no name. It is only the table's margin.
		return texts.map((cells) =>
			Object.fromEntries(columns.flatMap((name, at) => (name === '' ? [] : [[name, cells[at] ?? '']]))),
		);
	}

	/** Chooses how the output is shown, and waits for a text in it. */
	async showOutputAs(mode: 'Schema' | 'Table' | 'JSON', text: string): Promise<void> {
		await this.output.getByRole('radio', { name: mode }).click();
		await this.output.getByTestId('ndv-data-container').getByText(text).first().waitFor();
	}

	/** Returns the number of items that the output shows. */
	async itemCount(): Promise<string> {
		return await this.output.getByTestId('ndv-items-count').innerText();
	}

	/** Returns the error in the output. */
	async error(): Promise<{ message: string; advice: string }> {
		const message = this.output.getByTestId('node-error-message');
		await message.waitFor();
		return {
			message: await message.innerText(),
			advice: await this.output.getByTestId('node-error-description').innerText(),
		};
	}

	private field(label: string): Locator {
		return this.panel
			.locator('.parameter-item')
			.filter({ has: caption(this.page, label) })
			.last();
	}

	private listed(text: string): Locator {
		return this.page.getByTestId('rlc-item').filter({ hasText: text });
	}

	private get output(): Locator {
		return this.panel.getByTestId('output-panel');
	}
}
