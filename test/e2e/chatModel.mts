import fastify from 'fastify';
import { z } from 'zod/v4';

const requestSchema = z.object({
	messages: z.array(z.looseObject({ role: z.string(), content: z.unknown() })),
	tools: z.array(z.object({ function: z.looseObject({ name: z.string() }) })).default([]),
});

/** Starts a model with OpenAI's interface that responds to every question with one call of the tool `next`, and then with the tool's output. */
export async function startChatModel() {
	const requests: Array<z.infer<typeof requestSchema>> = [];
	const next: { tool: string; args: object } = { tool: '', args: {} };
	const app = fastify({ forceCloseConnections: true });
	const model = { requests, next, stop: async () => await app.close() };
	app.post('/v1/chat/completions', (request) => {
		const asked = requestSchema.parse(request.body);
		requests.push(asked);
		const { tool: name, args } = model.next;
		const call = {
			id: `call_${requests.length}`,
			type: 'function',
			function: { name, arguments: JSON.stringify(args) },
		};
		const last = asked.messages.at(-1);
		const isDone = last?.role === 'tool';
		const message = {
			role: 'assistant',
			...(isDone ? { content: last.content } : { content: null, tool_calls: [call] }),
		};
		return {
			id: `answer_${requests.length}`,
			object: 'chat.completion',
			created: 0,
			model: 'obedient',
			choices: [{ index: 0, finish_reason: isDone ? 'stop' : 'tool_calls', message }],
			usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
		};
	});
	const url = `${await app.listen({ host: '127.0.0.1', port: 0 })}/v1`;
	/** For n8n's chat model node. */
	const credential = { id: 'chatModel', name: 'Chat model', type: 'openAiApi', data: { apiKey: 'none', url } };
	return Object.assign(model, { credential });
}
