/** n8n's side of a poll: the time that it may take, and the node's identity, state and log. It doesn't know what the state holds. */
import type { IPollFunctions } from 'n8n-workflow';

import { CREDENTIAL_TYPE } from '../../transport/auth/credential';

const FIVE_MINUTES_MS = 300_000;

/** Contexts that polled before. Each activation has its own context. */
const polled = new WeakSet<IPollFunctions>();

export type Host = ReturnType<typeof hostOf>;

/** Returns the host of a poll, which counts as a poll of its context. */
export function hostOf(context: IPollFunctions) {
	const mode = context.getActivationMode();
	const isFirst = !polled.has(context);
	polled.add(context);
	const node = context.getNode();
	const { id: workflowId } = context.getWorkflow();
	// n8n before 2.38 names no time.
	const named: unknown = context.getPollBudgetMs?.();
	const budgetMs = typeof named === 'number' && named > 0 ? named : FIVE_MINUTES_MS;
	const hasTimer = budgetMs === FIVE_MINUTES_MS;
	const data = () => context.getWorkflowStaticData('node');
	return {
		context,
		node,
		workflowId,
		credentialId: node.credentials?.[CREDENTIAL_TYPE]?.id ?? null,
		budgetMs,
		/** Whether it is a poll of n8n's default host, with its own timer. Polls of n8n's scheduler have less time, and mode `update`. */
		hasTimer,
		/** Whether this activation polls for the first time. */
		isFirst,
		/** Whether another process may have polled until now. */
		isNewLeader: isFirst && mode === 'leadershipChange',
		/** Whether n8n's start waits for this poll. */
		isStart: isFirst && (mode === 'init' || mode === 'leadershipChange'),
		/** Whether a person waits for this poll. */
		isAwaited: isFirst && (mode === 'activate' || (mode === 'update' && hasTimer)),
		/** Whether n8n keeps the state as a durable cursor, also after quiet polls. It marks its other states with `__dataChanged`. */
		hasCursor: () => !('__dataChanged' in data()),
		readState: () => {
			const { state } = data();
			return typeof state === 'string' ? state : undefined;
		},
		writeState: (state: string) => void (data()['state'] = state),
		log: (level: 'info' | 'warn', words: string) =>
			context.logger[level](`The trigger "${node.name}" ${words}`, { workflowId, nodeName: node.name }),
	};
}
