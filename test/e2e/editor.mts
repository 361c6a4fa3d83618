/** The node in the editor, as a person sees it. */
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { chromium, selectors } from 'playwright-core';

const browsers = [
	'/usr/bin/chromium',
	'/usr/bin/chromium-browser',
	'/usr/bin/google-chrome',
	'/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
	'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
];

/** A Chromium on this machine, if there is one; none is fetched. */
export function findBrowser(): string | undefined {
	return browsers.find((path) => existsSync(path));
}

/** What the node's panel showed. */
export interface NodePanel {
	/** Every text in it. */
	text: string;
	/** How many rows its output table had after the step was run. */
	rows: number;
}

/**
 * Signs in to the editor, opens a node of a workflow, runs that step and takes a picture of it.
 * @throws Error of Playwright when something isn't there in time
 */
export async function lookAtNode(options: {
	browser: string;
	url: string;
	email: string;
	password: string;
	workflow: string;
	node: string;
	picture: string;
}): Promise<NodePanel> {
	const { url, email, password, workflow, node, picture } = options;
	selectors.setTestIdAttribute('data-test-id');
	const browser = await chromium.launch({ executablePath: options.browser, args: ['--no-sandbox'] });
	try {
		const context = await browser.newContext({ viewport: { width: 1600, height: 1000 } });
		const page = await context.newPage();
		page.setDefaultTimeout(30_000);
		await page.goto(`${url}/signin`);
		await page.locator('input[name="emailOrLdapLoginId"]').fill(email);
		await page.locator('input[name="password"]').fill(password);
		await page.getByTestId('form-submit-button').click();
		await page.waitForURL((address) => !address.pathname.startsWith('/signin'));

		await page.goto(`${url}/workflow/${workflow}`);
		await page.locator(`[data-test-id="canvas-node"][data-node-name="${node}"]`).dblclick();
		const panel = page.getByTestId('ndv');
await panel.getByTestId('node-execute-button').click();
		const rows = panel.getByTestId('output-panel').locator('tbody tr');
		await rows.first().waitFor();
		await mkdir(dirname(picture), { recursive: true });
		await page.screenshot({ path: picture });
		return { text: await panel.innerText(), rows: await rows.count() };
	} finally {
		await browser.close();
	}
}
