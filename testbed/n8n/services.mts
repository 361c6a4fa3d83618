/** Settings for every process of an n8n, by the names of its environment variables. */
export type Environment = Readonly<Record<string, string>>;

/** Something that an n8n consists of or stands on. */
export interface Service {
	/** Its part of the environment of all that starts after it. */
	readonly environment?: Environment;
	/** Ends it, and takes away what it made for itself. */
	stop(): Promise<void>;
}

/** What n8n runs in a certain mode: services, each started with what those before it give, and stopped last to first. */
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

	/** Stops all of them, also where one of them can't be stopped, which is then thrown. */
	async stop(): Promise<void> {
		const failures: unknown[] = [];
		for (const service of this.added.splice(0).reverse()) {
			await service.stop().catch((error: unknown) => failures.push(error));
		}
		if (failures.length > 0) throw failures[0];
	}
}

/** A server that is not this repository's to start does not answer. The message is for the person at the terminal. */
export class Unreachable extends Error {}
