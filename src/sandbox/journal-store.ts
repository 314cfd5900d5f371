import { plainArray } from '../database/array.ts';
import { columns } from '../database/columns.ts';
import type { Database, Queryable } from '../database/database.ts';
import type { OlderRows } from '../kernel/capability.ts';
import type { ArrivedDeposit, Notice } from '../rails/rail.ts';
import type { JournalEntry, JournalRequest, RailJournal, TimedNotice } from './journal.ts';

/** The simulated outside world. Its tables are separate: the rest of the service never reads them. */

const COLUMNS = `rail, key, asset, amount_units as "amountUnits", destination, behaviour, requests,
  turned_away as "turnedAway", accepted_at_ns as "acceptedAtNs", forced`;

/** A bank account is only compared, never shown: a digest of it is stored. Addresses on a chain are public. */
export function storedDestination({ vault }: Queryable, destination: string): string {
  if (!destination.startsWith('{')) return destination;
  return `account:${vault().digester('sandbox_payments.destination')(destination)}`;
}

function requestColumns(database: Queryable, request: JournalRequest) {
  const { rail, key, asset, amountUnits, destination, behaviour } = request;
  return [rail, key, asset, amountUnits, storedDestination(database, destination), behaviour] as const;
}

/** Payments from before the digest, with the bank account itself. */
export function olderPayments(database: Database): OlderRows {
  return {
    table: 'sandbox_payments',
    async sealNext(_, rowsMax) {
      const rows = await database.query<Pick<JournalRequest, 'rail' | 'key' | 'destination'>>(
        `select rail, key, destination from sandbox_payments where destination like '{%' limit $1`,
        [rowsMax],
      );
      if (rows.length === 0) return undefined;
      await database.query(
        `update sandbox_payments p set destination = row.destination
         from unnest($1::text[], $2::text[], $3::text[]) as row (rail, key, destination)
         where p.rail = row.rail and p.key = row.key`,
        columns(rows, {
          rail: 'text',
          key: 'text',
          destination: (row) => storedDestination(database, row.destination),
        }),
      );
      return rows.at(-1)!.key;
    },
  };
}

function noticeText(notice: Notice): string {
  return JSON.stringify(notice, (_, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  );
}

/** Units are strings in JSON, whose numbers would lose digits. */
type StoredNotice =
  | Extract<Notice, { about: 'payment' }>
  | { id: string; about: 'deposit'; deposit: Omit<ArrivedDeposit, 'amountUnits'> & { amountUnits: string } };

function readNotice(notice: StoredNotice): Notice {
  if (notice.about === 'payment') return notice;
  const { amountUnits, ...others } = notice.deposit;
  return { ...notice, deposit: { ...others, amountUnits: BigInt(amountUnits) } as ArrivedDeposit };
}

async function plan(tx: Queryable, notices: readonly TimedNotice[]): Promise<void> {
  if (notices.length === 0) return;
  await tx.query(
    `insert into sandbox_notices (id, due_at_ns, notice)
     select id, due_at_ns, notice::json from unnest($1::uuid[], $2::bigint[], $3::text[]) as row (id, due_at_ns, notice)`,
    columns(
      notices.map(({ notice, dueAtNs }) => ({ id: notice.id, dueAtNs, notice: noticeText(notice) })),
      { id: 'uuid', dueAtNs: 'bigint', notice: 'text' },
    ),
  );
}

export function createJournal(
  database: Database,
): RailJournal & { plan(notices: readonly TimedNotice[]): Promise<void> } {
  return {
    plan: (notices) => plan(database, notices),
    receive: (request, now, notices) =>
      database.transaction(async (tx) => {
        const [entry] = await tx.query<JournalEntry>(
          `insert into sandbox_payments as p (rail, key, asset, amount_units, destination, behaviour, requests,
                                              turned_away, accepted_at_ns)
           values ($1, $2, $3, $4, $5, $6, 1, 0, $7)
           on conflict (rail, key) do update
             set requests = p.requests + 1, accepted_at_ns = coalesce(p.accepted_at_ns, excluded.accepted_at_ns)
           returning ${COLUMNS}`,
          [...requestColumns(tx, request), now],
        );
        if (entry!.requests === 1) await plan(tx, notices);
        return entry!;
      }),
    async turnAway(request) {
      const [row] = await database.query<{ turned_away: number }>(
        `insert into sandbox_payments as p (rail, key, asset, amount_units, destination, behaviour, requests, turned_away)
         values ($1, $2, $3, $4, $5, $6, 0, 1)
         on conflict (rail, key) do update set turned_away = p.turned_away + 1
         returning turned_away`,
        requestColumns(database, request),
      );
      return row!.turned_away;
    },
    async find(rail, key) {
      const [entry] = await database.query<JournalEntry>(
        `select ${COLUMNS} from sandbox_payments where rail = $1 and key = $2`,
        [rail, key],
      );
      return entry;
    },
    async force(request, outcome, now, finalBeforeNs) {
      const rows = await database.query(
        `insert into sandbox_payments as p (rail, key, asset, amount_units, destination, behaviour, requests,
                                            turned_away, accepted_at_ns, forced)
         values ($1, $2, $3, $4, $5, $6, 1, 0, $7, $8)
         on conflict (rail, key) do update
           set forced = excluded.forced, requests = greatest(p.requests, 1),
               accepted_at_ns = coalesce(p.accepted_at_ns, excluded.accepted_at_ns)
           where p.forced is null and (p.accepted_at_ns is null or p.accepted_at_ns > $9)
         returning key`,
        [...requestColumns(database, request), now, outcome, finalBeforeNs],
      );
      return rows.length > 0;
    },
    async isKnownDestination({ rail, asset, destination, key }) {
      const rows = await database.query(
        `select 1 from sandbox_payments
         where rail = $1 and destination = $2 and asset = $3 and key <> $4 and requests > 0 limit 1`,
        [rail, destination, asset, key],
      );
      return rows.length > 0;
    },
    async notices(now, noticesMax) {
      const rows = await database.query<{ notice: StoredNotice }>(
        'select notice from sandbox_notices where due_at_ns <= $1 order by due_at_ns limit $2',
        [now, noticesMax],
      );
      return rows.map((row) => readNotice(row.notice));
    },
    async acknowledge(ids) {
      await database.query('delete from sandbox_notices where id = any ($1::uuid[])', [plainArray(ids)]);
    },
  };
}
