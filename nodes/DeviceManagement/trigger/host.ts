/**
 * n8n's side of a poll: its activation, the time that it may take, and the node's identity, state and log. Only this file knows how
 * n8n's hosts differ. It doesn't know what the state holds: docs/maintainers/trigger.md.
 */
import type { IPollFunctions } from 'n8n-workflow';

import { CREDENTIAL_TYPE } from '../transport/auth/credential';

const FIVE_MINUTES_MS = 300_000;

/** Contexts that polled before, numbered in their order. Each activation has its own context. */
const polled = new WeakMap<IPollFunctions, number>();
let contexts = 0;

export type Host = ReturnType<typeof hostOf>;

/** Returns the host of a poll, which counts as a poll of its context. */
export function hostOf(context: IPollFunctions) {
	const isFirst = !polled.has(context);
	const order = polled.get(context) ?? ++contexts;
	polled.set(context, order);
	const mode = context.getActivationMode();
	const node = context.getNode();
	const { id: workflowId } = context.getWorkflow();
	// n8n before 2.38 names no time.
	const named: unknown = context.getPollBudgetMs?.();
	const data = () => context.getWorkflowStaticData('node');
	return {
		context,
		node,
		workflowId,
		credentialId: node.credentials?.[CREDENTIAL_TYPE]?.id ?? null,
		budgetMs: typeof named === 'number' && named > 0 ? named : FIVE_MINUTES_MS,
		/** The number of its context: a newer activation has a higher one. */
		order,
		/** Whether this is the first poll of its activation. */
		isFirst,
		isNewLeader: isFirst && mode === 'leadershipChange',
		/** Whether n8n starts and waits for this poll. */
		isStart: isFirst && (mode === 'init' || mode === 'leadershipChange'),
		/**
		 * Whether n8n's default host polls. Each poll of n8n's scheduler has its own context, with mode `update` and less time.
		 * @param keepsContext whether a context of the node polled twice
		 */
		isDefault: (keepsContext = false) => mode !== 'update' || keepsContext || named === FIVE_MINUTES_MS,
		/** Whether n8n keeps the state as a durable cursor, and pauses after failures. n8n marks its other states with `__dataChanged`. */
		hasCursor: () => !('__dataChanged' in data()),
		/** Returns the state that n8n has; undefined if it has none. */
		readState: () => {
			const { state } = data();
			return typeof state === 'string' ? state : undefined;
		},
		writeState: (state: string) => void (data()['state'] = state),
		log: (level: 'info' | 'warn', words: string) =>
			context.logger[level](`The trigger "${node.name}" ${words}`, { workflowId, nodeName: node.name }),
	};
}
