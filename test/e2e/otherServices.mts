/** Services that examples use: an issue tracker with GitHub's interface, and a chat model with OpenAI's. One server has both. */
import fastify, { type FastifyInstance } from 'fastify';
import { z } from 'zod/v4';

/** With GitHub's limits. */
const issueSchema = z.object({
	title: z.string().max(256),
	body: z.string().max(65_536),
	state: z.enum(['open', 'closed']).default('open'),
});
const questionSchema = z.object({
	messages: z.array(z.looseObject({ role: z.string(), content: z.unknown() })),
	tools: z.array(z.object({ function: z.looseObject({ name: z.string() }) })).default([]),
});

/** Starts them. */
export async function startOtherServices() {
	const app = fastify({ forceCloseConnections: true });
	const [tracker, model] = [issueTracker(app), chatModel(app)];
	const origin = await app.listen({ host: '127.0.0.1', port: 0 });
	return { origin, tracker, model, stop: async () => await app.close() };
}

/** Keeps what it is told. `most`: it refuses to have more issues than this. `deleted`: numbers of issues that it had. */
function issueTracker(app: FastifyInstance) {
	const issues: Array<z.infer<typeof issueSchema> & { number: number }> = [];
	const tracker = { issues, most: Infinity, deleted: new Set<number>() };
	app.post('/repos/:owner/:repository/issues', (request, reply) => {
		if (issues.length >= tracker.most) return reply.code(403).send({ message: 'API rate limit exceeded' });
		const issue = { number: issues.length + 1, ...issueSchema.parse(request.body) };
		issues.push(issue);
		return reply.code(201).send(issue);
	});
	app.patch<{ Params: { number: string } }>('/repos/:owner/:repository/issues/:number', (request, reply) => {
		const wanted = Number(request.params.number);
		if (tracker.deleted.has(wanted)) return reply.code(410).send({ message: 'This issue was deleted' });
		const issue = issues.find(({ number }) => number === wanted);
		if (issue === undefined) return reply.code(404).send({ message: 'Not Found' });
		return Object.assign(issue, issueSchema.pick({ state: true }).parse(request.body));
	});
	return tracker;
}

/** Responds to every question with one call of the tool `next`, and then with the tool's output. */
function chatModel(app: FastifyInstance) {
	const model = { requests: new Array<z.infer<typeof questionSchema>>(), next: { tool: '', args: {} } };
	app.post('/v1/chat/completions', (request) => {
		const asked = questionSchema.parse(request.body);
		const order = model.requests.push(asked);
		const last = asked.messages.at(-1);
		const { tool: name, args } = model.next;
		const call = { id: `call_${order}`, type: 'function', function: { name, arguments: JSON.stringify(args) } };
		const choice =
			last?.role === 'tool'
				? { finish_reason: 'stop', message: { role: 'assistant', content: last.content } }
				: { finish_reason: 'tool_calls', message: { role: 'assistant', content: null, tool_calls: [call] } };
		const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
		const about = { id: `answer_${order}`, object: 'chat.completion', created: 0, model: 'obedient' };
		return { ...about, choices: [{ index: 0, ...choice }], usage };
	});
	return model;
}
