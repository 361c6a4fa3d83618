import fastify from 'fastify';
import { z } from 'zod/v4';

import type { Credential } from '../../testbed/n8n/instance.mts';

const requestSchema = z.object({
	messages: z.array(z.looseObject({ role: z.string(), content: z.unknown() })),
	tools: z.array(z.object({ function: z.looseObject({ name: z.string() }) })).default([]),
});

export type ChatRequest = z.infer<typeof requestSchema>;

/** A chat model with OpenAI's interface and fixed responses. */
export interface ChatModel {
	/** For n8n's chat model node. */
	readonly credential: Credential;
	readonly requests: readonly ChatRequest[];
	/** The tool that it calls next, and with what. */
	next: { tool: string; args: object };
	stop(): Promise<void>;
}

/** Starts a model that responds to every question with one call of a tool, and then with the tool's output. */
export async function startChatModel(): Promise<ChatModel> {
	const requests: ChatRequest[] = [];
	const app = fastify({ forceCloseConnections: true });
	const model = { requests, next: { tool: '', args: {} }, stop: async () => await app.close() };
	app.post('/v1/chat/completions', (request) => {
		const asked = requestSchema.parse(request.body);
		requests.push(asked);
		const last = asked.messages.at(-1);
		const { tool, args } = model.next;
		const call = {
			id: `call_${requests.length}`,
			type: 'function',
			function: { name: tool, arguments: JSON.stringify(args) },
		};
		const message = last?.role === 'tool' ? { content: last.content } : { content: null, tool_calls: [call] };
		return {
			id: `answer_${requests.length}`,
			object: 'chat.completion',
			created: 0,
			model: 'obedient',
			choices: [
				{
					index: 0,
					finish_reason: last?.role === 'tool' ? 'stop' : 'tool_calls',
					message: { role: 'assistant', ...message },
				},
			],
			usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
		};
	});
	const address = await app.listen({ host: '127.0.0.1', port: 0 });
	const data = { apiKey: 'none', url: `${address}/v1` };
	return Object.assign(model, { credential: { id: 'chatModel', name: 'Chat model', type: 'openAiApi', data } });
}
