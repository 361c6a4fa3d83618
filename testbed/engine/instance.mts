import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { inspect, types } from 'node:util';
import * as z from 'zod/v4';

import { Container, core } from './host.cjs';
import { removing } from '../removing.mts';

/** One line of n8n's log: its level, its message and its metadata. */
export interface LogEntry {
	level: string;
	message: string;
	/** The whole entry as text, at any depth. A log file would hold less. */
	text: string;
}

let logs: LogEntry[] | undefined;

/**
 * Starts the parts of n8n that an execution needs: settings with an encryption key, the key provider for `Credentials` and the
 * logger (every level, in memory). There is one instance per process (per test file in jest). It leaves no files. Expressions run
 * in n8n's legacy engine: the others need a dynamic import, which jest doesn't allow.
 * @returns the list that gets every log entry
 */
export function startInstance(): LogEntry[] {
	logs ??= start();
	return logs;
}

function start(): LogEntry[] {
	const entries: LogEntry[] = [];
	const logger = withTemporarySettings(() => {
		Container.get(core.InstanceSettings);
		return new LoggerFinder(tmpdir()).found.getInternalLogger();
	});
	logger.clear();
	logger.pipe(
		new Writable({
			objectMode: true,
			write: (entry: unknown, _encoding, done) => {
				const { level, message } = logLineSchema.parse(entry);
				const text = inspect(entry, { depth: null, maxArrayLength: null, maxStringLength: null });
				entries.push({ level, message, text });
				done();
			},
		}),
	);
	Container.get(core.EncryptionKeyProxy).setProvider(instanceKeyProvider());
	reachLoopbackDirectly();
	recogniseErrorsOfNode();
	return entries;
}

// n8n-core has its own copy of the Logger class. A loader is the public way to that instance.
class LoggerFinder extends core.DirectoryLoader {
	override packageName = 'logger-finder';

	override async loadAll(): Promise<void> {}

	get found() {
		return this.logger;
	}
}

/** n8n reads its settings from the environment once, when it first creates the classes. */
function withTemporarySettings<T>(make: () => T): T {
	const folder = mkdtempSync(join(tmpdir(), 'n8n-engine-'));
	const settings = {
		N8N_USER_FOLDER: folder,
		N8N_ENCRYPTION_KEY: randomBytes(24).toString('base64'),
		N8N_LOG_LEVEL: 'debug',
		N8N_LOG_OUTPUT: 'console',
		N8N_DIAGNOSTICS_ENABLED: 'false',
	};
	const before = { ...process.env };
	try {
		Object.assign(process.env, settings);
		return make();
	} finally {
		for (const name of Object.keys(settings)) delete process.env[name];
		Object.assign(process.env, before);
		rmSync(folder, removing);
	}
}

/** The key provider without key rotation, which is n8n's default. */
function instanceKeyProvider() {
	const { encryptionKey } = Container.get(core.InstanceSettings);
	const key = {
		id: 'instance',
		value: Container.get(core.Cipher).encryptDEKWithInstanceKey(encryptionKey),
		algorithm: 'aes-256-cbc',
		format: 'no-prefix' as const,
	};
	return { getActiveKey: async () => key, getLegacyKey: async () => key, getKeyById: async () => null };
}

/** Removes the developer's proxy settings: the engine must reach the test servers directly. */
function reachLoopbackDirectly(): void {
	const exceptions = process.env['NO_PROXY'] ?? process.env['no_proxy'];
	process.env['NO_PROXY'] = [exceptions, '127.0.0.1', 'localhost', '::1'].filter(Boolean).join(',');
}

/**
 * Every test file in jest has its own `Error`, so errors of Node's own modules (like a dropped connection) are not instances
 * of it. n8n and the nodes would then behave differently than outside jest.
 */
function recogniseErrorsOfNode(): void {
	if (Object.getPrototypeOf(structuredClone({})) === Object.prototype) return;
	const isInstance = Function.prototype[Symbol.hasInstance];
	Object.defineProperty(Error, Symbol.hasInstance, {
		configurable: true,
		value(this: unknown, candidate: unknown): boolean {
			return Reflect.apply(isInstance, this, [candidate]) || (this === Error && types.isNativeError(candidate));
		},
	});
}

const logLineSchema = z.object({ level: z.string(), message: z.coerce.string() });
