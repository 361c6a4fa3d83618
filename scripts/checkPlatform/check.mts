/**
 * Runs all checks of a platform, one after the other, through the transport of the package's nodes, and returns the rows of the
 * table. It only reads, and a check that can't tell says so. What a check needs and how it judges is in the file of that check.
 */
import type { Device } from '../../nodes/DeviceManagement/core/device.ts';
import type { Page } from '../../nodes/DeviceManagement/core/paging/page.ts';
import type { Engine } from '../../testbed/engine/engine.mts';
import { triggerWorkflow } from '../../testbed/watch.mts';
import type { Target } from '../target.mts';
import * as look from './devices.mts';
import * as paging from './paging.mts';
import { CheckEnded, MOST_REQUESTS, Probe } from './probe.mts';
import { CHECKS, type CheckId, type Finding, type Findings, type Row, rowsOf, unsure } from './report.mts';
import * as select from './selections.mts';

export interface CheckOptions {
	/** Called before each check, with its name and the number of requests so far. */
	say?(check: string, sent: number): void;
	/** HTTP requests allowed. */
	mostRequests?: number;
}

/** One row for each check, and how many HTTP requests were sent. */
export interface CheckResult {
	rows: Row[];
	requests: number;
}

const NOT_CHECKED = unsure('not checked', 'Solve the rows above first. Then run the check again.');
const REASONS: Record<CheckEnded['reason'], Finding> = {
	limit: unsure('not checked', `The check sends at most ${MOST_REQUESTS} requests.`),
	token: unsure('not checked', 'The token expired during the check, which signs in once. n8n signs in again.'),
};

/**
 * Saves the credential in n8n's engine and checks its platform.
 * @throws Failure `input` for a credential that can't be used
 */
export async function checkPlatform(
	engine: Engine,
	target: Target,
	{ say = () => {}, mostRequests = MOST_REQUESTS }: CheckOptions = {},
): Promise<CheckResult> {
	const credential = await engine.saveCredential({ name: 'Platform', type: 'deviceManagementApi', data: target });
	const probe = new Probe(engine.pollingNode(triggerWorkflow(engine, credential, {})).context, mostRequests);
	const findings: Findings = {};
	const begin = (id: CheckId) => say(CHECKS[id], probe.sent);
	let missing = NOT_CHECKED;
	try {
		begin('signIn');
		const first = await probe.page(paging.FIRST_SIZE);
		const signIn = target['authentication'] === 'login' ? 'login' : 'apiKey';
		Object.assign(findings, look.findingsOfFirst(first, signIn));
		if (first.value && first.value.content.length > 0) await checkTheRest(probe, first.value, findings, begin);
	} catch (thrown) {
		if (!(thrown instanceof CheckEnded)) throw thrown;
		missing = REASONS[thrown.reason];
	} finally {
		await probe.close();
	}
	return { rows: rowsOf(findings, missing), requests: probe.sent };
}

async function checkTheRest(
	probe: Probe,
	first: Page<Device>,
	findings: Findings,
	begin: (id: CheckId) => void,
): Promise<void> {
	const { totalElements: total } = first;
	const check = async (id: CheckId, run: () => Promise<Finding>) => {
		begin(id);
		findings[id] = await run();
	};
	// First, because other checks need a size that the platform accepts.
	begin('pageSize');
	const { finding: pageSize, accepted, sample } = await paging.checkPageSize(probe);
	const devices = sample?.devices ?? first.content;
	findings.pageSize = pageSize;
	begin('firstPage');
	const { finding: firstPage, number: firstNumber = 1 } = await paging.checkFirstPage(probe, first);
	findings.firstPage = firstPage;
	await check('get', () => look.checkGet(probe, first.content));
	await check('unknownSerialNumber', () => look.checkUnknownSerialNumber(probe, first.content));
	for (const field of ['onlineStatus', 'status'] as const) findings[field] = look.findValues(field, devices);
	for (const field of ['createTime', 'updateTime'] as const) findings[field] = look.findDates(field, devices);
	begin('totals');
	Object.assign(findings, await paging.checkEnd(probe, first, firstNumber));
	findings.polls = look.findPolls(sample, total, findings);
	await check('sortCreateTime', () => select.checkOrder(probe.page, select.BY_CREATE_TIME, accepted));
	await check('sortUpdateTime', () => select.checkOrder(probe.page, select.BY_UPDATE_TIME, accepted));
	const attribute = select.attributeToTry(devices);
	await check('sortAttribute', async () => {
		if (attribute !== undefined) return await select.checkOrder(probe.page, select.byAttribute(attribute), accepted);
		return unsure('no attributes', 'Add an attribute to two devices to check it.');
	});
	await check('sortTwoFields', () => select.checkTwoFields(probe.page, accepted));
	await check('equalValues', () => select.checkEqualValues(probe.page, accepted));
	for (const filter of select.filtersFor(devices, attribute)) {
		await check(filter.id, () => select.checkFilter(probe.page, filter, first));
	}
	findings.speed = look.findSpeed(sample, total, findings);
	// Last: in a list that changes all the time, the walker needs more requests than all other checks.
	const byId = findings.equalValues?.result === 'no' && findings.sortTwoFields?.result === 'yes' ? ['id asc'] : [];
	await check('severalPages', () => paging.checkSeveralPages(probe, first, byId));
}
