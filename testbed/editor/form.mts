import type { Locator, Page } from 'playwright-core';

/** A form of the editor. Its methods take the words above a field; of several fields with these words, the last counts. */
abstract class Form {
	constructor(
		protected readonly page: Page,
		protected readonly root: Locator,
		private readonly fields: string,
	) {}

	/** Types into a field. */
	async fill(label: string, text: string): Promise<void> {
		await this.field(label).locator('input:not([role="combobox"])').fill(text);
		await passTime(this.page);
	}

	/** Chooses from the list of a field. */
	async choose(label: string, option: string): Promise<void> {
		await this.field(label).getByRole('combobox').first().click();
		await pick(this.page, option);
	}

	protected field(label: string): Locator {
		return this.root
			.locator(this.fields)
			.filter({ has: caption(this.page, label) })
			.last();
	}
}

/** The form of a credential. */
export class CredentialForm extends Form {
	constructor(page: Page) {
		super(page, page.getByTestId('editCredential-modal'), '[data-test-id="credential-connection-parameter"]');
	}

	async rename(name: string): Promise<void> {
		const current = this.root.getByTestId('credential-name');
		await current.getByTestId('inline-edit-preview').click();
		await current.locator('input').fill(name);
		await current.locator('input').press('Enter');
	}

	async save(): Promise<void> {
		await this.root.getByTestId('credential-save-button').click();
	}

	/** Saves, and waits for the green box. */
	async connect(): Promise<void> {
		await this.save();
		await this.root.getByTestId('credentials-config-container-test-success').waitFor();
	}

	/** Waits for the red box, opens its details and returns all its words. */
	async refused(): Promise<string> {
		const box = this.root
			.locator('.el-tag--danger:visible')
			.filter({ hasText: 'Couldn’t connect with these settings' });
		await box.getByText('More details').click();
		return await box.innerText();
	}

	async close(): Promise<void> {
		await this.page.keyboard.press('Escape');
		await this.root.waitFor({ state: 'hidden' });
	}
}

/** The panel of a node: its input, its fields, its output. */
export class NodePanel extends Form {
	readonly output: Locator;

	constructor(page: Page) {
		super(page, page.getByTestId('ndv'), '.parameter-item');
		this.output = this.root.getByTestId('output-panel');
	}

	/** The field that shows which credential is selected. */
	get credential(): Locator {
		return this.root.getByTestId('node-credentials-select').locator('input').first();
	}

	async chooseCredential(name: string): Promise<void> {
		await this.root.getByTestId('node-credentials-select').click();
		await pick(this.page, name);
	}

	/** Adds a choice to the list of a field, or removes it. */
	async toggle(label: string, option: string): Promise<void> {
		await this.choose(label, option);
		// The list stays open for the next choice.
		await this.root.getByText(label, { exact: true }).first().click();
	}

	/** What the fields with these words show, from the first to the last. */
	async values(label: string): Promise<string[]> {
		const fields = this.root.locator('.parameter-item').filter({ has: caption(this.page, label) });
		await fields.first().waitFor();
		const shown = await Promise.all((await fields.all()).map(async (field) => await field.locator('input').all()));
		return await Promise.all(shown.flat().map(async (input) => await input.inputValue()));
	}

	/** Turns the value of a field into an expression with the same result. */
	async useExpression(label: string): Promise<void> {
		await this.field(label).hover();
		await this.field(label).getByTestId('radio-button-expression').click();
		await passTime(this.page);
	}

	async switchOn(label: string): Promise<void> {
		await this.field(label).locator('.el-switch').click();
	}

	/** Opens a collection like “Add Filter” and takes an entry from it. */
	async add(collection: string, entry: string): Promise<void> {
		await this.root.getByPlaceholder(collection, { exact: true }).click();
		await pick(this.page, entry);
	}

	/** Clicks a button by its words. */
	async click(button: string): Promise<void> {
		await this.root.getByRole('button', { name: button, exact: true }).first().click();
	}

	/** Chooses the mode of a resource locator, like “From List”. */
	async locateBy(label: string, mode: string): Promise<void> {
		await this.field(label).getByTestId('rlc-mode-selector').click();
		await pick(this.page, mode);
	}

	/** Opens the list of a field, and chooses the line with the text. */
	async chooseListed(label: string, text: string): Promise<void> {
		await this.field(label).getByTestId('rlc-input').click();
		await this.listed(text).first().click();
	}

	/** Opens the list of a resource locator, and scrolls until it shows an entry with the text. */
	async scrollListTo(text: string): Promise<void> {
		await this.root.getByTestId('rlc-input').click();
		const all = this.page.getByTestId('rlc-item');
		await all.first().waitFor();
		while (!(await this.listed(text).isVisible())) {
			const before = await all.count();
			await all.last().scrollIntoViewIfNeeded();
			await all.nth(before).waitFor();
		}
		await this.listed(text).scrollIntoViewIfNeeded();
	}

	/** Types into the search of the open list, and waits until every entry has the text. */
	async searchList(text: string): Promise<void> {
		await this.page.getByTestId('rlc-search').fill(text);
		await passTime(this.page);
		await this.page.getByTestId('rlc-item').filter({ hasNotText: text }).first().waitFor({ state: 'detached' });
		await this.listed(text).first().waitFor();
	}

	/** An entry of the open list. */
	listed(text: string): Locator {
		return this.page.getByTestId('rlc-item').filter({ hasText: text });
	}

	/** Runs this step. */
	async execute(): Promise<void> {
		await this.root.getByTestId('node-execute-button').click();
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

	async close(): Promise<void> {
		await this.root.getByTestId('ndv-close-button').click();
		await this.root.waitFor({ state: 'hidden' });
	}
}

/** The words above a field; n8n puts a star behind those of one that has to be filled in. */
function caption(page: Page, label: string): Locator {
	const words = label.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
	return page.locator('label .n8n-text').filter({ hasText: new RegExp(`^\\s*${words}\\s*\\*?\\s*$`) });
}

/** Takes an option from the list that is open. */
export async function pick(page: Page, option: string): Promise<void> {
	await page.locator('.el-select-dropdown__item:visible').getByText(option, { exact: true }).click();
}

/** n8n takes what was typed over a moment after the last key: that moment passes on the page's own clock. */
async function passTime(page: Page): Promise<void> {
	await page.clock.fastForward(1000);
	// n8n compares times of the page with times of the server, to tell whether a step has run since it was changed.
	await page.clock.setSystemTime(Date.now());
}
