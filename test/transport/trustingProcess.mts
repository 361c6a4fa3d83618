/** Run by network.test.mts: prints the error of an execution and the outcome of a connection test, over TLS. */
import { openBench } from '../../testbed/bench.mts';
import { operations } from '../../testbed/operations.mts';

const { engine, login, apiKey, run, close } = await openBench({ tls: true }, { fromSources: true });
const { error } = await run(operations.count, { credential: login });
const { status } = await engine.testCredential(apiKey);
console.log(JSON.stringify([error?.message ?? null, status]));
await close();
