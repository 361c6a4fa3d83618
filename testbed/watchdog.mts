/**
 * Ends jest's process if a test takes five minutes. Jest's own time limit can't end a test that never returns to the event loop, like an
 * endless loop over settled promises. A thread does that, and names the test.
 */
import { Worker } from 'node:worker_threads';

/** Far more than jest's time limit, which ends all other tests. Some tests of all random cases take minutes. */
const { HANG_SECONDS = 300 * Number(process.env['PROPERTY_RUNS'] ?? 1) } = process.env;

const watch = `
	let [seconds, test] = [0, ''];
	require('node:worker_threads').parentPort.on('message', (name) => ([seconds, test] = [0, name]));
	setInterval(() => {
		if (++seconds < ${HANG_SECONDS}) return;
		require('node:fs').writeSync(2, 'This test does not end: ' + test + '\\n');
		process.kill(process.pid, 'SIGKILL');
	}, 1000);
`;

const watchdog = new Worker(watch, { eval: true });
watchdog.unref();
beforeEach(() => watchdog.postMessage(expect.getState().currentTestName));
afterAll(async () => void (await watchdog.terminate()));
