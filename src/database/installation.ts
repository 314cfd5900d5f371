import type { Assets } from '../kernel/asset.ts';
import { columns } from './columns.ts';
import type { Database, Queryable } from './database.ts';

/** What a database was created with. A start with different settings would not fail, but would misread its contents. */

export async function installationValue(database: Queryable, name: string): Promise<string | undefined> {
  const [row] = await database.query<{ value: string }>('select value from installation where name = $1', [
    name,
  ]);
  return row?.value;
}

/** Does nothing if there is a value already. */
export async function keepInstallationValue(database: Queryable, name: string, value: string): Promise<void> {
  await database.query('insert into installation (name, value) values ($1, $2) on conflict do nothing', [
    name,
    value,
  ]);
}

/** A sandbox can create money, so it must never run on a production database. */
async function modeFault(database: Queryable, mode: string): Promise<string | undefined> {
  await keepInstallationValue(database, 'mode', mode);
  const first = await installationValue(database, 'mode');
  if (first === mode) return undefined;
  return `FERRY_MODE is ${mode}, but this database was created in ${first} mode: set FERRY_MODE to ${first}, or use another database.`;
}

/** Balances are stored in the smallest unit of the asset: a different number of decimals would change every balance. */
async function assetsFault(database: Database, assets: Assets): Promise<string | undefined> {
  await database.query(
    `insert into assets (code, decimals)
     select code, decimals from unnest($1::text[], $2::smallint[]) as known (code, decimals)
     order by code on conflict do nothing`,
    columns(assets.list, { code: 'text', decimals: 'integer' }),
  );
  const stored = await database.query<{ code: string; decimals: number }>(
    'select code, decimals from assets order by code',
  );
  for (const { code, decimals } of stored) {
    const asset = assets.find(code);
    if (asset === undefined)
      return `FERRY_CONFIG: the asset ${code} is missing, but this database was created with it: keep it in the list.`;
    if (asset.decimals !== decimals) {
      return `FERRY_CONFIG: the asset ${code} has ${asset.decimals} decimals, but this database was created with ${decimals}.`;
    }
  }
  return undefined;
}

/** Why the service must not start on this database, in one sentence; undefined if it may. */
export async function installationFault(
  database: Database,
  mode: string,
  assets: Assets,
): Promise<string | undefined> {
  return (await modeFault(database, mode)) ?? (await assetsFault(database, assets));
}
