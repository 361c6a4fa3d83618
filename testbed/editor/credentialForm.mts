import type { Locator, Page } from 'playwright-core';

import { caption, pick, typeSecret } from './field.mts';

/** The form of a credential. */
export class CredentialForm {
	private readonly form: Locator;

	constructor(private readonly page: Page) {
		this.form = page.getByTestId('editCredential-modal');
	}

	/** Renames the credential. */
	async rename(name: string): Promise<void> {
		const current = this.form.getByTestId('credential-name');
		await current.getByTestId('inline-edit-preview').click();
		await current.locator('input').fill(name);
		await current.locator('input').press('Enter');
	}

	/** Types into the field under a label. */
	async fill(label: string, text: string): Promise<void> {
		await this.field(label).locator('input').fill(text);
	}

	/** Like `fill`, for secrets: no error message quotes the text. */
	async fillSecret(label: string, secret: string): Promise<void> {
		await typeSecret(this.page, this.field(label).locator('input'), secret);
	}

	/** Chooses from the list under a label. */
	async choose(label: string, option: string): Promise<void> {
		await this.field(label).locator('input').click();
		await pick(this.page, option);
	}

	/** Whether the field hides its text. */
	async isMasked(label: string): Promise<boolean> {
		return (await this.field(label).locator('input').getAttribute('type')) === 'password';
	}

	async save(): Promise<void> {
		await this.form.getByTestId('credential-save-button').click();
	}

	/** Waits for the green box. */
	async connected(): Promise<void> {
		await this.form.getByTestId('credentials-config-container-test-success').waitFor();
	}

	/**
	 * Waits for the red box, opens its details and returns all its words.
	 * @param beforeDetails runs while the details are closed
	 */
	async refused(beforeDetails: () => Promise<void>): Promise<string> {
		const box = this.form
			.locator('.el-tag--danger:visible')
			.filter({ hasText: 'Couldn’t connect with these settings' });
		const details = box.getByText('More details');
		await details.waitFor();
		await beforeDetails();
		await details.click();
		return await box.innerText();
	}

	async close(): Promise<void> {
		await this.page.keyboard.press('Escape');
		await this.form.waitFor({ state: 'hidden' });
	}

	private field(label: string): Locator {
		return this.form.getByTestId('credential-connection-parameter').filter({ has: caption(this.page, label) });
	}
}
