import { randomBytes } from 'node:crypto';
import { Client, type ClientConfig, Pool } from 'pg';
import { z } from 'zod/v4';

import { type Reachable, Unreachable } from './services.mts';

/** A separate database on a running PostgreSQL. */
export interface Database extends Reachable {
	/** Runs a command, and returns its rows. */
	sql(text: string, ...values: unknown[]): Promise<unknown[]>;
	/** The same, for rows that match the schema. Throws for others. */
	query<Row>(schema: z.ZodType<Row>, sql: string, ...values: unknown[]): Promise<Row[]>;
	/** Makes a role without rights, once, with the name of the database, which is its password, too. */
	role(): Promise<string>;
}

/**
 * Creates a database at `DB_POSTGRESDB_HOST`, `_PORT`, `_USER` and `_PASSWORD`; default: the usual local address.
 * @throws Unreachable
 */
export async function postgres(): Promise<Database> {
	const given = (name: string, otherwise: string) => process.env[`DB_POSTGRESDB_${name}`] ?? otherwise;
	const address = { host: given('HOST', '127.0.0.1'), port: z.coerce.number().parse(given('PORT', '5432')) };
	const server = { ...address, user: given('USER', 'postgres'), password: given('PASSWORD', '') };
	const database = `n8n_test_${randomBytes(6).toString('hex')}`;
	await onServer(server, `CREATE DATABASE ${database}`);
	const pool = new Pool({ ...server, database });
	// The pool ends before its connections have ended, and dropping the database ends those with an error.
	pool.on('error', () => {});
	const sql = async (text: string, ...values: unknown[]): Promise<unknown[]> => (await pool.query(text, values)).rows;
	return {
		environment: {
			DB_POSTGRESDB_HOST: server.host,
			DB_POSTGRESDB_PORT: String(server.port),
			DB_POSTGRESDB_USER: server.user,
			DB_POSTGRESDB_PASSWORD: server.password,
			DB_POSTGRESDB_DATABASE: database,
		},
		sql,
		query: async (schema, text, ...values) => z.array(schema).parse(await sql(text, ...values)),
		async role() {
			await sql(`CREATE ROLE ${database} LOGIN PASSWORD '${database}'`);
			return database;
		},
		async stop() {
			await pool.end();
			await onServer(server, `DROP DATABASE ${database} WITH (FORCE)`);
			await onServer(server, `DROP ROLE IF EXISTS ${database}`);
		},
	};
}

/** Runs a command outside of this database. */
async function onServer(server: ClientConfig & { host: string; port: number }, command: string): Promise<void> {
	const client = new Client({ ...server, database: 'postgres', connectionTimeoutMillis: 5000 });
	const variables = 'DB_POSTGRESDB_HOST, _PORT, and _USER and _PASSWORD of who may make databases,';
	await client.connect().catch((error: unknown) => {
		throw new Unreachable('PostgreSQL', server, variables, error);
	});
	try {
		await client.query(command);
	} finally {
		await client.end();
	}
}
