import { DEVIATIONS, FAULT, grouped, type Verdict } from './judgement.mts';

/** Returns a row for each trigger and disturbance, in Markdown. A change belongs to the disturbance before it. */
export function tableOf(verdicts: readonly Verdict[]): string {
	const head = ['trigger', 'after', 'changes', 'reported', 'none due', 'pending', ...DEVIATIONS, 'latest', 'reasons'];
	const groups = grouped(verdicts, ({ trigger, after }) => JSON.stringify([trigger, after]));
	const rows = [...groups.values()].map((group) => {
		const count = (outcome: Verdict['outcome']) => group.filter((each) => each.outcome === outcome).length || '';
		const latest = Math.max(...group.map(({ lateMs }) => lateMs));
		const reasons = grouped(
			group.filter(({ reason }) => reason !== undefined),
			({ outcome, reason }) => `${outcome}: ${reason}`,
		);
		return [
			...[group[0]?.trigger, group[0]?.after, group.length],
			...[count('reported'), count('none due'), count('pending'), ...DEVIATIONS.map(count)],
			`${Math.round(latest / 1000)} s`,
			[...reasons].map(([reason, { length }]) => `${length} ${reason}`).join('; '),
		];
	});
	const faults = verdicts.filter(({ reason }) => reason === FAULT).length;
	const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
	return [...lines, '', '“latest”: beyond the wait and one interval.', `Faults: ${faults}`].join('\n');
}
