import { randomBytes } from 'node:crypto';
import pWaitFor from 'p-wait-for';
import { Agent, fetch, type RequestInit, type Response } from 'undici';
import { z } from 'zod/v4';

import type { N8nProcess } from './process.mts';
import { type NodeResults, readResults } from './results.mts';

const settingsSchema = z.object({ userManagement: z.object({ showSetupOnFirstLoad: z.boolean().default(false) }) });
const workflowSchema = z.object({ id: z.string(), versionId: z.string() });
const publicationSchema = z.object({ data: z.object({ status: z.string() }) });
const startedSchema = z.object({ executionId: z.string() });
const executionsSchema = z.object({ results: z.array(z.object({ id: z.string() })) });
const executionSchema = z.object({ status: z.string(), data: z.string() });

export type Owner = ReturnType<typeof newOwner>;

/** The account of the owner, with a random password, for a separate n8n. */
export function newOwner() {
	const password = `${randomBytes(12).toString('hex')}A1`;
	return { email: 'owner@example.com', firstName: 'Device', lastName: 'Owner', password };
}

/** A running main process: the editor, webhooks and triggers. */
export class Main {
	private cookie = '';
	/** One connection per request: n8n may close an idle one just when the next request is sent. */
	private readonly dispatcher = new Agent({ pipelining: 0 });

	constructor(
		readonly url: string,
		readonly process: N8nProcess,
	) {}

	/** Creates the owner's account in a new n8n. Does nothing if it exists. */
	async setUpOwner(owner: Owner): Promise<void> {
		const { userManagement } = await this.rest(settingsSchema, 'GET', '/settings');
		if (userManagement.showSetupOnFirstLoad) await this.rest(z.unknown(), 'POST', '/owner/setup', owner);
	}

	/** Signs in as the owner, who can publish workflows. In a new n8n, it creates the account first. */
	async signIn(owner: Owner): Promise<void> {
		await this.setUpOwner(owner);
		const { email, password } = owner;
		const answer = await this.post('/rest/login', { emailOrLdapLoginId: email, password });
		if (!answer.ok) throw new Error(`n8n refused to sign in (HTTP ${answer.status}): ${await answer.text()}`);
		const cookies = answer.headers.getSetCookie();
		this.cookie = cookies.map((cookie) => cookie.split(';', 1)[0]).join('; ');
	}

	/** Saves a workflow under its own id and returns the id. */
	async create(workflow: object): Promise<string> {
		return (await this.rest(workflowSchema, 'POST', '/workflows', workflow)).id;
	}

	/**
	 * Runs a workflow like a click on “Execute workflow”.
	 * @param trigger the name of the node to start from
	 * @param item its output, for a trigger that waits for input, like a chat message
	 * @returns the output of each node that ran, also if the workflow failed
	 */
	async execute(workflowId: string, trigger: string, item?: object): Promise<NodeResults> {
		const data = item && { data: { data: { main: [[{ json: item }]] } } };
		const body = { triggerToStartFrom: { name: trigger, ...data } };
		const { executionId } = await this.rest(startedSchema, 'POST', `/workflows/${workflowId}/run`, body);
		return await this.results(executionId);
	}

	/** Ids of the newest 100 executions of a workflow, the newest first. */
	async executions(workflowId: string): Promise<string[]> {
		const filter = encodeURIComponent(JSON.stringify({ workflowId }));
		const { results } = await this.rest(executionsSchema, 'GET', `/executions?limit=100&filter=${filter}`);
		return results.map(({ id }) => id);
	}

	/** Retries a failed execution from the node that failed, like a click on “Retry”. */
	async retry(executionId: string): Promise<void> {
		await this.rest(z.unknown(), 'POST', `/executions/${executionId}/retry`, { loadWorkflow: false });
	}

	/** Waits for the end of an execution. Returns the output of each node that ran. */
	async results(executionId: string): Promise<NodeResults> {
		const read = async () => {
			const { status, data } = await this.rest(executionSchema, 'GET', `/executions/${executionId}`);
			if (['new', 'running', 'waiting'].includes(status)) return false;
			return pWaitFor.resolveWith(readResults(data));
		};
		return await pWaitFor(read, { interval: 100, timeout: 120_000 });
	}

	/** Returns a file that a node put out, by the ID of its results. */
	async download(fileId: string | undefined): Promise<Buffer> {
		const query = `id=${encodeURIComponent(fileId ?? '')}&action=download`;
		const answer = await this.asOwner('GET', `/rest/binary-data?${query}`);
		if (!answer.ok) throw new Error(`n8n doesn't return the file ${fileId} (HTTP ${answer.status})`);
		return Buffer.from(await answer.arrayBuffer());
	}

	/** Publishes a workflow: activates its triggers and webhooks. */
	async publish(workflowId: string): Promise<void> {
		const { versionId } = await this.rest(workflowSchema, 'GET', `/workflows/${workflowId}`);
		await this.rest(z.unknown(), 'POST', `/workflows/${workflowId}/activate`, { versionId });
		await this.untilPublicationSettles(workflowId);
	}

	/** Reverts `publish`. */
	async unpublish(workflowId: string): Promise<void> {
		await this.rest(z.unknown(), 'POST', `/workflows/${workflowId}/deactivate`);
		await this.untilPublicationSettles(workflowId);
	}

	/** Calls a production webhook. Returns the HTTP status and the JSON of the response; undefined if it is not JSON. */
	async webhook(path: string, body: object): Promise<{ status: number; json: unknown }> {
		const answer = await this.post(`/webhook/${path}`, body);
		return { status: answer.status, json: await answer.json().catch(() => undefined) };
	}

	/** Sends a request to an address of this n8n, for example a form. */
	async request(path: string, init: RequestInit = {}): Promise<Response> {
		return await fetch(`${this.url}${path}`, { dispatcher: this.dispatcher, ...init });
	}

	/** From 2.40 on, n8n publishes in the background. Earlier versions publish before they respond, and have no status. */
	private async untilPublicationSettles(workflowId: string): Promise<void> {
		const isSettled = async () => {
			const answer = await this.asOwner('GET', `/rest/workflows/${workflowId}/publication-status`);
			if (answer.ok) return publicationSchema.parse(await answer.json()).data.status !== 'in_progress';
			await answer.body?.cancel();
			if (answer.status === 404) return true;
			throw new Error(`n8n does not tell the status of workflow ${workflowId} (HTTP ${answer.status})`);
		};
		await pWaitFor(isSettled, { interval: 200, timeout: 60_000 });
	}

	private async post(path: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
		const json = { 'Content-Type': 'application/json', ...headers };
		return await this.request(path, { method: 'POST', headers: json, body: JSON.stringify(body) });
	}

	/** Calls n8n's own API, and returns the `data` of its response. */
	private async rest<T>(schema: z.ZodType<T>, method: 'GET' | 'POST', path: string, body?: object): Promise<T> {
		const answer = await this.asOwner(method, `/rest${path}`, body);
		if (!answer.ok) throw new Error(`n8n refused ${method} ${path} (HTTP ${answer.status}): ${await answer.text()}`);
		return z.object({ data: schema }).parse(await answer.json()).data;
	}

	/** On a busy machine, n8n may lose its database for a moment. It then refuses requests with 503 before it runs them. */
	private async asOwner(method: 'GET' | 'POST', path: string, body: object = {}): Promise<Response> {
		const headers = { Cookie: this.cookie };
		const send = async () => {
			const answer = await (method === 'GET' ? this.request(path, { headers }) : this.post(path, body, headers));
			if (answer.status !== 503) return pWaitFor.resolveWith(answer);
			await answer.body?.cancel();
			return false;
		};
		return await pWaitFor(send, { interval: 500, timeout: { milliseconds: 60_000, message: 'n8n is not ready' } });
	}
}
