import { plainArray, textArray } from '../database/array.ts';
import { columns } from '../database/columns.ts';
import type { Queryable } from '../database/database.ts';
import { selectList, type Wanted } from '../database/list.ts';
import { createParameters, selectPage } from '../database/select.ts';
import { change } from '../events/outbox.ts';
import { type Found, oneOrSeveral, type Page } from '../kernel/paging.ts';
import type { Table } from '../ledger/command.ts';
import { resourcesByRefId } from '../ledger/keys.ts';
import type { ArrivedDeposit } from '../rails/rail.ts';
import { presentSuspense, type SuspenseDeposit, type SuspenseStatus } from './suspense-deposit.ts';
import {
  type DepositAddress,
  type DepositInstructions,
  type DepositOwner,
  type DepositTarget,
  normalisedMemo,
  presentDepositAddress,
  presentInstructions,
} from './target.ts';

const OWNER = `w.id, w.customer_id as "customerId", w.profile_id as "profileId", w.ref_id as "refId",
  w.identity_id as "identityId", w.account_id as "accountId", w.metadata, w.created_at_ns as "createdAtNs"`;
const ADDRESS = `${OWNER}, w.crypto_network as "cryptoNetwork", w.address`;
const INSTRUCTIONS = `${OWNER}, w.kind, w.memo_id as "memoId", w.instructions`;

function ownerColumns(rows: readonly DepositTarget[]): string[] {
  return columns(rows, {
    id: 'uuid',
    customerId: 'uuid',
    profileId: 'uuid',
    refId: 'text',
    identityId: 'uuid',
    accountId: 'uuid',
    metadata: 'json',
    createdAtNs: 'bigint',
  });
}

function targetCreated(action: string, target: DepositTarget, after: object) {
  const { id: resourceId, customerId, createdAtNs: at } = target;
  return change({ action, customerId, resourceId, at, after });
}

export const newAddresses: Table<DepositAddress> = {
  name: 'deposit_addresses',
  record: (row) => [targetCreated('deposit_address.created', row, presentDepositAddress(row))],
  write: (tx, rows) =>
    tx.query(
      `insert into deposit_addresses (id, customer_id, profile_id, ref_id, identity_id, account_id, metadata,
                                      created_at_ns, crypto_network, address)
       select id, customer_id, profile_id, ref_id, identity_id, account_id, metadata::jsonb, created_at_ns, network, address
       from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::uuid[], $6::uuid[], $7::text[], $8::bigint[],
                   $9::text[], $10::text[])
            as row (id, customer_id, profile_id, ref_id, identity_id, account_id, metadata, created_at_ns, network, address)`,
      [...ownerColumns(rows), ...columns(rows, { cryptoNetwork: 'text', address: 'text' })],
    ),
};

export const newInstructions: Table<DepositInstructions> = {
  name: 'fiat_deposit_instructions',
  record: (row) => [targetCreated('fiat_deposit_instructions.created', row, presentInstructions(row))],
  write: (tx, rows) =>
    tx.query(
      `insert into fiat_deposit_instructions (id, customer_id, profile_id, ref_id, identity_id, account_id, metadata,
                                              created_at_ns, kind, memo_id, instructions)
       select id, customer_id, profile_id, ref_id, identity_id, account_id, metadata::jsonb, created_at_ns, kind, memo_id,
              instructions::jsonb
       from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::uuid[], $6::uuid[], $7::text[], $8::bigint[],
                   $9::text[], $10::text[], $11::text[])
            as row (id, customer_id, profile_id, ref_id, identity_id, account_id, metadata, created_at_ns, kind, memo_id,
                    instructions)`,
      [...ownerColumns(rows), ...columns(rows, { kind: 'text', memoId: 'text', instructions: 'json' })],
    ),
};

/** The owner of a deposit, if it has one. Addresses and memos never change, so this is read before the command runs. */
export async function ownerOf(
  database: Queryable,
  /** Canonical, from `readArrived`. */
  arrived: ArrivedDeposit,
): Promise<DepositOwner | undefined> {
  if ('txHash' in arrived) {
    const [row] = await database.query<DepositOwner>(
      `select ${OWNER} from deposit_addresses w where w.crypto_network = $1 and w.address = $2`,
      [arrived.rail, arrived.address],
    );
    return row;
  }
  const [row] = await database.query<DepositOwner>(
    `select ${OWNER} from fiat_deposit_instructions w where w.kind = $1 and w.memo_id = $2`,
    [arrived.rail, normalisedMemo(arrived.memoId)],
  );
  return row;
}

/** Those of the candidates that are memos of that kind. */
export async function memosAmong(
  database: Queryable,
  kind: string,
  candidates: readonly string[],
): Promise<ReadonlySet<string>> {
  if (candidates.length === 0) return new Set();
  const rows = await database.query<{ memoId: string }>(
    `select memo_id as "memoId" from fiat_deposit_instructions where kind = $1 and memo_id in (select unnest($2::text[]))`,
    [kind, textArray(candidates)],
  );
  return new Set(rows.map(({ memoId }) => memoId));
}

const FILTERS = {
  ids: { column: 'w.id', type: 'uuid', few: true },
  ref_ids: { column: 'w.id', type: 'uuid', few: true },
  profile_ids: { column: 'w.profile_id', type: 'uuid' },
  identity_ids: { column: 'w.identity_id', type: 'uuid' },
  crypto_networks: { column: 'w.crypto_network', type: 'text' },
} as const;
type FilterName = keyof typeof FILTERS;
export type TargetFilters = Wanted<FilterName> & { readonly identity_id?: string | undefined };

async function listTargets<Row extends object>(
  database: Queryable,
  source: { readonly table: string; readonly columns: string },
  customerId: string,
  filters: TargetFilters,
  page: Page,
): Promise<Found<Row>> {
  const { ref_ids: refIds } = filters;
  const parameters = createParameters();
  return selectList<Row, FilterName>(database, page, {
    ...source,
    alias: 'w',
    owner: 'w.customer_id as "customerId"',
    parameters,
    own: `w.customer_id = ${parameters.add(customerId)}`,
    filters: FILTERS,
    wanted: {
      ...filters,
      identity_ids: oneOrSeveral(filters.identity_id, filters.identity_ids),
      ref_ids: refIds && (await resourcesByRefId(database, customerId, source.table, refIds)),
    },
  });
}

export function listAddresses(database: Queryable, customerId: string, filters: TargetFilters, page: Page) {
  const source = { table: 'deposit_addresses', columns: ADDRESS };
  return listTargets<DepositAddress>(database, source, customerId, filters, page);
}

export function listInstructions(
  database: Queryable,
  customerId: string,
  filters: TargetFilters,
  page: Page,
) {
  const source = { table: 'fiat_deposit_instructions', columns: INSTRUCTIONS };
  return listTargets<DepositInstructions>(database, source, customerId, filters, page);
}

export async function findAddress(database: Queryable, customerId: string, id: string) {
  const [row] = await database.query<DepositAddress>(
    `select ${ADDRESS} from deposit_addresses w where w.id = $1 and w.customer_id = $2`,
    [id, customerId],
  );
  return row;
}

/** The address that an earlier request with this ref_id was answered with. */
export async function addressOfRef(
  database: Queryable,
  customerId: string,
  refId: string,
): Promise<string | undefined> {
  const [id] = await resourcesByRefId(database, customerId, 'deposit_addresses', [refId]);
  return id === undefined ? undefined : (await findAddress(database, customerId, id))?.address;
}

export async function findInstructions(database: Queryable, customerId: string, id: string) {
  const [row] = await database.query<DepositInstructions>(
    `select ${INSTRUCTIONS} from fiat_deposit_instructions w where w.id = $1 and w.customer_id = $2`,
    [id, customerId],
  );
  return row;
}

const SUSPENSE = `s.id, s.rail, s.account, s.booked, s.reference, s.asset, s.amount_units as "amountUnits", s.sent_to as "sentTo", s.reason,
  s.created_at_ns as "createdAtNs", s.transfer_id as "transferId", s.returned_by as "returnedBy",
  s.journal_entry_id as "journalEntryId"`;

/** Loading locks the row, so that only one of two operators credits it. */
export const suspenseDeposits: Table<SuspenseDeposit> = {
  name: 'suspense_deposits',
  record: (row, { assets, recordedAt: at }) => {
    const what = row.transferId !== null ? 'credited' : row.returnedBy !== null ? 'returned' : 'created';
    const action = `suspense_deposit.${what}`;
    return [
      change({ action, customerId: null, resourceId: row.id, at, after: presentSuspense(row, assets) }),
    ];
  },
  async load(tx, ids) {
    const rows = await tx.query<SuspenseDeposit>(
      `select ${SUSPENSE} from suspense_deposits s where s.id = any ($1::uuid[]) order by s.id for update`,
      [plainArray(ids)],
    );
    return new Map(rows.map((row) => [row.id, row]));
  },
  write: (tx, rows) =>
    tx.query(
      `insert into suspense_deposits (id, rail, reference, asset, amount_units, sent_to, reason, created_at_ns, transfer_id,
                                      account, booked, returned_by, journal_entry_id)
       select * from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::numeric[], $6::text[], $7::text[],
                            $8::bigint[], $9::uuid[], $10::text[], $11::boolean[], $12::uuid[], $13::uuid[])
       on conflict (id) do update set transfer_id = excluded.transfer_id, returned_by = excluded.returned_by`,
      columns(rows, {
        id: 'uuid',
        rail: 'text',
        reference: 'text',
        asset: 'text',
        amountUnits: 'numeric',
        sentTo: 'text',
        reason: 'text',
        createdAtNs: 'bigint',
        transferId: 'uuid',
        account: 'text',
        booked: 'boolean',
        returnedBy: 'uuid',
        journalEntryId: 'uuid',
      }),
    ),
};

export async function findSuspense(database: Queryable, id: string): Promise<SuspenseDeposit | undefined> {
  const [row] = await database.query<SuspenseDeposit>(
    `select ${SUSPENSE} from suspense_deposits s where s.id = $1`,
    [id],
  );
  return row;
}

/** The suspense deposit that the transfer credited, if any. */
export async function suspenseOf(
  database: Queryable,
  transferId: string,
): Promise<SuspenseDeposit | undefined> {
  const [row] = await database.query<SuspenseDeposit>(
    `select ${SUSPENSE} from suspense_deposits s where s.transfer_id = $1`,
    [transferId],
  );
  return row;
}

const SUSPENSE_BY_STATUS: Readonly<Record<SuspenseStatus, string>> = {
  OPEN: 's.transfer_id is null and s.returned_by is null',
  CREDITED: 's.transfer_id is not null',
  RETURNED: 's.returned_by is not null',
};

export function listSuspense(
  database: Queryable,
  { ids, statuses }: { readonly ids?: readonly string[]; readonly statuses?: readonly SuspenseStatus[] },
  page: Page,
): Promise<Found<SuspenseDeposit>> {
  const source = { table: 'suspense_deposits', alias: 's', columns: SUSPENSE };
  const parameters = createParameters();
  const chosen = statuses && [...new Set(statuses)].map((status) => `(${SUSPENSE_BY_STATUS[status]})`);
  const conditions = [
    'true',
    ...(ids ? [parameters.anyOf('s.id', 'uuid', ids)] : []),
    ...(chosen ? [`(${chosen.join(' or ')})`] : []),
  ];
  const branches = [{ where: conditions.join(' and ') }];
  return selectPage<SuspenseDeposit>(database, page, { ...source, parameters, branches, filters: [] });
}

/** Those of these ids that are suspense deposits. */
export async function suspenseAmong(database: Queryable, ids: readonly string[]): Promise<string[]> {
  const rows = await database.query<{ id: string }>(
    'select id from suspense_deposits where id = any ($1::uuid[])',
    [plainArray(ids)],
  );
  return rows.map(({ id }) => id);
}
