import { Failure, type FailureDetails } from '../../../nodes/DeviceManagement/core/failure.ts';
import { mayRefuse, undefinedIfPageRefused } from '../../../nodes/DeviceManagement/core/paging/refusal.ts';

const mayRefusePage = async (error: unknown) =>
	await Promise.reject(error)
		.catch(undefinedIfPageRefused)
		.then(
			() => true,
			(rethrown: unknown) => {
				expect(rethrown).toBe(error);
				return false;
			},
		);

const thrown = (details: Partial<FailureDetails>) =>
	new Failure({ kind: 'refused', cause: 'input', message: 'no', remedy: '', ...details });

/** Where nothing is said of the order, it is as with the size. */
const CASES: Array<{ details: Partial<FailureDetails>; size: boolean; page: boolean; order?: boolean }> = [
	...[-1, 9999, 10001, 10005, 10014].map((code) => ({ details: { code, httpStatus: 200 }, size: true, page: true })),
	...[400, 422, 500].map((httpStatus) => ({
		details: { kind: 'status' as const, httpStatus },
		size: true,
		page: true,
	})),
	...[413, 414].map((httpStatus) => ({
		details: { kind: 'status' as const, httpStatus },
		size: true,
		page: true,
		order: false,
	})),
	...[401, 403, 404].map((httpStatus) => ({
		details: { kind: 'status' as const, httpStatus },
		size: false,
		page: true,
	})),
	{ details: { kind: 'status', httpStatus: 429, temporary: true }, size: false, page: false },
	{ details: { code: 20001 }, size: false, page: true },
	{ details: { code: 20001, httpStatus: 400 }, size: false, page: true },
	{ details: { code: 9999, temporary: true }, size: false, page: false },
	{ details: { kind: 'status', httpStatus: 500, temporary: true }, size: false, page: false },
	{ details: { code: 20001, temporary: true }, size: false, page: false },
	{ details: {}, size: false, page: true },
	{ details: { kind: 'status' }, size: false, page: true },
	{ details: { kind: 'response', httpStatus: 200 }, size: false, page: true },
	{ details: { kind: 'response', httpStatus: 400 }, size: false, page: true },
	{ details: { kind: 'response' }, size: false, page: true },
	{ details: { kind: 'timeout' }, size: false, page: false },
	{ details: { kind: 'unreachable' }, size: false, page: false },
	{ details: { kind: 'cancelled' }, size: false, page: false },
	{ details: { kind: 'paging' }, size: false, page: false },
	{ details: { code: 10001, tokenRefused: true }, size: false, page: false },
	{ details: { code: 10001, final: true }, size: true, page: false },
	{ details: { code: 14103, cause: 'credential' }, size: false, page: false },
];

test.each(CASES)('$details: of the size $size, of the page $page', async ({ details, size, page, order = size }) => {
	expect(mayRefuse('size', thrown(details))).toBe(size);
	expect(mayRefuse('order', thrown(details))).toBe(order);
	expect(await mayRefusePage(thrown(details))).toBe(page);
});

test.each([new Error('no'), { details: { kind: 'refused', code: 10001 } }, undefined])(
	'what is no answer of the platform’s refuses none of these: %p',
	async (error) => {
		expect(mayRefuse('size', error)).toBe(false);
		expect(mayRefuse('order', error)).toBe(false);
		expect(await mayRefusePage(error)).toBe(false);
	},
);
