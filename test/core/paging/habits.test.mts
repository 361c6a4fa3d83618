import { Failure, type FailureDetails } from '../../../nodes/DeviceManagement/core/failure.ts';
import { fetchList } from '../../../nodes/DeviceManagement/core/paging/passes.ts';
import { Fleet } from '../../../testbed/platform/fleet.mts';
import { type Metadata, PagedServer, type ServerScript } from '../../../testbed/pagedServer.mts';

function serve(size: number, script: Omit<ServerScript, 'largestSize'>): PagedServer {
	return new PagedServer(Fleet.seeded({ size }), { largestSize: 2000, ...script });
}

async function read(server: PagedServer, parallelRequests = 1, size = 10) {
	return await fetchList(server.source, { pageSize: size, parallelRequests });
}

const without =
	(...names: Array<keyof Metadata>) =>
	(honest: Metadata): Metadata => ({ ...honest, ...Object.fromEntries(names.map((name) => [name, undefined])) });

describe('a server that counts from 0 and answers a page past the end with its last page', () => {
	// Page 3 of 0, 1 and 2 comes before page 2: it is the last page, whose number is that of page 3 counted from 1.
	const script = { numbering: 'zero-based', pastEnd: 'last page', turns: [1, 1, 5, 0] } as const;

	test.each([25, 30])('is read whole in one pass when page %i comes out of order', async (size) => {
		const server = serve(size, script);
		await expect(read(server, 2)).resolves.toMatchObject({ items: server.fleet.devices, settled: true, passes: 1 });
	});

	test('loses no page without a total either', async () => {
		const server = serve(25, { ...script, falsify: without('totalElements') });
		await expect(read(server, 2)).resolves.toMatchObject({ items: server.fleet.devices, settled: true });
	});

	test('loses no page where its numbers advance as if it counted from 1 and it says no total', async () => {
		const oneBehind = (honest: Metadata, asked: number | undefined) => ({
			...honest,
			totalElements: undefined,
			number: Math.max((asked ?? 0) - 1, 0),
		});
		const server = serve(35, { numbering: 'zero-based', falsify: oneBehind });
		await expect(read(server)).resolves.toMatchObject({ items: server.fleet.devices, settled: true });
	});
});

describe('a server that answers a page past the end with another one', () => {
	const CASES = (['one-based', 'zero-based'] as const).flatMap((numbering) =>
		(['first page', 'last page'] as const).map((pastEnd) => ({ numbering, pastEnd })),
	);

	test.each(CASES)('$numbering, with its $pastEnd, is read completely if it reports the end', async (script) => {
		for (const said of ['last', 'totalPages', 'totalElements'] as const) {
			const server = serve(30, { ...script, falsify: (honest) => ({ number: honest.number, [said]: honest[said] }) });
			await expect(read(server)).resolves.toMatchObject({ items: server.fleet.devices, settled: true });
		}
	});

	test.each(CASES)('$numbering, with its $pastEnd, fails with a message if it reports no end', async (script) => {
		const server = serve(30, { ...script, falsify: () => ({}) });
		await expect(read(server)).rejects.toMatchObject({ details: { kind: 'paging' } });
	});
});

describe('a server that refuses a page past the end', () => {
	const failure = (details: Pick<FailureDetails, 'kind' | 'cause'> & Partial<FailureDetails>) =>
		new Failure({ message: 'no such page', remedy: 'none', ...details });
	const REFUSALS = [
		{ by: 'a code', pastEnd: failure({ kind: 'refused', cause: 'input', code: 10001, httpStatus: 200 }) },
		{ by: 'HTTP 404', pastEnd: failure({ kind: 'status', cause: 'input', httpStatus: 404 }) },
		{ by: 'HTTP 500', pastEnd: failure({ kind: 'status', cause: 'platform', httpStatus: 500 }) },
		{ by: 'an answer that is no page', pastEnd: failure({ kind: 'response', cause: 'platform' }) },
	];
	const NUMBERINGS = ['one-based', 'zero-based'] as const;
	const CASES = REFUSALS.flatMap((refusal) => NUMBERINGS.map((numbering) => ({ ...refusal, numbering })));

	describe.each(CASES)('$numbering, by $by', ({ numbering, pastEnd }) => {
		test.each([10, 20, 30])('ends after its %i devices if it says so', async (size) => {
			for (const missing of ['last', 'totalPages', 'totalElements', 'number'] as const) {
				const server = serve(size, { numbering, pastEnd, falsify: without(missing) });
				// Without a total, only a second pass shows that no device was removed between two pages.
				const passes = missing === 'totalElements' && size > 10 ? 2 : 1;
				await expect(read(server, 4)).resolves.toMatchObject({ items: server.fleet.devices, settled: true, passes });
			}
		});

		test('fails with its own message if no metadata puts the page past the end', async () => {
			await expect(read(serve(30, { numbering, pastEnd, falsify: () => ({}) }))).rejects.toBe(pastEnd);
		});

		test('fails with its own message if any metadata says that there is more', async () => {
			const more = (honest: Metadata) => ({ ...honest, totalPages: 9 });
			await expect(read(serve(30, { numbering, pastEnd, falsify: more }))).rejects.toBe(pastEnd);
		});

		test('fails with its own message if all metadata for the end was wrong before', async () => {
			const atTheEnd = () => ({ last: true });
			await expect(read(serve(30, { numbering, pastEnd, falsify: atTheEnd }))).rejects.toBe(pastEnd);
		});
	});

	test.each([
		{ why: 'an outage', pastEnd: failure({ kind: 'status', cause: 'platform', temporary: true }) },
		{
			why: 'a dead token',
			pastEnd: failure({ kind: 'refused', cause: 'credential', code: 14101, tokenRefused: true }),
		},
		{ why: 'a missing right', pastEnd: failure({ kind: 'refused', cause: 'credential', code: 14103 }) },
		{ why: 'a time-out', pastEnd: failure({ kind: 'timeout', cause: 'platform' }) },
		{ why: 'a stopped execution', pastEnd: failure({ kind: 'cancelled', cause: 'unknown' }) },
	])('$why is not taken for the end', async ({ pastEnd }) => {
		await expect(read(serve(30, { numbering: 'one-based', pastEnd, falsify: without('last') }))).rejects.toBe(pastEnd);
	});
});
