import { Failure, type FailureDetails } from '../../../nodes/DeviceManagement/core/failure.ts';
import { isPageFailure, mayRefuseSizeOrSort } from '../../../nodes/DeviceManagement/core/paging/refusal.ts';

/** Returns what may be refused: the page size or the sort order, a page past the end. */
const refusedBy = (thrown: unknown) =>
	[mayRefuseSizeOrSort(thrown) ? 'query' : [], isPageFailure(thrown) ? 'page' : []].flat().join(', ');

const status = (httpStatus: number): Partial<FailureDetails> => ({ kind: 'status', httpStatus });
const badQuery = { code: 10001, httpStatus: 200 };
const unknown = { code: 20001, httpStatus: 400 };
const noPage = { kind: 'response' } as const;

test.each<[refused: string, by: Array<Partial<FailureDetails>>, more?: Partial<FailureDetails>]>([
	['query, page', [-1, 9999, 10001, 10005, 10014].map((code) => ({ code }))],
	['query, page', [400, 413, 414, 422, 500].map(status)],
	['page', [{}, unknown, { kind: 'status' }, ...[401, 403, 404].map(status), noPage]],
	// As if a service could not read a sort order.
	['page', [{ code: 10002 }], { temporary: true }],
	['', [status(429), status(500), badQuery, unknown], { temporary: true }],
	['', [status(500), badQuery], { signInFailed: 'for good' }],
	['', [badQuery], { token: 'refused' }],
	['', [{ code: 14103 }], { cause: 'credential' }],
	['', [badQuery, status(500), noPage], { mayRefusePage: false }],
])('what may be refused is "%s" by %j and %j', (refused, by, more = {}) => {
	for (const details of by) {
		const words = { cause: 'input', message: 'no', remedy: '' } as const;
		const thrown = new Failure({ kind: 'refused', ...words, mayRefusePage: true, ...details, ...more });
		expect([details, refusedBy(thrown)]).toEqual([details, refused]);
	}
});

test('nothing is refused by what is not a failure', () => {
	for (const thrown of [new Error('no'), { details: badQuery }, undefined]) expect(refusedBy(thrown)).toBe('');
});
