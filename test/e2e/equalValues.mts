/** Devices in PostgreSQL, which lists those with equal sort values in another order on each page: lists and events are complete. */
import assert from 'node:assert/strict';

import { devicesInPostgres } from '../../testbed/devicesInPostgres.mts';
import type { Main } from '../../testbed/n8n/main.mts';
import type { Services } from '../../testbed/n8n/services.mts';
import { Fleet, startPlatform } from '../../testbed/platform/server.mts';
import { serialNumbers } from './runs.mts';
import { WatchedTrigger } from './watchedTrigger.mts';
import { triggerWorkflow, webhookWorkflow } from '../../testbed/n8n/workflows.mts';

const IMPORTED = '2026-06-01 12:00:00';
const byStatus = { rule: [{ field: 'onlineStatus', direction: 'asc' }] };
const all = { resource: 'device', operation: 'getAll', returnAll: true, options: { pageSize: 200 } };

/** The workflows, for a credential of this name. The trigger has its id, too. */
export const equalValuesWorkflows = (credential: string) => [
	webhookWorkflow('own-order', credential, all),
	webhookWorkflow('by-status', credential, { ...all, sort: byStatus }),
	triggerWorkflow(credential, credential, {
		events: ['deviceCreated', 'onlineStatusChanged'],
		options: { pageSize: 200 },
	}),
];

/** Starts the platform. Two thirds of its devices were created in one second. */
export async function equalValues(services: Services) {
	const fleet = Fleet.seeded({ size: 3000 });
	fleet.reorder((devices) => devices.map((device, at) => (at < 2000 ? { ...device, createTime: IMPORTED } : device)));
	const { source, sql } = services.add(await devicesInPostgres(fleet));
	const platform = services.add(await startPlatform({ source, ownSort: 'createTime desc', fleet: { size: 0 } }));
	const trigger = new WatchedTrigger(platform, 'the trigger over PostgreSQL');
	return {
		platform,
		trigger,
		/** 500 new devices in one second, and 1,000 others have another online status. */
		async change(): Promise<void> {
			const made = Array.from({ length: 500 }, () => fleet.make({ createTime: '2026-06-01 12:00:01' }));
			const insert = 'INSERT INTO device SELECT * FROM json_populate_recordset(NULL::device, $1)';
			await sql(insert, JSON.stringify(made));
			const changed = fleet.devices.slice(0, 1000).map(({ sn }) => sn);
			await sql('UPDATE device SET "onlineStatus" = 77 WHERE sn = ANY($1)', changed);
			for (const { sn } of made) trigger.expected.push(`deviceCreated ${sn}`);
			for (const sn of changed) trigger.expected.push(`onlineStatusChanged ${sn}`);
		},
		async listsAll(main: Main): Promise<void> {
			const rows = serialNumbers(await sql('SELECT sn FROM device')).sort();
			for (const path of ['own-order', 'by-status']) {
				assert.deepEqual(serialNumbers((await main.webhook(path, {})).json).sort(), rows);
			}
		},
	};
}
