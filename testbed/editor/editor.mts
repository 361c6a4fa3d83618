import { type Browser, chromium, type Locator, type Page, selectors } from 'playwright-core';
import { z } from 'zod/v4';

import type { Owner } from '../n8n/main.mts';
import { CredentialForm } from './credentialForm.mts';
import { nextFrame, pick, typeSecret } from './field.mts';
import { type Frame, placeOf, styleOf } from './frame.mts';
import { NodePanel } from './nodePanel.mts';

/** The size of the browser window. It shows the whole form of most nodes, and five whole columns of a table of devices. */
const SIZE = { width: 1346, height: 1130 };

/** Long enough for a busy machine. Usually, each step takes a second. */
const LONGEST_MS = 30_000;

/** Hides messages in the corner and n8n's hints, which appear and disappear automatically. */
const PASSING = '.el-notification, .n8n-tooltip { display: none }';

const savedSchema = z.object({
	data: z.object({ nodes: z.array(z.object({ type: z.string(), parameters: z.record(z.string(), z.unknown()) })) }),
});

export type Theme = 'light' | 'dark';

/** n8n's editor in a browser; each method is one action of a user. An action that takes too long is a Playwright error. */
export class Editor {
	private constructor(
		private readonly browser: Browser,
		private readonly page: Page,
		private readonly url: string,
	) {}

	/**
	 * Opens the editor and signs in.
	 * @param browser path of a Chromium
	 * @param url of an n8n that has this owner
	 * @param scale pixels of a picture for each pixel of the page
	 */
	static async open(browser: string, url: string, { email, password }: Owner, scale = 1): Promise<Editor> {
		selectors.setTestIdAttribute('data-test-id');
		const chrome = await chromium.launch({
			executablePath: browser,
			args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking'],
		});
		try {
			const context = await chrome.newContext({
				viewport: SIZE,
				deviceScaleFactor: scale,
				locale: 'en-GB',
				timezoneId: 'UTC',
				reducedMotion: 'reduce',
			});
			const page = await context.newPage();
			page.setDefaultTimeout(LONGEST_MS);
			await page.clock.install();
			await page.goto(`${url}/signin`);
			await page.locator('input[name="emailOrLdapLoginId"]').fill(email);
			await typeSecret(page, page.locator('input[name="password"]'), password);
			await page.getByTestId('form-submit-button').click();
			await page.waitForURL((address) => !address.pathname.startsWith('/signin'));
			return new Editor(chrome, page, url);
		} catch (error) {
			await chrome.close();
			throw error;
		}
	}

	async close(): Promise<void> {
		await this.browser.close();
	}

	/** Opens the form of a new credential. */
	async newCredential(type: string): Promise<CredentialForm> {
		await this.page.goto(`${this.url}/home/credentials`);
		await this.page.getByTestId('add-resource-credential').click();
		await this.page.getByTestId('new-credential-type-select').locator('input').fill(type);
		await pick(this.page, type);
		await this.page.getByTestId('new-credential-type-button').click();
		return new CredentialForm(this.page);
	}

	async newWorkflow(): Promise<void> {
		await this.page.goto(`${this.url}/workflow/new`);
		await this.page.getByTestId('canvas-add-button').waitFor();
	}

	/**
	 * Opens a workflow and shows all of it.
	 * @param nodes the names of its nodes, without notes
	 */
	async openWorkflow(id: string, nodes: readonly string[]): Promise<void> {
		await this.page.goto(`${this.url}/workflow/${id}`);
		for (const name of nodes) await this.node(name).waitFor();
		await this.showWholeCanvas();
	}

	/** Opens the nodes panel; at an empty canvas it offers triggers first. */
	async openNodesPanel(): Promise<void> {
		const first = this.page.getByTestId('canvas-add-button');
		await ((await first.isVisible()) ? first : this.page.getByTestId('node-creator-plus-button')).click();
		await this.page.getByTestId('node-creator-search-bar').waitFor();
	}

	/** Types into the search of the nodes panel. */
	async searchNodes(text: string): Promise<void> {
		await this.page.getByTestId('node-creator-search-bar').fill(text);
	}

	/** Waits until the nodes panel lists a node of this name. */
	async seesInNodesPanel(name: string): Promise<void> {
		await this.nodesPanel.getByTestId('node-creator-item-name').getByText(name, { exact: true }).waitFor();
	}

	/** Opens what the nodes panel knows of a node: the triggers and actions that it has. */
	async openNodeDetails(name: string): Promise<void> {
		await this.nodesPanel.getByTestId('node-creator-item-name').getByText(name, { exact: true }).click();
	}

	/** Unfolds a list of the nodes panel, unless it is unfolded, until an entry of it is seen. */
	async unfold(list: 'Triggers' | 'Actions', name: string): Promise<void> {
		const heading = this.nodesPanel.getByText(new RegExp(`^${list} \\(`));
		const entry = this.nodesPanel.getByText(name, { exact: true });
		await heading.or(entry).first().waitFor();
		if (!(await entry.isVisible())) await heading.click();
		await entry.scrollIntoViewIfNeeded();
	}

	/** What the nodes panel lists. */
	async listedInNodesPanel(): Promise<string[]> {
		return await this.nodesPanel.getByTestId('node-creator-item-name').allInnerTexts();
	}

	/** Takes an entry of the nodes panel into the workflow, whose own panel then opens. */
	async addStep(entry: string): Promise<NodePanel> {
		await this.nodesPanel.getByText(entry, { exact: true }).click();
		return await this.currentNode();
	}

	/** Runs the workflow from the canvas, and waits until n8n says that it succeeded and each of these nodes has its green mark. */
	async executeWorkflow(nodes: readonly string[]): Promise<void> {
		await this.page.getByTestId('execute-workflow-button').click();
		await this.page.getByText('Workflow executed successfully').waitFor();
		for (const name of nodes) await this.node(name).getByTestId('canvas-node-status-success').waitFor();
		await this.page
			.getByTestId('canvas')
			.getByText(/^\d+ items?$/)
			.first()
			.waitFor();
	}

	/** Lets n8n arrange the nodes. */
	async tidyUp(): Promise<void> {
		await this.page.getByTestId('tidy-up-button').click();
		await this.showWholeCanvas();
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

	/** Publishes the workflow, and waits until the editor says so. */
	async publish(): Promise<void> {
		await this.page.getByTestId('workflow-open-publish-modal-button').click();
		await this.page.getByTestId('workflow-publish-button').click();
		const told = this.page.getByRole('dialog').filter({ hasText: 'Workflow published' });
		await told.getByRole('button', { name: 'Got it' }).click();
		await this.page.getByTestId('workflow-open-publish-modal-button').getByText('Published').waitFor();
	}

	async setTheme(theme: Theme): Promise<void> {
		await this.page.emulateMedia({ colorScheme: theme });
	}

	/**
	 * Takes a picture (PNG), without messages and hints.
	 * @param frame the part of the screen; undefined: all of it
	 */
	async picture(frame?: Frame): Promise<Buffer> {
		// The picture is of the page, not of what the pointer happened to rest on.
		await this.page.mouse.move(SIZE.width / 2, 2);
		await nextFrame(this.page);
		await this.page.evaluate(async () => {
			await Promise.all(Array.from(document.images, async (image) => await image.decode().catch(() => undefined)));
		});
		return await this.page.screenshot({
			...(frame && { clip: await placeOf(this.page, frame) }),
			animations: 'disabled',
			caret: 'hide',
			style: `${PASSING} ${frame ? styleOf(frame) : ''}`,
		});
	}

	/** Takes a picture (PNG) of an HTML page in a theme; its body is as large as its contents. */
	async pictureOfPage(html: string, theme: Theme): Promise<Buffer> {
		const page = await this.page.context().newPage();
		try {
			await page.emulateMedia({ colorScheme: theme });
			await page.setContent(html);
			return await page.locator('body').screenshot();
		} finally {
			await page.close();
		}
	}

	/** Opens the dialog that installs a community package, and fills it in. */
	async fillInstallDialog(name: string): Promise<void> {
		await this.page.goto(`${this.url}/settings/community-nodes`);
		await this.page
			.getByRole('button', { name: /^Install/ })
			.first()
			.click();
		const dialog = this.page.locator('.el-dialog:visible');
		await dialog.getByRole('textbox').fill(name);
		await dialog.getByText('I understand the risks').click();
	}

	/** What can't be seen on the canvas: notes whose text is cut off, and things that cover each other. */
	async hiddenOnCanvas(): Promise<string[]> {
		const notes = await this.page.getByTestId('sticky').all();
		const cut = await Promise.all(
			notes.map(
				async (note) =>
					await note.evaluate((element) =>
						[element, ...Array.from(element.querySelectorAll('*'))].some(
							({ scrollHeight, clientHeight }) => scrollHeight > clientHeight + 1,
						),
					),
			),
		);
		const buttons = await this.page
			.locator('[data-test-id="execute-workflow-button"], [data-test-id="workflow-chat-button"]')
			.all();
		const things = await Promise.all([
			...(await this.page.getByTestId('canvas-node').all()).map(async (node) => {
				const name = (await node.getAttribute('data-node-name')) ?? '';
				// A node's name, and what it does, stand below its box.
				const words = node.getByText(name, { exact: true }).locator('xpath=..');
				return { name, boxes: [await node.boundingBox(), await words.boundingBox()] };
			}),
			...notes.map(async (note) => ({ name: 'the note', boxes: [await note.boundingBox()] })),
			...buttons.map(async (button) => ({ name: 'the button', boxes: [await button.boundingBox()] })),
		]);
		const covered = things.flatMap((one, at) =>
			things
				.slice(at + 1)
				.filter((other) => one.boxes.some((box) => other.boxes.some((its) => overlap(box, its))))
				.map((other) => `${one.name} and ${other.name}`),
		);
		return [...(cut.includes(true) ? ['part of the note'] : []), ...covered];
	}

	/** The id of the workflow that is open. */
	get workflowId(): string {
		const id = /\/workflow\/([^/?]+)/.exec(this.page.url())?.[1];
		if (id === undefined) throw new Error('No workflow is open');
		return id;
	}

	/** The panel that is open. */
	async currentNode(): Promise<NodePanel> {
		const panel = this.page.getByTestId('ndv');
		await panel.waitFor();
		return new NodePanel(this.page, panel);
	}

	private node(name: string): Locator {
		return this.page.locator(`[data-test-id="canvas-node"][data-node-name="${name}"]`);
	}

	private get nodesPanel(): Locator {
		return this.page.getByTestId('node-creator');
	}
}

type Box = Awaited<ReturnType<Locator['boundingBox']>>;

function overlap(one: Box, other: Box): boolean {
	if (one === null || other === null) return false;
	const apart =
		one.x + one.width <= other.x ||
		other.x + other.width <= one.x ||
		one.y + one.height <= other.y ||
		other.y + other.height <= one.y;
	return !apart;
}
