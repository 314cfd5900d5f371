import type { Connection, Queryable } from './database.ts';
import { quoted } from './grants.ts';
import { installationValue } from './installation.ts';
import { MigrationError } from './schema.ts';
import { placeOf, remember, roleFault, servingRole } from './serving-role.ts';

/** The role of the signer, which reads its own views and nothing else. The owner names it once (`ferry migrate --signer-role`). */

const SIGNER_ROLE = 'signer_role';

/** Views of the signer: see migration 0027. */
export const SIGNER_VIEWS = [
  'signer_assignments',
  'signer_payments',
  'signer_coins',
  'signer_signed',
  'signer_versions',
] as const;

export async function signerRole(database: Queryable): Promise<string | undefined> {
  const { tables } = await placeOf(database);
  return tables.has('installation') ? installationValue(database, SIGNER_ROLE) : undefined;
}

/** The role of the signer: the given one, or the one that was named before. Throws if it could do more than read. */
export async function checkedSignerRole(
  connection: Connection,
  given: string | undefined,
  serving: string | undefined,
): Promise<string | undefined> {
  const role = given ?? (await signerRole(connection));
  if (role === undefined) return undefined;
  const isServing = role === (serving ?? (await servingRole(connection)));
  const fault = isServing
    ? 'is the serving role: the signer needs one of its own, so that its password opens nothing else'
    : await roleFault(connection, role);
  if (fault !== undefined) throw new MigrationError(`the signer role ${role} ${fault}`);
  return role;
}

/** Inside a transaction: nobody ever sees half of it. Does nothing in a database without Ferry's tables. */
export async function grantToSign(connection: Connection, role: string | undefined): Promise<void> {
  const { schema, tables } = await placeOf(connection);
  if (role === undefined || !tables.has('installation')) return;
  const [to, inSchema] = [quoted(role), quoted(schema)];
  const views = SIGNER_VIEWS.filter((view) => tables.has(view));
  await connection.script(
    [
      `revoke all on all tables in schema ${inSchema} from ${to}`,
      `revoke all on schema ${inSchema} from ${to}`,
      `grant usage on schema ${inSchema} to ${to}`,
      ...views.map((view) => `grant select on ${inSchema}.${quoted(view)} to ${to}`),
    ].join(';\n'),
  );
  await remember(connection, SIGNER_ROLE, role);
}
