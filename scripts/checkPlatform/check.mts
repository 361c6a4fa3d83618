/**
 * Runs all checks of a platform, one after the other, and returns the rows of the table. It only reads, and a check that
 * can't tell says so. What a check needs and how it judges is in the file of that check.
 */
import type { Device } from '../../nodes/DeviceManagement/core/device.ts';
import type { Page } from '../../nodes/DeviceManagement/core/paging/page.ts';
import { findDates, findValues } from './fields.mts';
import { checkFilter, filtersFor } from './filters.mts';
import { findingsOfFirst, type SignIn } from './first.mts';
import { attributeToTry, BY_CREATE_TIME, BY_UPDATE_TIME, byAttribute, checkOrder } from './order.mts';
import { checkEnd, checkFirstPage, checkPageSize, checkSeveralPages, FIRST_SIZE, type Sample } from './paging.mts';
import { CheckEnded, Probe } from './probe.mts';
import { type CountedPlatform, MOST_REQUESTS } from './requests.mts';
import { CHECKS, type CheckId, type Finding, type Findings, type Row, rowsOf, unsure } from './rows.mts';
import { checkGet, checkUnknownSerialNumber } from './single.mts';
import { findPolls, findSpeed } from './speed.mts';

export interface CheckOptions {
	signIn: SignIn;
	/** Called before each check, with its name and the number of requests so far. */
	say(check: string, sent: number): void;
	/** Milliseconds, to measure with. */
	now(): number;
}

/**
 * Checks a platform.
 * @returns a row for each check
 */
export async function checkPlatform(counted: CountedPlatform, { signIn, say, now }: CheckOptions): Promise<Row[]> {
	const probe = new Probe(counted);
	const findings: Findings = {};
	const begin = (id: CheckId) => say(CHECKS[id], counted.sent);
	try {
		begin('signIn');
		const first = await probe.page(FIRST_SIZE);
		Object.assign(findings, findingsOfFirst(first, signIn));
		if (first.value === undefined || first.value.content.length === 0) return rowsOf(findings, NOT_CHECKED);
		await checkTheRest(probe, first.value, findings, { begin, now });
		return rowsOf(findings, NOT_CHECKED);
	} catch (thrown) {
		if (!(thrown instanceof CheckEnded)) throw thrown;
		return rowsOf(findings, REASONS[thrown.reason]);
	}
}

const NOT_CHECKED = unsure('not checked', 'Solve the rows above first. Then run the check again.');
const REASONS: Record<CheckEnded['reason'], Finding> = {
	limit: unsure('not checked', `The check sends at most ${MOST_REQUESTS} requests.`),
	token: unsure('not checked', 'The token expired during the check, which signs in once. n8n signs in again.'),
};

async function checkTheRest(
	probe: Probe,
	first: Page<Device>,
	findings: Findings,
	{ begin, now }: Pick<CheckOptions, 'now'> & { begin(id: CheckId): void },
): Promise<void> {
	const check = async (id: CheckId, run: () => Promise<Finding>) => {
		begin(id);
		findings[id] = await run();
	};
	let firstPageNumber: 0 | 1 | undefined;
	await check('firstPage', async () => {
		const { finding, number } = await checkFirstPage(probe, first);
		firstPageNumber = number;
		return finding;
	});
	await check('get', async () => await checkGet(probe, first.content));
	await check('unknownSerialNumber', async () => await checkUnknownSerialNumber(probe, first.content));
	let sample: Sample | undefined;
	await check('pageSize', async () => {
		const size = await checkPageSize(probe, now);
		({ sample } = size);
		return size.finding;
	});
	const devices = sample?.devices ?? first.content;
	for (const field of ['onlineStatus', 'status'] as const) findings[field] = findValues(field, devices);
	for (const field of ['createTime', 'updateTime'] as const) findings[field] = findDates(field, devices);
	begin('totals');
	Object.assign(findings, await checkEnd(probe, first, firstPageNumber ?? 1));
	findings.polls = findPolls(sample, first.totalElements, findings);
	const attribute = attributeToTry(devices);
	await check('sortCreateTime', async () => await checkOrder(probe, BY_CREATE_TIME));
	await check('sortUpdateTime', async () => await checkOrder(probe, BY_UPDATE_TIME));
	await check('sortAttribute', async () =>
		attribute === undefined
			? unsure('no attributes', 'Add an attribute to two devices to check it.')
			: await checkOrder(probe, byAttribute(attribute)),
	);
	for (const filter of filtersFor(devices, attribute)) {
		await check(filter.id, async () => await checkFilter(probe, filter, first));
	}
	findings.speed = findSpeed(sample, first.totalElements, findings);
	// Last: in a list that changes all the time, the walker needs more requests than all other checks.
	await check('severalPages', async () => await checkSeveralPages(probe, first));
}
