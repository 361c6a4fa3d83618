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
test.each<{ refused: string; by: Array<Partial<FailureDetails>> }>([
	{ refused: 'size, order, page', by: [-1, 9999, 10001, 10005, 10014].map((code) => ({ code, httpStatus: 200 })) },
	{ refused: 'size, order, page', by: [400, 422, 500].map(status) },
	{ refused: 'size, page', by: [413, 414].map(status) },
	{ refused: 'size, order', by: [{ code: 10001, final: true }] },
	{ refused: 'size', by: [{ ...response, tooLarge: true }] },
	{ refused: 'page', by: [...[401, 403, 404].map(status), { kind: 'status' }] },
	{ refused: 'page', by: [{}, { code: 20001 }, { code: 20001, httpStatus: 400 }] },
	{ refused: 'page', by: [response, { ...response, httpStatus: 200 }, { ...response, httpStatus: 400 }] },
	{
		refused: '',
		by: [
			{ ...status(429), ...temporary },
			{ ...status(500), ...temporary },
		],
	},
	{
		refused: '',
		by: [
			{ code: 9999, ...temporary },
			{ code: 20001, ...temporary },
		],
	},
	{
		refused: '',
		by: [
			{ code: 10001, tokenRefused: true },
			{ code: 14103, cause: 'credential' },
		],
	},
	{ refused: '', by: [{ kind: 'timeout' }, { kind: 'unreachable' }, { kind: 'cancelled' }, { kind: 'paging' }] },
])('what may be refused is "$refused" by $by', async ({ refused, by }) => {
	for (const details of by) {
		const thrown = new Failure({ kind: 'refused', cause: 'input', message: 'no', remedy: '', ...details });
		expect([details, await refusedBy(thrown)]).toEqual([details, refused]);
	}
});

test.each([new Error('no'), { details: { kind: 'refused', code: 10001 } }, undefined])(
	'nothing is refused by what is not a failure: %p',
	async (error) => {
		expect(await refusedBy(error)).toBe('');
	},
);
