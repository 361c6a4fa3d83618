import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { inspect, types } from 'node:util';
import * as z from 'zod/v4';

import { Container, core, workflow } from './host.cjs';
import { removing } from '../removing.mts';

/** One line of n8n's log: its level, its message, and everything that was handed over with it. */
export interface LogEntry {
	level: string;
	message: string;
	/** The entry with everything in it, at any depth: more than a log file would hold, never less. */
	text: string;
}

export type ExpressionEngine = 'legacy' | 'quickjs' | 'vm';

/**
 * Brings up the parts of an n8n instance that an execution needs: settings with an encryption key, the key provider that
 * `Credentials` asks, the logger (every level, to memory only) and the expression engine. There is one instance for a
 * process (for a test file under jest); later calls get the same one. Nothing of it stays on disk.
 * @param encryptionKey default: a random one
 */
export async function startInstance(expressionEngine: ExpressionEngine, encryptionKey?: string): Promise<Instance> {
	instance ??= new Instance(encryptionKey ?? randomBytes(24).toString('base64'));
	if (encryptionKey !== undefined && encryptionKey !== instance.encryptionKey) {
		throw new Error('The process has an instance already, with another encryption key');
	}
	await instance.useExpressionEngine(expressionEngine);
	return instance;
}

export class Instance {
	private readonly readers = new Set<LogEntry[]>();

	constructor(readonly encryptionKey: string) {
		const logger = withTemporarySettings(encryptionKey, () => {
			Container.get(core.InstanceSettings);
			return new LoggerFinder(tmpdir()).found;
		});

		const printed = logger.getInternalLogger();
		printed.clear();
		printed.pipe(
			new Writable({
				objectMode: true,
				write: (entry: unknown, _encoding, done) => {
					const logEntry = toLogEntry(entry);
					for (const reader of this.readers) reader.push(logEntry);
					done();
				},
			}),
		);

		Container.get(core.EncryptionKeyProxy).setProvider(instanceKeyProvider());
		reachLoopbackDirectly();
		recogniseErrorsOfNode();
	}

	/** Adds a list that receives every log entry from now on. */
	captureLogs(entries: LogEntry[]): void {
		this.readers.add(entries);
	}

	/** Whoever stops capturing last lets go of what an isolated expression engine holds. */
	async stopCapturing(entries: LogEntry[]): Promise<void> {
		this.readers.delete(entries);
		if (this.readers.size === 0) await this.useExpressionEngine('legacy');
	}

	/** One for the whole process: the engine created last decides. */
	async useExpressionEngine(engine: ExpressionEngine): Promise<void> {
		const { Expression } = workflow;
		if (Expression.getActiveImplementation() === engine) return;

		await Expression.disposeExpressionEngine();
		Expression.setExpressionEngine(engine);
		await Expression.initExpressionEngine({
			engine,
			poolSize: 1,
			maxCodeCacheSize: 1024,
			bridgeTimeout: 5000,
			bridgeMemoryLimit: 128,
		});
	}
}

let instance: Instance | undefined;

// n8n-core has its own copy of the package with the Logger class; a loader is the public way to the very instance it uses.
class LoggerFinder extends core.DirectoryLoader {
	override packageName = 'logger-finder';

	override async loadAll(): Promise<void> {}

	get found() {
		return this.logger;
	}
}

/** n8n reads its settings from the environment when the classes are first made, and never again. */
function withTemporarySettings<T>(encryptionKey: string, make: () => T): T {
	const folder = mkdtempSync(join(tmpdir(), 'n8n-engine-'));
	const settings = {
		N8N_USER_FOLDER: folder,
		N8N_ENCRYPTION_KEY: encryptionKey,
		N8N_LOG_LEVEL: 'debug',
		N8N_LOG_OUTPUT: 'console',
		N8N_DIAGNOSTICS_ENABLED: 'false',
	};
	const before = Object.keys(settings).map((name) => [name, process.env[name]] as const);

	try {
		Object.assign(process.env, settings);
		return make();
	} finally {
		for (const [name, value] of before) {
			if (value === undefined) delete process.env[name];
			else process.env[name] = value;
		}
		rmSync(folder, removing);
	}
}

/** The provider of an instance that doesn't rotate its keys, which is n8n's default. */
function instanceKeyProvider() {
	const { encryptionKey } = Container.get(core.InstanceSettings);
	const key = {
		id: 'instance',
		value: Container.get(core.Cipher).encryptDEKWithInstanceKey(encryptionKey),
		algorithm: 'aes-256-cbc',
		format: 'no-prefix' as const,
	};
	return {
		getActiveKey: async () => key,
		getLegacyKey: async () => key,
		getKeyById: async () => null,
	};
}

/** A proxy of the developer's machine must not stand between the engine and the servers of the tests. */
function reachLoopbackDirectly(): void {
	const exceptions = process.env['NO_PROXY'] ?? process.env['no_proxy'] ?? '';
	const loopback = ['127.0.0.1', 'localhost', '::1'].filter((host) => !exceptions.split(',').includes(host));
	process.env['NO_PROXY'] = [exceptions, ...loopback].filter((part) => part !== '').join(',');
}

/**
 * jest gives every test file its own `Error`, so what Node's own modules throw (a dropped connection, say) is no instance of
 * it, and n8n and the nodes would go other ways than outside jest.
 */
function recogniseErrorsOfNode(): void {
	const ownObjects = Object.getPrototypeOf(structuredClone({})) === Object.prototype;
	if (ownObjects) return;

	const isInstance = Function.prototype[Symbol.hasInstance];
	Object.defineProperty(Error, Symbol.hasInstance, {
		configurable: true,
		value(this: unknown, candidate: unknown): boolean {
			return Reflect.apply(isInstance, this, [candidate]) || (this === Error && types.isNativeError(candidate));
		},
	});
}

function toLogEntry(entry: unknown): LogEntry {
	const { level, message } = logLineSchema.parse(entry);
	return { level, message, text: inspect(entry, { depth: null, maxArrayLength: null, maxStringLength: null }) };
}

const logLineSchema = z.object({ level: z.string(), message: z.coerce.string() });
