import { createHash } from 'node:crypto';
import type { Connection, Queryable } from './database.ts';
import { grantStatements } from './grants.ts';
import { installationValue } from './installation.ts';
import { MigrationError } from './schema.ts';

/**
 * The role that serves, if it is not the one that owns the tables. The owner names it once (`ferry migrate --serve-role`), and
 * keeps its rights up to date with the schema (`grants.ts`).
 */

const SERVING_ROLE = 'serving_role';
/** A digest of the grants that were executed last. */
const SERVING_GRANTS = 'serving_grants';

/** Only the owner of the tables may: the role that serves can insert values, but not replace them. */
export async function remember(connection: Connection, name: string, value: string): Promise<void> {
  await connection.query(
    `insert into installation (name, value) values ($1, $2) on conflict (name) do update set value = excluded.value`,
    [name, value],
  );
}

export type Place = { readonly schema: string; readonly tables: ReadonlySet<string> };

export async function placeOf(connection: Queryable): Promise<Place> {
  const rows = await connection.query<{ schema: string; name: string }>(
    `select current_schema() as schema, relname as name from pg_class
     where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'v')`,
  );
  return { schema: rows[0]?.schema ?? '', tables: new Set(rows.map(({ name }) => name)) };
}

/** Undefined if the role that migrates serves as well. */
export async function servingRole(database: Queryable): Promise<string | undefined> {
  const { tables } = await placeOf(database);
  return tables.has('installation') ? installationValue(database, SERVING_ROLE) : undefined;
}

/** Why nothing could be withheld from the role, as a clause. */
export async function roleFault(connection: Queryable, role: string): Promise<string | undefined> {
  const [row] = await connection.query<{ owns: boolean; schema: string; anyone: boolean }>(
    `select pg_has_role(oid, (select relowner from pg_class where oid = 'schema_migrations'::regclass), 'member') as owns,
            current_schema() as schema, has_schema_privilege('public', current_schema(), 'create') as anyone
     from pg_roles where rolname = $1`,
    [role],
  );
  if (row === undefined) return `does not exist: create it with "create role ${role} login"`;
  if (row.owns)
    return 'is a superuser, or has the rights of the role that owns the tables, so nothing can be withheld from it: name another role';
  return row.anyone
    ? `may create tables, because everyone may: run "revoke create on schema ${row.schema} from public" first`
    : undefined;
}

/** The role that is to serve: the given one, or the one that was named before. Throws if it cannot be limited. */
export async function checkedServingRole(
  connection: Connection,
  given: string | undefined,
): Promise<string | undefined> {
  const role = given ?? (await servingRole(connection));
  const fault = role === undefined ? undefined : await roleFault(connection, role);
  if (fault !== undefined) throw new MigrationError(`the serving role ${role} ${fault}`);
  return role;
}

const digestOf = (statements: readonly string[]): string =>
  createHash('sha256').update(statements.join('\n')).digest('hex');

/** False if the grants are not those of this release. */
export async function isGranted(connection: Connection, role: string | undefined): Promise<boolean> {
  const { schema, tables } = await placeOf(connection);
  if (role === undefined || !tables.has('installation')) return true;
  const digest = digestOf(grantStatements(role, schema, tables));
  return (await installationValue(connection, SERVING_GRANTS)) === digest;
}

/** Inside a transaction: nobody ever sees half of it. Does nothing in a database without Ferry's tables. */
export async function grantToServe(connection: Connection, role: string | undefined): Promise<void> {
  const { schema, tables } = await placeOf(connection);
  if (role === undefined || !tables.has('installation')) return;
  const statements = grantStatements(role, schema, tables);
  await connection.script(statements.join(';\n'));
  await remember(connection, SERVING_ROLE, role);
  await remember(connection, SERVING_GRANTS, digestOf(statements));
}
