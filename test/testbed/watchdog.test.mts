import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';

import { checkout } from '../../testbed/checkout.mts';

test('a test that never returns to the event loop is ended from outside, and named', () => {
	const config: object = createRequire(__filename)('../../jest.config.js');
	const endless = { ...config, rootDir: checkout, testMatch: ['<rootDir>/test/testbed/endless.mts'] };
	const args = [join(checkout, 'node_modules/jest/bin/jest.js'), '--config', JSON.stringify(endless)];
	const { stderr } = spawnSync(process.execPath, args, {
		cwd: checkout,
		encoding: 'utf8',
		env: { ...process.env, HANG_SECONDS: '2' },
		// Without the watchdog.
		timeout: 15_000,
		killSignal: 'SIGKILL',
	});
	expect(stderr).toContain('This test does not end: loops over settled promises');
});
