/** What `examples/` and the credentials in it refer to, for whoever runs them: `npm start` and the end-to-end tests. */
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Platform, StartOptions } from '../test/platform/server.mts';
import { checkout } from './checkout.mts';
import type { Credential } from './n8n-instance.mts';

/** A fleet in which the examples find what they look for. */
export const exampleFleet = { size: 1000, seed: 1 } satisfies StartOptions['fleet'];

/** The two credentials the examples use, for a running embedded platform. */
export function exampleCredentials({ baseUrl, apiKey, loginName, password }: Platform): Credential[] {
	return [
		{
			id: 'deviceManagementKey',
			name: 'Device Management (API key)',
			type: 'deviceManagementApi',
			data: { baseUrl, authentication: 'apiKey', apiKey },
		},
		{
			id: 'deviceManagementLogin',
			name: 'Device Management (login)',
			type: 'deviceManagementApi',
			data: { baseUrl, authentication: 'login', loginName, password },
		},
	];
}

/** The example workflows, as n8n imports them. */
export async function exampleWorkflows(): Promise<unknown[]> {
	const folder = join(checkout, 'examples');
	const files = (await readdir(folder)).filter((file) => file.endsWith('.json')).sort();
	return await Promise.all(
		files.map(async (file): Promise<unknown> => JSON.parse(await readFile(join(folder, file), 'utf8'))),
	);
}
