import { stepAfter } from '../../../nodes/DeviceManagement/transport/auth/step.ts';

const FLAGS = ['isReplaced', 'isSuccessor', 'isTooNew', 'mayRenew', 'isLast'] as const;
type Row = [verdict: Parameters<typeof stepAfter>[0], pattern: string, step: ReturnType<typeof stepAfter>];

/** The flags in their order: yes, no, or either. The first row that fits applies. docs/maintainers/sign-in.md has the same table. */
const TABLE: readonly Row[] = [
	['works', '*****', 'end'],
	['nothing', '*****', 'end'],
	['refused', 'y****', 'send again'],
	['refused', 'n***n', 'drop'],
	['refused', 'n***y', 'give up'],
	['doubted', 'y***n', 'send again'],
	['doubted', '***n*', 'end'],
	['doubted', '***yy', 'in vain'],
	['doubted', '**yy*', 'renew'],
	['doubted', '*nny*', 'renew'],
	['doubted', '*yny*', 'in vain'],
	['write in doubt', 'n**y*', 'renew and end'],
	['write in doubt', '*****', 'end'],
];

test('each response has the step of the table', () => {
	for (const verdict of new Set(TABLE.map(([of]) => of))) {
		for (let bits = 0; bits < 32; bits++) {
			const flags = FLAGS.map((_, at) => ((bits >> at) % 2 === 1 ? 'y' : 'n'));
			const fits = ([of, pattern]: Row) =>
				of === verdict && flags.every((flag, at) => ['*', flag].includes(pattern.charAt(at)));
			const [isReplaced, isSuccessor, isTooNew, mayRenew, isLast] = flags.map((flag) => flag === 'y');
			const known = { isReplaced, isSuccessor, isTooNew, mayRenew, isLast } as Parameters<typeof stepAfter>[1];
			expect([verdict, flags.join(''), stepAfter(verdict, known)]).toEqual([
				verdict,
				flags.join(''),
				TABLE.find(fits)?.[2],
			]);
		}
	}
});
