import { Traffic } from '../../nodes/DeviceManagement/transport/traffic.ts';

let traffic: Traffic;
beforeEach(() => {
	traffic = new Traffic();
});

const forEver = async () => await new Promise<void>(() => {});
const atOnce = async () => {};

/** Whether a promise has settled by now. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
	let settled = false;
	void promise.then(() => (settled = true));
	for (let turn = 0; turn < 10; turn++) await Promise.resolve();
	return settled;
}

describe('whether a token lives', () => {
	test('nobody knows before an answer, nor by a request that got none', () => {
		traffic.settle(traffic.begin(), 'unanswered');
		expect({ lives: traffic.lives, accepted: traffic.accepted }).toEqual({ lives: undefined, accepted: false });
	});

	test('the last answer says, of requests that were sent one after the other', () => {
		traffic.settle(traffic.begin(), 'accepted');
		expect({ lives: traffic.lives, accepted: traffic.accepted }).toEqual({ lives: true, accepted: true });
		traffic.settle(traffic.begin(), 'refused');
		expect({ lives: traffic.lives, accepted: traffic.accepted }).toEqual({ lives: false, accepted: true });
		traffic.settle(traffic.begin(), 'accepted');
		expect(traffic.lives).toBe(true);
	});

	test('is not said by what was sent before the last refusal', () => {
		const [refused, late] = [traffic.begin(), traffic.begin()];
		traffic.settle(refused, 'refused');
		traffic.settle(late, 'accepted');
		expect(traffic.lives).toBe(false);
		traffic.settle(traffic.begin(), 'unanswered');
		expect(traffic.lives).toBe(false);
	});
});

describe('what becomes of the next request', () => {
	test.each(['accepted', 'refused'] as const)('is told by the first that is sent from then on: %s', async (outcome) => {
		const early = traffic.begin();
		const verdicts = [traffic.verdict(forEver), traffic.verdict(forEver)];
		traffic.settle(early, outcome === 'accepted' ? 'refused' : 'accepted');
		expect(await isSettled(Promise.race(verdicts))).toBe(false);
		traffic.settle(traffic.begin(), 'unanswered');
		expect(await isSettled(Promise.race(verdicts))).toBe(false);
		const later = traffic.verdict(forEver);
		traffic.settle(traffic.begin(), outcome);
		expect(await Promise.all([...verdicts, later])).toEqual([outcome, outcome, outcome]);
	});

	test('is told to each once, to whom it concerns', async () => {
		const first = traffic.begin();
		const one = traffic.verdict(forEver);
		const second = traffic.begin();
		const other = traffic.verdict(forEver);
		const third = traffic.begin();
		traffic.settle(second, 'refused');
		expect(await one).toBe('refused');
		expect(await isSettled(other)).toBe(false);
		traffic.settle(first, 'accepted');
		traffic.settle(third, 'accepted');
		expect(await other).toBe('accepted');
	});

	test('is nothing when the pause is over and nothing is under way', async () => {
		traffic.settle(traffic.begin(), 'accepted');
		expect(await traffic.verdict(atOnce)).toBeUndefined();
	});

	test('is waited for after the pause, as long as something is under way', async () => {
		const early = traffic.begin();
		const verdict = traffic.verdict(atOnce);
		expect(await isSettled(verdict)).toBe(false);
		traffic.settle(early, 'unanswered');
		expect(await verdict).toBeUndefined();
	});
});

describe('when all have settled that are under way', () => {
	test('is now where there are none', async () => {
		expect(await isSettled(traffic.allSettled())).toBe(true);
		traffic.settle(traffic.begin(), 'accepted');
		expect(await isSettled(traffic.allSettled())).toBe(true);
	});

	test('is with the end of the last of them, whatever began later', async () => {
		const [one, other] = [traffic.begin(), traffic.begin()];
		const settled = traffic.allSettled();
		const later = traffic.begin();
		const all = traffic.allSettled();
		traffic.settle(other, 'unanswered');
		expect(await isSettled(settled)).toBe(false);
		traffic.settle(one, 'accepted');
		expect(await isSettled(settled)).toBe(true);
		expect(await isSettled(all)).toBe(false);
		traffic.settle(later, 'refused');
		expect(await isSettled(all)).toBe(true);
	});
});
