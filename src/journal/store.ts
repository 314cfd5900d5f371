import { ADVISORY_LOCKS } from '../database/advisory-locks.ts';
import { plainArray } from '../database/array.ts';
import { columns } from '../database/columns.ts';
import type { Queryable, Transaction } from '../database/database.ts';
import { change } from '../events/outbox.ts';
import type { AccountRef, Posting, SystemAccountName, Table } from '../ledger/command.ts';
import { type Corrects, type JournalEntry, presentEntry } from './entry.ts';
import { correctionKey, reversalKey, type WithdrawalReturn } from './plan.ts';

/** Units are strings in JSON, whose numbers would lose digits. */
type StoredPosting = {
  readonly asset: string;
  readonly units: string;
  readonly from_account: string;
  readonly from_profile_id: string | null;
  readonly to_account: string;
  readonly to_profile_id: string | null;
};

export type StoredEntry = Omit<JournalEntry, 'output' | 'corrects' | 'postings'> & {
  readonly output: bigint | null;
  readonly correctsType: Corrects['type'] | null;
  readonly correctsId: string | null;
  readonly correctsLegId: string | null;
  readonly postings: readonly StoredPosting[];
};

/** The columns of `journal_entries j`. */
export const COLUMNS = `j.id, j.kind, j.customer_id as "customerId", j.actor, j.ref_id as "refId", j.reason, j.reference,
  j.note, j.created_at_ns as "createdAtNs", j.asset, j.amount_units as "amountUnits", j.rail, j.account,
  j.output_number as output, j.profile_ids as "profileIds", j.assets, j.corrects_type as "correctsType",
  j.corrects_id as "correctsId", j.corrects_leg_id as "correctsLegId", j.corrects_cause_id as "correctsCauseId",
  j.transfer_id as "transferId", j.suspense_deposit_id as "suspenseDepositId", j.outcome,
  coalesce((select json_agg(json_build_object('asset', p.asset, 'units', p.units::text,
                                              'from_account', p.from_account, 'from_profile_id', p.from_profile_id,
                                              'to_account', p.to_account, 'to_profile_id', p.to_profile_id)
                            order by p.posting)
            from journal_postings p where p.journal_entry_id = j.id), '[]') as postings,
  (select r.id from journal_entries r where r.kind = 'REVERSAL' and r.corrects_cause_id = j.id) as "reversedBy"`;

function refOf(account: string, profileId: string | null): AccountRef {
  return profileId === null
    ? { account: account as SystemAccountName }
    : { profileId, account: account as 'available' };
}

export function fromStored(row: StoredEntry): JournalEntry {
  const { output, correctsType, correctsId, correctsLegId, postings, ...entry } = row;
  return {
    ...entry,
    output: output === null ? null : Number(output),
    corrects: correctsType === null ? null : { type: correctsType, id: correctsId!, legId: correctsLegId },
    postings: postings.map((one) => ({
      asset: one.asset,
      units: BigInt(one.units),
      from: refOf(one.from_account, one.from_profile_id),
      to: refOf(one.to_account, one.to_profile_id),
    })),
  };
}

function plainEntry(entry: JournalEntry) {
  const { corrects } = entry;
  return {
    id: entry.id,
    kind: entry.kind,
    customer_id: entry.customerId,
    actor: entry.actor,
    ref_id: entry.refId,
    reason: entry.reason,
    reference: entry.reference,
    note: entry.note,
    created_at_ns: entry.createdAtNs.toString(),
    asset: entry.asset,
    amount_units: entry.amountUnits?.toString() ?? null,
    rail: entry.rail,
    account: entry.account,
    output_number: entry.output,
    profile_ids: entry.profileIds,
    assets: entry.assets,
    corrects_type: corrects?.type ?? null,
    corrects_id: corrects?.id ?? null,
    corrects_leg_id: corrects?.legId ?? null,
    corrects_cause_id: entry.correctsCauseId,
    transfer_id: entry.transferId,
    suspense_deposit_id: entry.suspenseDepositId,
    outcome: entry.outcome,
  };
}

function plainPosting(entryId: string, { asset, units, from, to }: Posting, posting: number) {
  return {
    journal_entry_id: entryId,
    posting,
    asset,
    units: units.toString(),
    from_account: from.account,
    from_profile_id: 'profileId' in from ? from.profileId : null,
    to_account: to.account,
    to_profile_id: 'profileId' in to ? to.profileId : null,
  };
}

/** As JSON, because rows with arrays cannot be passed as one array per column. */
async function insertEntries(tx: Transaction, entries: readonly JournalEntry[]): Promise<void> {
  await tx.query(
    `insert into journal_entries
     select (jsonb_populate_record(null::journal_entries, row)).* from jsonb_array_elements($1::jsonb) as row`,
    [JSON.stringify(entries.map(plainEntry))],
  );
  const postings = entries.flatMap(({ id, postings: own }) =>
    own.map((one, index) => plainPosting(id, one, index)),
  );
  await tx.query(
    `insert into journal_postings
     select (jsonb_populate_record(null::journal_postings, row)).* from jsonb_array_elements($1::jsonb) as row`,
    [JSON.stringify(postings)],
  );
}

/**
 * Journal entries by what they correct. Reading any key takes the lock of the journal until commit: entries of all nodes are
 * decided one after another, so none misses a correction, a reversal or a sweep. They are rare. Keys of entries find nothing:
 * only new entries are read by their key.
 */
export const journalEntries: Table<JournalEntry> = {
  name: 'journal_entries',
  record: (entry, { assets }) => [
    change({
      action: 'journal.booked',
      // The owners of the profiles get events under its id, with what they may see.
      key: `journal/${entry.id}`,
      customerId: entry.customerId,
      resourceId: entry.id,
      at: entry.createdAtNs,
      after: presentEntry(entry, assets),
    }),
  ],
  async load(tx, keys) {
    const causesOf = (prefix: string): string[] =>
      keys.filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length));
    const [reversed, corrected] = [causesOf('reversal:'), causesOf('correction:')];
    // A statement sees what was committed before it began, so the lock is a statement of its own.
    await tx.query(`select pg_advisory_xact_lock(${ADVISORY_LOCKS.journal})`);
    if (reversed.length + corrected.length === 0) return new Map();
    const rows = await tx.query<StoredEntry>(
      `select ${COLUMNS} from journal_entries j
       where (j.kind = 'REVERSAL' and j.corrects_cause_id = any ($1::uuid[]))
          or (j.kind = 'CORRECTION' and j.corrects_cause_id = any ($2::uuid[])
              and not exists (select from journal_entries r where r.kind = 'REVERSAL' and r.corrects_cause_id = j.id))`,
      [plainArray(reversed), plainArray(corrected)],
    );
    return new Map(
      rows.map(fromStored).map((entry) => {
        const keyOf = entry.kind === 'REVERSAL' ? reversalKey : correctionKey;
        return [keyOf(entry.correctsCauseId!), entry];
      }),
    );
  },
  // An entry with several keys is one row.
  write: (tx, rows) => insertEntries(tx, [...new Set(rows)]),
};

export const withdrawalReturns: Table<WithdrawalReturn> = {
  name: 'withdrawal_returns',
  async load(tx, ids) {
    const rows = await tx.query<WithdrawalReturn>(
      `select transfer_id as "transferId", amount_units as "amountUnits", returned_units as "returnedUnits"
       from withdrawal_returns where transfer_id = any ($1::uuid[]) order by transfer_id for update`,
      [plainArray(ids)],
    );
    return new Map(rows.map((row) => [row.transferId, row]));
  },
  write: (tx, rows) =>
    tx.query(
      `insert into withdrawal_returns (transfer_id, amount_units, returned_units)
       select * from unnest($1::uuid[], $2::numeric[], $3::numeric[])
       on conflict (transfer_id) do update set returned_units = excluded.returned_units`,
      columns(rows, { transferId: 'uuid', amountUnits: 'numeric', returnedUnits: 'numeric' }),
    ),
};

export async function findEntry(database: Queryable, id: string): Promise<JournalEntry | undefined> {
  const [row] = await database.query<StoredEntry>(
    `select ${COLUMNS} from journal_entries j where j.id = $1`,
    [id],
  );
  return row && fromStored(row);
}

/** A journal entry as the cause of entries. */
export type JournalCause = Pick<JournalEntry, 'id' | 'kind' | 'note' | 'reference'>;

/** Those of these ids that are journal entries. */
export async function journalCauses(database: Queryable, ids: readonly string[]): Promise<JournalCause[]> {
  return database.query<JournalCause>(
    'select id, kind, note, reference from journal_entries where id = any ($1::uuid[])',
    [plainArray(ids)],
  );
}
