/** Settings for every process of an n8n, by the names of its environment variables. */
export type Environment = Readonly<Record<string, string>>;

/** A part of an n8n, or a service that it needs. */
export interface Service {
	/** Ends it, and removes what it created. */
	stop(): Promise<void>;
}

/** A service that n8n finds by these environment variables. */
export interface Reachable extends Service {
	readonly environment: Environment;
}

/** The services of an n8n. They stop in reverse order. */
export class Services {
	private readonly added: Service[] = [];

	add<Added extends Service>(service: Added): Added {
		this.added.push(service);
		return service;
	}

	/** Stops all of them. Throws at the end if one of them failed to stop. */
	async stop(): Promise<void> {
		const failures: unknown[] = [];
		for (const service of this.added.splice(0).reverse()) {
			await service.stop().catch((error: unknown) => failures.push(error));
		}
		if (failures.length > 0) throw failures[0];
	}
}

/** PostgreSQL or Redis doesn't respond. The message is for the terminal. */
export class Unreachable extends Error {
	/** @param variables of the environment that name another address */
	constructor(service: string, { host, port }: { host: string; port: number }, variables: string, cause: unknown) {
		const reason = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : '';
		super(
			`${service} can't be reached at ${host}:${port}${reason}.\n` +
				`\`docker compose up -d\` starts one. ${variables} say where another one is.`,
			{ cause },
		);
	}
}
