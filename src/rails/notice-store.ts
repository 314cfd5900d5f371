import { plainArray } from '../database/array.ts';
import { columns } from '../database/columns.ts';
import type { Database, Queryable } from '../database/database.ts';
import { newId } from '../kernel/id.ts';
import type { Instant } from '../kernel/instant.ts';
import type { Vault } from '../kernel/vault.ts';
import { openJson, sealJson } from '../sealing/columns.ts';
import type { ArrivedDeposit, Notice, NoticeSource, RailName } from './rail.ts';

/** What rails have found or were sent, until its effect is committed. */

type WithoutId<Value> = Value extends unknown ? Omit<Value, 'id'> : never;

/** The same report again has the same key, and is recorded once for as long as it is not acknowledged. */
export type Report = { readonly sourceKey: string; readonly notice: WithoutId<Notice> };

const place = (id: string): string => `rail_notices.notice:${id}`;

/** Units are strings in JSON, whose numbers would lose digits. */
const plainArrival = (arrived: ArrivedDeposit) => ({
  ...arrived,
  amountUnits: arrived.amountUnits.toString(),
});
type PlainArrival = ReturnType<typeof plainArrival>;
const readArrival = (plain: PlainArrival): ArrivedDeposit => ({
  ...plain,
  amountUnits: BigInt(plain.amountUnits),
});

type PlainNotice =
  | Extract<Notice, { about: 'payment' }>
  | { readonly about: 'deposit'; readonly deposit: PlainArrival }
  | { readonly about: 'return'; readonly key: string; readonly arrived: PlainArrival };

function plainNotice(notice: WithoutId<Notice>): object {
  if (notice.about === 'payment') return notice;
  return notice.about === 'deposit'
    ? { ...notice, deposit: plainArrival(notice.deposit) }
    : { ...notice, arrived: plainArrival(notice.arrived) };
}

function sealNotice(vault: Vault, id: string, notice: WithoutId<Notice>): string {
  return sealJson(vault, plainNotice(notice), place(id))!;
}

function openNotice(vault: Vault, id: string, sealed: string): Notice {
  const notice = openJson<PlainNotice>(vault, sealed, place(id));
  if (notice.about === 'payment') return { ...notice, id };
  return notice.about === 'deposit'
    ? { id, about: 'deposit', deposit: readArrival(notice.deposit) }
    : { id, about: 'return', key: notice.key, arrived: readArrival(notice.arrived) };
}

export async function appendReports(
  tx: Queryable,
  rail: RailName,
  reports: readonly Report[],
  now: Instant,
): Promise<void> {
  if (reports.length === 0) return;
  const rows = reports.map(({ sourceKey, notice }) => {
    const id = newId();
    return { id, rail, sourceKey, notice: sealNotice(tx.vault(), id, notice), now };
  });
  await tx.query(
    `insert into rail_notices (id, rail, source_key, notice, created_at_ns)
     select id, rail, source_key, notice::jsonb, at_ns
     from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::bigint[])
            as row (id, rail, source_key, notice, at_ns)
     on conflict (rail, source_key) do nothing`,
    columns(rows, { id: 'uuid', rail: 'text', sourceKey: 'text', notice: 'text', now: 'bigint' }),
  );
}

export function noticesOf(database: Database, rail: RailName): NoticeSource {
  return {
    async collect(noticesMax) {
      const rows = await database.query<{ id: string; notice: string }>(
        'select id, notice from rail_notices where rail = $1 order by created_at_ns, id limit $2',
        [rail, noticesMax],
      );
      return rows.map(({ id, notice }) => openNotice(database.vault(), id, notice));
    },
    async acknowledge(ids) {
      await database.query('delete from rail_notices where id = any ($1::uuid[])', [plainArray(ids)]);
    },
  };
}
