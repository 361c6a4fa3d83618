/** Settings for every process of an n8n, by the names of its environment variables. */
export type Environment = Readonly<Record<string, string>>;

/** A part of an n8n, or a service that it needs. */
export interface Service {
	/** The environment variables that it adds for later services. */
	readonly environment?: Environment;
	/** Ends it, and removes what it created. */
	stop(): Promise<void>;
}

/** The services of an n8n. Each starts with the environment of the ones before it. They stop in reverse order. */
export class Services {
	private readonly added: Service[] = [];

	get environment(): Environment {
		return Object.assign({}, ...this.added.map(({ environment }) => environment));
	}

	async add<Added extends Service>(start: (environment: Environment) => Added | Promise<Added>): Promise<Added> {
		const service = await start(this.environment);
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
export class Unreachable extends Error {}
