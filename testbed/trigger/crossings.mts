/** A side of a number. The number itself is on neither. */
export interface Limit {
	mode: 'below' | 'above';
	value: number;
}

/** What an observer knows of a value that is watched for limits. */
export interface Level {
	/** The last number, or the last value if there was none. */
	shown: unknown;
	/** Whether the last number was beyond each limit. */
	beyond: readonly boolean[];
	/** What it seems to be since then, but has not been for long enough. */
	pending?: { beyond: readonly boolean[]; since: number };
}

/**
 * What an observer tells of a value, who knows one sentence: it fires when the value crosses a limit, once. What is no number says
 * nothing. It shares no code with the trigger.
 * @param one `isRecorded`: whether this is the first list; `isFresh`: whether n8n has just started, so that a value that is back needn't last
 */
export function lookAtLevel(
	value: unknown,
	known: Level | undefined,
	one: { limits: readonly Limit[]; holdSeconds: number; now: number; isRecorded: boolean; isFresh: boolean },
): { level: Level; hasCrossed?: true } {
	const number =
		['number', 'string'].includes(typeof value) && /^-?\d+(\.\d+)?$/.test(`${value}`.trim()) ? Number(value) : NaN;
	const none = one.limits.map(() => false);
	const before = known ?? { shown: undefined, beyond: none };
	if (Number.isNaN(number)) {
		const isFirst = before.pending === undefined && !isNumber(before.shown);
		return { level: isFirst ? { ...before, shown: value } : before };
	}
	const beyond = one.limits.map((limit) => (limit.mode === 'below' ? number < limit.value : number > limit.value));
	const level = { shown: value, beyond };
	if (`${beyond}` === `${before.beyond}` || one.isRecorded) return { level };
	const hasCrossed = beyond.some((isBeyond, index) => isBeyond && before.beyond[index] !== true);
	const since = `${before.pending?.beyond}` === `${beyond}` ? (before.pending?.since ?? one.now) : one.now;
	const mustLast = one.isFresh && !hasCrossed ? 0 : one.holdSeconds;
	if (one.now - since < mustLast) return { level: { ...before, pending: { beyond, since } } };
	return { level, ...(hasCrossed && { hasCrossed }) };
}

const isNumber = (value: unknown) => value !== undefined && value !== null && /\d$/.test(`${value}`);
