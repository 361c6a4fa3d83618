import fastify from 'fastify';
import { z } from 'zod/v4';

import type { Credential } from '../../testbed/n8n/instance.mts';

const openedSchema = z.looseObject({ title: z.string(), body: z.string() });
const editedSchema = z.looseObject({ state: z.enum(['open', 'closed']) });

export interface Issue {
	number: number;
	title: string;
	body: string;
	state: 'open' | 'closed';
}

/** An issue tracker with GitHub's interface that keeps what it is told. */
export interface IssueTracker {
	/** For n8n's GitHub node. */
	readonly credential: Credential;
	readonly issues: readonly Issue[];
	/** It refuses to have more issues than this. */
	most: number;
	stop(): Promise<void>;
}

export async function startIssueTracker(): Promise<IssueTracker> {
	const issues: Issue[] = [];
	const limits = { most: Infinity };
	const app = fastify({ forceCloseConnections: true });
	app.post('/repos/:owner/:repository/issues', (request, reply) => {
		if (issues.length >= limits.most) return reply.code(403).send({ message: 'API rate limit exceeded' });
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
	return Object.assign(limits, {
		credential: {
			id: 'issueTracker',
			name: 'Issue tracker',
			type: 'githubApi',
			data: { server, user: 'n8n', accessToken: 'none' },
		},
		issues,
		stop: async () => await app.close(),
	});
}
