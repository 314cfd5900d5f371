import type { Queryable } from '../database/database.ts';
import type { Instant } from '../kernel/instant.ts';
import type { RailName } from '../rails/rail.ts';
import type { Entry } from './camt.ts';

/** Credits that a network has announced. They are booked once a status says that they have settled. */

const place = (rail: string, messageId: string): string => `bank_announced.report:${rail} ${messageId}`;

export async function insertAnnounced(
  tx: Queryable,
  { rail, receivedId }: { readonly rail: RailName; readonly receivedId: string },
  entry: Entry & { readonly reference: string },
  now: Instant,
): Promise<void> {
  const { reference: messageId, units } = entry;
  const plain = JSON.stringify({ ...entry, units: units.toString() });
  await tx.query(
    `insert into bank_announced (rail, message_id, report, received_id, created_at_ns)
     values ($1, $2, $3, $4, $5) on conflict (rail, message_id) do nothing`,
    [rail, messageId, tx.vault().seal(plain, place(rail, messageId)), receivedId, now],
  );
}

export type Announced = {
  readonly state: 'ANNOUNCED' | 'SETTLED' | 'REFUSED';
  readonly entry: Entry;
};

export async function findAnnounced(
  tx: Queryable,
  rail: RailName,
  messageId: string,
): Promise<Announced | undefined> {
  const [row] = await tx.query<{ report: string; state: Announced['state'] }>(
    'select report, state from bank_announced where rail = $1 and message_id = $2 for update',
    [rail, messageId],
  );
  if (row === undefined) return undefined;
  const plain = JSON.parse(tx.vault().open(row.report, place(rail, messageId))) as Omit<Entry, 'units'> & {
    units: string;
  };
  return { state: row.state, entry: { ...plain, units: BigInt(plain.units) } };
}

export async function endAnnounced(
  tx: Queryable,
  rail: RailName,
  messageId: string,
  state: 'SETTLED' | 'REFUSED',
): Promise<void> {
  await tx.query(
    `update bank_announced set state = $3 where rail = $1 and message_id = $2 and state = 'ANNOUNCED'`,
    [rail, messageId, state],
  );
}
