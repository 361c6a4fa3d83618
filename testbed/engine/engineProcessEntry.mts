/** The entry of an engine process, see engineProcess.mts. Runs the requests of its parent, and ends with it. */
import { checkout } from '../checkout.mts';
import { createEngine, type Engine } from './engine.mts';
import { type Command, encryptionKeyVariable } from './engineProcess.mts';

type Message = { id: number } & (Command | { cancel: true });

const encryptionKey = process.env[encryptionKeyVariable] ?? '';

const engines = new Map<string, Promise<Engine>>();
const running = new Map<number, AbortController>();

async function engineFor(credentialFolder: string): Promise<Engine> {
	const made = engines.get(credentialFolder);
	if (made !== undefined) return await made;
	const engine = createEngine({ packageDirectory: checkout, fromSources: true, credentialFolder, encryptionKey });
	engines.set(credentialFolder, engine);
	return await engine;
}

async function carryOut(id: number, command: Command): Promise<unknown> {
	if ('test' in command) return await (await engineFor(command.test.credentialFolder)).testCredential(command.test.id);
	const { credentialFolder, workflow, options } = command.run;
	const stop = new AbortController();
	running.set(id, stop);
	try {
		const engine = await engineFor(credentialFolder);
		return (await engine.run(workflow, { ...options, signal: stop.signal })).raw;
	} finally {
		running.delete(id);
	}
}

// Only the parent process, which is trusted, can send messages here.
process.on('message', (message: Message) => {
	const { id } = message;
	if ('cancel' in message) return running.get(id)?.abort();
	carryOut(id, message).then(
		(result) => process.send?.({ id, result }),
		(error: unknown) => process.send?.({ id, error: error instanceof Error ? error.message : String(error) }),
	);
	return undefined;
});
process.on('disconnect', () => process.exit());
process.send?.({ ready: true });
