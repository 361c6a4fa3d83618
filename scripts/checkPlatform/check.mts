/**
 * Runs all checks of a platform, one after the other, through the transport of the package's nodes, and returns the rows of the
 * table. It only reads, and a check that can't tell says so. What a check needs and how it judges is in the file of that check.
 */
import type { Device } from '../../nodes/DeviceManagement/core/device.ts';
import type { Page } from '../../nodes/DeviceManagement/core/paging/page.ts';
import type { Engine } from '../../testbed/engine/engine.mts';
import { triggerWorkflow } from '../../testbed/watch.mts';
import * as look from './devices.mts';
import * as paging from './paging.mts';
import { FIRST_SIZE, openProbe, type Probe } from './probe.mts';
import { type Findings, type Row, rowsOf, unsure } from './report.mts';
import * as select from './selections.mts';
import type { Target } from './target.mts';

/**
 * Saves the credential in n8n's engine and checks its platform.
 * @throws Failure `input` for a credential that can't be used
 */
export async function checkPlatform(engine: Engine, target: Target): Promise<Row[]> {
	const credential = await engine.saveCredential({ name: 'Platform', type: 'deviceManagementApi', data: target });
	const { context } = engine.pollingNode(triggerWorkflow(engine, credential, {}));
	const probe = await openProbe(context);
	const findings: Findings = {};
	try {
		const first = await probe.page(FIRST_SIZE);
		Object.assign(findings, look.findingsOfFirst(first, target['authentication'] === 'login' ? 'login' : 'apiKey'));
		if (first.value && first.value.content.length > 0) await checkTheRest(probe, first.value, findings);
	} finally {
		probe.stop();
	}
	return rowsOf(findings, unsure('not checked', 'Solve the rows above first. Then run the check again.'));
}

async function checkTheRest(probe: Probe, first: Page<Device>, findings: Findings): Promise<void> {
	const { page } = probe;
	// First, because other checks need a size that the platform accepts.
	const { finding: pageSize, accepted, sample } = await paging.checkPageSize(page, first);
	findings.pageSize = pageSize;
	findings.get = await look.checkGet(probe, first.content);
	findings.unknownSerialNumber = await look.checkUnknownSerialNumber(probe, first.content);
	findings.onlineStatus = look.findStatuses(sample);
	findings.totals = await paging.checkTotal(page, first);
	findings.sort = await select.checkOrder(page, accepted);
	findings.filters = await select.checkFilters(page);
	findings.severalPages = await paging.checkSeveralPages(probe, first);
}
