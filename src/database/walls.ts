import { createHash } from 'node:crypto';
import type { Connection, Queryable } from './database.ts';
import { grantStatements } from './grants.ts';
import { installationValue } from './installation.ts';
import { MigrationError } from './schema.ts';

/**
 * The database's own protection, beside the code: the role that serves has only the rights that it needs (`grants.ts`). It is
 * brought up to date with the schema, by the role that owns the tables.
 */

const SERVING_ROLE = 'serving_role';
/** A digest of the statements that were executed last. */
const WALLS = 'walls';

/** Only the role that owns the tables may: the one that serves can insert values, but not replace them. */
async function remember(connection: Connection, name: string, value: string): Promise<void> {
  await connection.query(
    `insert into installation (name, value) values ($1, $2) on conflict (name) do update set value = excluded.value`,
    [name, value],
  );
}

type Place = { readonly schema: string; readonly tables: ReadonlySet<string> };

async function placeOf(connection: Queryable): Promise<Place> {
  const rows = await connection.query<{ schema: string; name: string }>(
    `select current_schema() as schema, relname as name from pg_class
     where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'v')`,
  );
  return { schema: rows[0]?.schema ?? '', tables: new Set(rows.map(({ name }) => name)) };
}

/** The role that `ferry migrate --serve-role` named; undefined if the role that migrates serves as well. */
export async function servingRole(database: Queryable): Promise<string | undefined> {
  const { tables } = await placeOf(database);
  return tables.has('installation') ? installationValue(database, SERVING_ROLE) : undefined;
}

/** Why nothing could be withheld from the role, as a clause. */
async function roleFault(connection: Queryable, role: string): Promise<string | undefined> {
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

function statementsFor({ schema, tables }: Place, role: string | undefined): string[] {
  return role === undefined ? [] : grantStatements(role, schema, tables);
}

const digestOf = (statements: readonly string[]): string =>
  createHash('sha256').update(statements.join('\n')).digest('hex');

export async function areWallsRaised(connection: Connection, role: string | undefined): Promise<boolean> {
  const place = await placeOf(connection);
  if (!place.tables.has('installation')) return true;
  return (await installationValue(connection, WALLS)) === digestOf(statementsFor(place, role));
}

/** Inside a transaction: nobody ever sees half of it. Does nothing in a database without Ferry's tables. */
export async function raiseWalls(connection: Connection, role: string | undefined): Promise<void> {
  const place = await placeOf(connection);
  if (!place.tables.has('installation')) return;
  const statements = statementsFor(place, role);
  if (statements.length > 0) await connection.script(statements.join(';\n'));
  await remember(connection, WALLS, digestOf(statements));
  if (role !== undefined) await remember(connection, SERVING_ROLE, role);
}
