/** The sentences of the docs that allow a deviation. */
export const DOCS = {
	afterOutages: 'docs/watch.md: also after outages and failed polls',
	reportedAfterwards: 'docs/queue-mode.md: Afterwards, the trigger reports once what changed in between',
	theseRuns: 'docs/troubleshooting.md: These runs with their events',
	oneMore: 'docs/troubleshooting.md: rarely one more event',
	newBaseline: "docs/watch.md: roll back to a version that can't read the trigger's memory",
	killedExecution: 'docs/queue-mode.md: The execution with its events',
	endThen: 'docs/queue-mode.md: Executions that end then: they stay “running”',
	takeLonger: 'docs/queue-mode.md: Executions that take longer, and the responses of webhooks',
	pausesFor30Minutes: 'docs/queue-mode.md: n8n pauses a trigger for 30 minutes',
	beginOrEndThen: 'docs/queue-mode.md: Executions that should begin or end then',
	endAfter36Seconds: 'docs/queue-mode.md: Polls end after 36 seconds',
	setForward: 'docs/limits.md: A clock that is set forward by an hour ends all times of For At Least (Minutes)',
	clocksGoBack: 'docs/limits.md: for as long, until you restart n8n',
	countedFromPoll: 'docs/watch.md: counted from the poll that saw the change',
} as const;
