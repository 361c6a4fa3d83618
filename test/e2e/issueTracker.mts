import fastify from 'fastify';
import { z } from 'zod/v4';

const openedSchema = z.looseObject({ title: z.string(), body: z.string() });
const editedSchema = z.looseObject({ state: z.enum(['open', 'closed']) });

type Issue = { number: number } & z.infer<typeof openedSchema> & z.infer<typeof editedSchema>;

/** Starts an issue tracker with GitHub's interface that keeps what it is told. */
export async function startIssueTracker() {
	const issues: Issue[] = [];
	const app = fastify({ forceCloseConnections: true });
	/** `most`: it refuses to have more issues than this. */
	const tracker = { issues, most: Infinity, stop: async () => await app.close() };
	app.post('/repos/:owner/:repository/issues', (request, reply) => {
		if (issues.length >= tracker.most) return reply.code(403).send({ message: 'API rate limit exceeded' });
		const { title, body } = openedSchema.parse(request.body);
		const issue: Issue = { number: issues.length + 1, title, body, state: 'open' };
		issues.push(issue);
		return reply.code(201).send(issue);
	});
	app.patch<{ Params: { number: string } }>('/repos/:owner/:repository/issues/:number', (request, reply) => {
		const issue = issues.find(({ number }) => number === Number(request.params.number));
		if (issue === undefined) return reply.code(404).send({ message: 'Not Found' });
		issue.state = editedSchema.parse(request.body).state;
		return issue;
	});
	const server = await app.listen({ host: '127.0.0.1', port: 0 });
	const data = { server, user: 'n8n', accessToken: 'none' };
	/** For n8n's GitHub node. */
	const credential = { id: 'issueTracker', name: 'Issue tracker', type: 'githubApi', data };
	return Object.assign(tracker, { credential });
}
