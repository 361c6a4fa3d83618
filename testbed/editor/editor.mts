import { chromium, type Locator, type Page, selectors } from 'playwright-core';
import { existsSync } from 'node:fs';
import { z } from 'zod/v4';

import type { Owner } from '../n8n/main.mts';
import { CredentialForm, NodePanel, pick } from './form.mts';

const browsers = [
	'/usr/bin/chromium',
	'/usr/bin/chromium-browser',
	'/usr/bin/google-chrome',
	'/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
	'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
];

/** The size of the browser window. It shows the whole form of most nodes. */
const SIZE = { width: 1346, height: 1130 };

/** Long enough for a busy machine. Usually, each step takes a second. */
const LONGEST_MS = 30_000;

const savedSchema = z.object({
	data: z.object({ nodes: z.array(z.object({ type: z.string(), parameters: z.record(z.string(), z.unknown()) })) }),
});

/** Returns the path of a Chromium on this machine; undefined without one. It downloads nothing. */
export function findBrowser(): string | undefined {
	return browsers.find((path) => existsSync(path));
}

/** n8n's editor in a browser; each method is one action of a user. An action that takes too long is a Playwright error. */
export class Editor {
	private constructor(readonly page: Page) {}

	/** Where n8n lists the nodes, and the triggers and actions of one. */
	get nodesPanel(): Locator {
		return this.page.getByTestId('node-creator');
	}

	/**
	 * Opens the editor and signs in.
	 * @param browser path of a Chromium
	 * @param url of an n8n that has this owner
	 */
	static async open(browser: string, url: string, { email, password }: Owner): Promise<Editor> {
		selectors.setTestIdAttribute('data-test-id');
		const chrome = await chromium.launch({
			executablePath: browser,
			args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking'],
		});
		const context = await chrome.newContext({
			baseURL: url,
			viewport: SIZE,
			locale: 'en-GB',
			timezoneId: 'UTC',
			reducedMotion: 'reduce',
		});
		const page = await context.newPage();
		page.setDefaultTimeout(LONGEST_MS);
		await page.clock.install();
		await page.goto('/signin');
		await page.locator('input[name="emailOrLdapLoginId"]').fill(email);
		await page.locator('input[name="password"]').fill(password);
		await page.getByTestId('form-submit-button').click();
		await page.waitForURL((address) => !address.pathname.startsWith('/signin'));
		return new Editor(page);
	}

	async stop(): Promise<void> {
		await this.page.context().browser()?.close();
	}

	/** Opens the form of a new credential. */
	async newCredential(type: string): Promise<CredentialForm> {
		await this.page.goto('/home/credentials');
		await this.page.getByTestId('add-resource-credential').click();
		await this.page.getByTestId('new-credential-type-select').locator('input').fill(type);
		await pick(this.page, type);
		await this.page.getByTestId('new-credential-type-button').click();
		return new CredentialForm(this.page);
	}

	async newWorkflow(): Promise<void> {
		await this.page.goto('/workflow/new');
		await this.page.getByTestId('canvas-add-button').waitFor();
	}

	/**
	 * Opens a workflow and shows all of it.
	 * @param nodes the names of its nodes, without notes
	 */
	async openWorkflow(id: string, nodes: readonly string[]): Promise<void> {
		await this.page.goto(`/workflow/${id}`);
		for (const name of nodes) await this.node(name).waitFor();
		await this.showWholeCanvas();
	}

	/** Searches in the nodes panel. Returns what it then lists under the package's name. */
	async searchNodes(text: string): Promise<Locator> {
		const first = this.page.getByTestId('canvas-add-button');
		const isOpen = await this.nodesPanel.isVisible();
		// At an empty canvas, n8n offers triggers first.
		if (!isOpen) await ((await first.isVisible()) ? first : this.page.getByTestId('node-creator-plus-button')).click();
		await this.page.getByTestId('node-creator-search-bar').fill(text);
		return this.nodesPanel.getByTestId('node-creator-item-name').getByText('Device Management', { exact: true });
	}

	/** Unfolds a list of the package's triggers or actions in the nodes panel, and returns an entry of it that is seen. */
	async unfold(list: 'Triggers' | 'Actions', name: string): Promise<Locator> {
		const heading = this.nodesPanel.getByText(new RegExp(`^${list} \\(`));
		const entry = this.nodesPanel.getByText(name, { exact: true });
		await heading.or(entry).first().waitFor();
		if (!(await entry.isVisible())) await heading.click();
		await entry.scrollIntoViewIfNeeded();
		return entry;
	}

	/** Adds a step of the package, as the nodes panel lists it, to the open workflow. Its panel then opens. */
	async addStep(list: 'Triggers' | 'Actions', name: string): Promise<NodePanel> {
		await (await this.searchNodes('device management')).click();
		await (await this.unfold(list, name)).click();
		await this.page.getByTestId('ndv').waitFor();
		return new NodePanel(this.page);
	}

	/** Opens the panel of a node of the open workflow. */
	async openNode(name: string): Promise<NodePanel> {
		await this.node(name).dblclick();
		await this.page.getByTestId('ndv').waitFor();
		return new NodePanel(this.page);
	}

	/** Runs the workflow from the canvas, and waits until n8n says that it succeeded and each of these nodes has its green mark. */
	async executeWorkflow(nodes: readonly string[]): Promise<void> {
		await this.page.getByTestId('execute-workflow-button').click();
		await this.page.getByText('Workflow executed successfully').waitFor();
		for (const name of nodes) await this.node(name).getByTestId('canvas-node-status-success').waitFor();
		const counts = this.page.getByTestId('canvas').getByText(/^\d+ items?$/);
		await counts.first().waitFor();
	}

	/** Publishes the open workflow. */
	async publish(): Promise<void> {
		const publish = this.page.getByTestId('workflow-open-publish-modal-button');
		await publish.click();
		await this.page.getByTestId('workflow-publish-button').click();
		const told = this.page.getByRole('dialog').filter({ hasText: 'Workflow published' });
		await told.getByRole('button', { name: 'Got it' }).click();
		await publish.getByText('Published').waitFor();
	}

	async showWholeCanvas(): Promise<void> {
		await this.page.getByTestId('zoom-to-fit').click();
	}

	/** Saves the workflow, and returns the parameters of the package's node as n8n saved them. */
	async save(): Promise<Record<string, unknown>> {
		const saved = this.page.waitForResponse((response) => {
			const request = response.request();
			if (!/\/rest\/workflows(\/|$)/.test(new URL(response.url()).pathname)) return false;
			// n8n also saves on its own. Only this request has all changes for certain.
			return ['PATCH', 'POST'].includes(request.method()) && !/"autosaved":true/.test(request.postData() ?? '');
		});
		await this.page.keyboard.press('Control+s');
		const { nodes } = savedSchema.parse(await (await saved).json()).data;
		return nodes.find(({ type }) => type.startsWith('n8n-nodes-device-management.'))?.parameters ?? {};
	}

	private node(name: string): Locator {
		return this.page.locator(`[data-test-id="canvas-node"][data-node-name="${name}"]`);
	}
}
