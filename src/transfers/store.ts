import { plainArray } from '../database/array.ts';
import { appendTo, type BinaryColumn } from '../database/binary.ts';
import { columns } from '../database/columns.ts';
import type { CustomerReads, Database, Queryable, Statement } from '../database/database.ts';
import { packer } from '../database/packed.ts';
import { change } from '../events/outbox.ts';
import type { OlderRows } from '../kernel/capability.ts';
import type { Vault } from '../kernel/vault.ts';
import type { Table } from '../ledger/command.ts';
import { openJson, sealJson } from '../sealing/columns.ts';
import { olderJson } from '../sealing/older-rows-store.ts';
import { presentTransfer, sideIds, type Transfer } from './transfer.ts';

const json = (value: object | null | undefined): string | null | undefined => value && JSON.stringify(value);

/** One list of columns for inserting and reading, so that the two cannot differ. These are the columns of every transfer. */
const COMMON: readonly BinaryColumn<Transfer>[] = [
  { name: 'id', type: 'uuid', value: (one) => one.id },
  { name: 'customer_id', type: 'uuid', value: (one) => one.customerId },
  { name: 'profile_id', type: 'uuid', value: (one) => one.profileId },
  { name: 'type', type: 'text', value: (one) => one.type },
  { name: 'direction', type: 'text', value: (one) => one.direction },
  { name: 'status', type: 'text', value: (one) => one.status },
  { name: 'asset', type: 'text', value: (one) => one.asset },
  { name: 'amount_units', type: 'numeric', value: (one) => one.amountUnits },
  { name: 'fee_units', type: 'numeric', value: (one) => one.feeUnits },
  { name: 'balance_asset', type: 'text', value: (one) => one.balanceAsset },
  { name: 'balance_units', type: 'numeric', value: (one) => one.balanceUnits },
  { name: 'created_at_ns', type: 'bigint', value: (one) => one.createdAtNs },
  { name: 'updated_at_ns', type: 'bigint', value: (one) => one.updatedAtNs },
  { name: 'identity_id', type: 'uuid', value: (one) => one.identityId },
  { name: 'account_id', type: 'uuid', value: (one) => one.accountId },
  { name: 'ref_id', type: 'text', value: (one) => one.refId },
  { name: 'group_id', type: 'uuid', value: (one) => one.groupId },
  { name: 'metadata', type: 'jsonb', value: (one) => json(one.metadata) },
];

/** Columns that transfers inside the service do not have. */
const OUTSIDE: readonly BinaryColumn<Transfer>[] = [
  { name: 'memo', type: 'text', value: (one) => one.memo },
  { name: 'fiat_account_id', type: 'uuid', value: (one) => one.fiatAccountId },
  { name: 'destination_address', type: 'text', value: (one) => one.destinationAddress },
  { name: 'crypto_network', type: 'text', value: (one) => one.cryptoNetwork },
  { name: 'crypto_tx_hash', type: 'text', value: (one) => one.cryptoTxHash },
  { name: 'crypto_tx_index', type: 'text', value: (one) => one.cryptoTxIndex },
  { name: 'notional_value', type: 'text', value: (one) => one.notionalValue },
  { name: 'secondary_status', type: 'jsonb', value: (one) => json(one.secondaryStatus) },
  { name: 'status_details', type: 'jsonb', value: (one) => json(one.statusDetails) },
  { name: 'fee_id', type: 'uuid', value: (one) => one.feeId },
];

const camelCase = (name: string): string =>
  name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

export const TRANSFER_COLUMNS = [...COMMON, ...OUTSIDE]
  .map(({ name }) => `t.${name} as "${camelCase(name)}"`)
  .join(', ');

/** A transfer with the sealed text of its beneficiary. */
type SealedTransfer = Transfer & { readonly sealedBeneficiary: string | null };

const appendOutside = appendTo<SealedTransfer>('transfers', [
  ...COMMON,
  ...OUTSIDE,
  // Not among the columns that are read: no answer shows it.
  { name: 'beneficiary', type: 'jsonb', value: (one) => one.sealedBeneficiary },
]);

const beneficiaryPlace = (id: string): string => `transfers.beneficiary:${id}`;

function sealBeneficiary(vault: Vault, { id, beneficiary }: Transfer): string | null {
  return sealJson(vault, beneficiary, beneficiaryPlace(id));
}

/** For workers: rails are told who is paid. Customers are never shown it. */
const WITH_BENEFICIARY = `${TRANSFER_COLUMNS}, t.beneficiary`;

function openBeneficiary(vault: Vault, row: Transfer): Transfer {
  const { id, beneficiary } = row;
  if (beneficiary === null || beneficiary === undefined) return row;
  return { ...row, beneficiary: openJson<object>(vault, beneficiary, beneficiaryPlace(id)) };
}

export const olderBeneficiaries = (database: Database): OlderRows =>
  olderJson(database, {
    table: 'transfers',
    key: { name: 'id', type: 'uuid' },
    columns: ['beneficiary'],
  });

const sealed = (vault: Vault, transfers: readonly Transfer[]): SealedTransfer[] =>
  transfers.map((one) => ({ ...one, sealedBeneficiary: sealBeneficiary(vault, one) }));

/** New transfers into the service or out of it. */
export const newTransfers: Table<Transfer> = {
  name: 'transfers',
  isLog: true,
  sendsAtOnce: true,
  write: (tx, transfers) => appendOutside(tx, sealed(tx.vault(), transfers)),
};

const INSIDE: readonly BinaryColumn<Transfer>[] = [
  ...COMMON,
  // The event of a transfer inside the service is found by its batch. It is not among the columns that are read.
  { name: 'batch_id', type: 'uuid', value: (one) => one.batchId },
];

/** New transfers inside the service: a dozen empty columns would cost 7 µs per transfer. */
export const newInsideTransfers: Table<Transfer> = {
  name: 'transfers',
  isLog: true,
  sendsAtOnce: true,
  write: appendTo('transfers', INSIDE),
  pack: packer('transfers', INSIDE),
};

/** Citus has no FOR UPDATE for several shards; an update locks, too. */
const LOCK_TRANSFERS: Statement = {
  plain: `select ${WITH_BENEFICIARY} from transfers t where t.id = any ($1::uuid[]) order by t.id for update`,
  distributed: `update transfers t set updated_at_ns = t.updated_at_ns where t.id = any ($1::uuid[])
    returning ${WITH_BENEFICIARY}`,
};

/** Transfers that change. Loading locks the rows until commit. */
export const changedTransfers: Table<Transfer> = {
  name: 'transfers',
  // A change of its status has an event; what it waits for is only in the log.
  record: (transfer, { assets }) => [
    change({
      action: 'transfer.updated',
      customerId: transfer.customerId,
      resourceId: transfer.id,
      at: transfer.updatedAtNs,
      after: presentTransfer(transfer, assets),
    }),
  ],
  async load(tx, ids) {
    const rows = await tx.query<Transfer>(LOCK_TRANSFERS, [plainArray(ids)]);
    return new Map(rows.map((row) => [row.id, openBeneficiary(tx.vault(), row)]));
  },
  /** Only the columns that can change after a transfer was created. */
  write: (tx, transfers) =>
    tx.query(
      `update transfers t
       set status = changed.status, updated_at_ns = changed.updated_at_ns, crypto_tx_hash = changed.crypto_tx_hash,
           crypto_tx_index = changed.crypto_tx_index, secondary_status = changed.secondary_status::jsonb,
           status_details = changed.status_details::jsonb
       from unnest($1::uuid[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[])
            as changed (id, status, updated_at_ns, crypto_tx_hash, crypto_tx_index, secondary_status, status_details)
       where t.id = changed.id`,
      columns(transfers, {
        id: 'uuid',
        status: 'text',
        updatedAtNs: 'bigint',
        cryptoTxHash: 'text',
        cryptoTxIndex: 'text',
        secondaryStatus: 'json',
        statusDetails: 'json',
      }),
    ),
};

/** A transfer of that customer; undefined for a transfer of another one. */
export async function findTransfer(
  database: Queryable,
  customerId: string,
  id: string,
): Promise<Transfer | undefined> {
  const [transfer] = await database.query<Transfer>(
    `select ${TRANSFER_COLUMNS} from transfers t where t.id = $1 and t.customer_id = $2`,
    [id, customerId],
  );
  return transfer;
}

/** Transfers of that customer, by their ids; those of others are missing from the result. */
export async function findTransfers(
  database: Queryable,
  customerId: string,
  ids: readonly string[],
): Promise<Map<string, Transfer>> {
  const rows = await database.query<Transfer>(
    `select ${TRANSFER_COLUMNS} from transfers t where t.id = any ($1::uuid[]) and t.customer_id = $2`,
    [plainArray(ids), customerId],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** Transfers of any customer, for workers. Transfers that do not exist are missing from the result. */
export async function transfersById(
  database: Queryable,
  ids: readonly string[],
): Promise<Map<string, Transfer>> {
  const rows = await database.query<Transfer>(
    `select ${WITH_BENEFICIARY} from transfers t where t.id = any ($1::uuid[])`,
    [plainArray(ids)],
  );
  return new Map(rows.map((row) => [row.id, openBeneficiary(database.vault(), row)]));
}

/** The batches that created these transfers of the customer inside the service. */
export async function batchesOfTransfers(own: CustomerReads, ids: readonly string[]): Promise<string[]> {
  const rows = await own.query<{ id: string }>(
    `select distinct batch_id as id, customer_id as "customerId" from transfers
     where id = any ($1::uuid[]) and customer_id = $2 and batch_id is not null`,
    [plainArray(ids), own.customerId],
  );
  return rows.map(({ id }) => id);
}

/** The same for operators, of all customers. */
export async function batchesOfAnyTransfers(database: Queryable, ids: readonly string[]): Promise<string[]> {
  const rows = await database.query<{ id: string }>(
    'select distinct batch_id as id from transfers where id = any ($1::uuid[]) and batch_id is not null',
    [plainArray(ids)],
  );
  return rows.map(({ id }) => id);
}

/** A transfer as the cause of entries: both sides of a transfer inside the service have one cause, their group. */
export type TransferCause = Pick<Transfer, 'id' | 'profileId' | 'type'> & {
  readonly causeId: string;
  readonly refId: string | null;
  readonly cryptoTxHash: string | null;
};

/** The transfers that caused entries, of any customer. */
export async function transferCauses(
  database: Queryable,
  causeIds: readonly string[],
): Promise<TransferCause[]> {
  return database.query<TransferCause>(
    `select t.id, t.profile_id as "profileId", t.type, t.ref_id as "refId", coalesce(t.group_id, t.id) as "causeId",
            t.crypto_tx_hash as "cryptoTxHash"
     from transfers t where t.id = any ($1::uuid[])`,
    [plainArray(causeIds.flatMap((id) => [id, ...sideIds(id)]))],
  );
}
