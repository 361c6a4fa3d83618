import { Failure, type FailureDetails } from '../../../nodes/DeviceManagement/core/failure.ts';
import { mayRefuse, undefinedIfPageRefused } from '../../../nodes/DeviceManagement/core/paging/refusal.ts';

/** Returns what a failure may refuse: the page size, the sort order, a page past the end. */
async function refusedBy(error: unknown): Promise<string> {
	const page = await Promise.reject(error)
		.catch(undefinedIfPageRefused)
		.catch((rethrown: unknown) => {
			expect(rethrown).toBe(error);
			return 'rethrown';
		});
	const refused = { size: mayRefuse('size', error), order: mayRefuse('order', error), page: page === undefined };
	return Object.entries(refused)
		.flatMap(([name, is]) => (is ? [name] : []))
		.join(', ');
}

const status = (httpStatus: number) => ({ kind: 'status', httpStatus }) as const;
const [response, temporary] = [{ kind: 'response' } as const, { temporary: true }];
const [badQuery, badRecord] = [
	{ code: 10001, httpStatus: 200 },
	{ code: 20001, httpStatus: 400 },
];

test.each<[refused: string, by: Array<Partial<FailureDetails>>]>([
	['size, order, page', [...[-1, 9999, 10001, 10005, 10014].map((code) => ({ code })), ...[400, 422, 500].map(status)]],
	['size, page', [413, 414].map(status)],
	['size', [{ ...response, tooLarge: true, mayRefusePage: false }]],
	['page', [{}, badRecord, { kind: 'status' }, ...[401, 403, 404].map(status), response]],
	['', [status(429), status(500), badQuery, badRecord].map((details) => ({ ...details, ...temporary }))],
	[
		'',
		[
			{ ...badQuery, tokenRefused: true },
			{ ...badQuery, signInFailed: 'for good' },
			{ code: 14103, cause: 'credential' },
		],
	],
	['', [badQuery, status(500), response].map((details) => ({ ...details, mayRefusePage: false }))],
])('what may be refused is "%s" by %j', async (refused, by) => {
	for (const details of by) {
		const words = { cause: 'input', message: 'no', remedy: '' } as const;
		const thrown = new Failure({ kind: 'refused', ...words, mayRefusePage: true, ...details });
		expect([details, await refusedBy(thrown)]).toEqual([details, refused]);
	}
});

test.each([new Error('no'), { details: { kind: 'refused', code: 10001 } }, undefined])(
	'nothing is refused by what is not a failure: %p',
	async (error) => {
		expect(await refusedBy(error)).toBe('');
	},
);
