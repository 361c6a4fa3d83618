import type { Locator, Page } from 'playwright-core';

/** The words above a field; n8n puts a star behind those of one that has to be filled in. */
export function caption(page: Page, label: string): Locator {
	const words = label.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
	return page.locator('label .n8n-text').filter({ hasText: new RegExp(`^\\s*${words}\\s*\\*?\\s*$`) });
}

/** Takes an option from the list that is open. */
export async function pick(page: Page, option: string): Promise<void> {
	await page.locator('.el-select-dropdown__item:visible').getByText(option, { exact: true }).click();
}

/** Types over what is in a field. Of what Playwright fills in itself its errors quote every letter. */
export async function typeSecret(page: Page, field: Locator, secret: string): Promise<void> {
	await field.selectText();
	await page.keyboard.insertText(secret);
}

/** n8n takes what was typed over a moment after the last key: that moment passes on the page's own clock. */
export async function passTime(page: Page): Promise<void> {
	await page.clock.fastForward(1000);
	// n8n compares times of the page with times of the server, to tell whether a step has run since it was changed.
	await page.clock.setSystemTime(Date.now());
}

/** Waits until the browser has drawn what was changed so far. */
export async function nextFrame(page: Page): Promise<void> {
	await page.evaluate(async () => {
		await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
	});
}
