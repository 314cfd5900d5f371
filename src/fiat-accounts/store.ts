import { plainArray } from '../database/array.ts';
import { columns } from '../database/columns.ts';
import type { Database, Queryable, Transaction } from '../database/database.ts';
import { StaleRead } from '../database/failure.ts';
import { type EventErasure, eventErasures } from '../events/erasure-store.ts';
import type { OlderRows } from '../kernel/capability.ts';
import type { Vault } from '../kernel/vault.ts';
import type { Table } from '../ledger/command.ts';
import type { FiatKind } from '../networks/fiat.ts';
import { openJson, sealJson } from '../sealing/columns.ts';
import { olderJson } from '../sealing/older-rows-store.ts';
import type { FiatAccount } from './fiat-account.ts';

export const COLUMNS = `f.id, f.customer_id as "customerId", f.status, f.kind, f.fiat_account_owner as "fiatAccountOwner",
  f.fiat_network_instructions as "fiatNetworkInstructions", f.ref_id as "refId", f.identity_id as "identityId",
  f.account_id as "accountId", f.metadata, f.created_at_ns as "createdAtNs", f.updated_at_ns as "updatedAtNs",
  f.deleted_at_ns as "deletedAtNs", f.reason, f.updated_at_ns as "versionNs"`;

const NIL_ID = '00000000-0000-0000-0000-000000000000';

type Row = Pick<FiatAccount, 'id' | 'fiatAccountOwner' | 'fiatNetworkInstructions'>;

const ownerPlace = ({ id }: { id: string }): string => `fiat_accounts.fiat_account_owner:${id}`;
const instructionsPlace = ({ id }: { id: string }): string => `fiat_accounts.fiat_network_instructions:${id}`;

/** The columns with names and account numbers, sealed. */
const sealedColumns = (vault: Vault) => ({
  fiatAccountOwner: (row: Row) => sealJson(vault, row.fiatAccountOwner, ownerPlace(row)),
  fiatNetworkInstructions: (row: Row) => sealJson(vault, row.fiatNetworkInstructions, instructionsPlace(row)),
});

/** An account as it was read, with its sealed columns opened. */
export function opened<Account extends Row>(vault: Vault, row: Account): Account {
  return {
    ...row,
    fiatAccountOwner: openJson(vault, row.fiatAccountOwner, ownerPlace(row)),
    fiatNetworkInstructions: openJson(vault, row.fiatNetworkInstructions, instructionsPlace(row)),
  };
}

export const olderFiatAccounts = (database: Database): OlderRows =>
  olderJson(database, {
    table: 'fiat_accounts',
    key: { name: 'id', type: 'uuid' },
    columns: ['fiat_account_owner', 'fiat_network_instructions'],
  });

/** Accounts that were deleted before that erased them: erased now, as `deleteFiatAccountCommand` does. */
export function deletedFiatAccounts(
  database: Database,
  erase: (account: FiatAccount) => { readonly account: FiatAccount; readonly erasure: EventErasure },
): OlderRows {
  return {
    table: 'deleted fiat_accounts',
    async sealNext(after, rowsMax) {
      const rows = await database.query<FiatAccount>(
        `select ${COLUMNS} from fiat_accounts f where f.deleted_at_ns is not null and f.id > $1::uuid
         order by f.id limit $2`,
        [after === '' ? NIL_ID : after, rowsMax],
      );
      if (rows.length === 0) return undefined;
      const erased = rows.map((row) => erase(opened(database.vault(), row)));
      await database.transaction(async (tx) => {
        await update(
          tx,
          erased.map(({ account }) => account),
        );
        await eventErasures.write!(
          tx,
          erased.map(({ erasure }) => erasure),
          '',
        );
      });
      return rows.at(-1)!.id;
    },
  };
}

async function insert(tx: Transaction, rows: readonly FiatAccount[]): Promise<void> {
  await tx.query(
    `insert into fiat_accounts (id, customer_id, status, kind, fiat_account_owner, fiat_network_instructions, ref_id,
                                identity_id, account_id, metadata, created_at_ns, updated_at_ns, deleted_at_ns, reason)
     select id, customer_id, status, kind, owner::jsonb, instructions::jsonb, ref_id,
            identity_id, account_id, metadata::jsonb, created_at_ns, updated_at_ns, deleted_at_ns, reason
     from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
                 $8::uuid[], $9::uuid[], $10::text[], $11::bigint[], $12::bigint[], $13::bigint[],
                 $14::text[])
          as row (id, customer_id, status, kind, owner, instructions, ref_id,
                  identity_id, account_id, metadata, created_at_ns, updated_at_ns, deleted_at_ns, reason)`,
    columns(rows, {
      id: 'uuid',
      customerId: 'uuid',
      status: 'text',
      kind: 'text',
      ...sealedColumns(tx.vault()),
      refId: 'text',
      identityId: 'uuid',
      accountId: 'uuid',
      metadata: 'json',
      createdAtNs: 'bigint',
      updatedAtNs: 'bigint',
      deletedAtNs: 'bigint',
      reason: 'text',
    }),
  );
}

async function update(tx: Transaction, rows: readonly FiatAccount[]): Promise<void> {
  const updated = await tx.query(
    `update fiat_accounts f
     set status = changed.status, kind = changed.kind, fiat_account_owner = changed.owner::jsonb,
         fiat_network_instructions = changed.instructions::jsonb, metadata = changed.metadata::jsonb,
         updated_at_ns = changed.updated_at_ns, deleted_at_ns = changed.deleted_at_ns, reason = changed.reason
     from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::bigint[],
                 $9::bigint[], $10::text[])
          as changed (id, status, kind, owner, instructions, metadata, updated_at_ns, deleted_at_ns, version_ns, reason)
     where f.id = changed.id and f.updated_at_ns = changed.version_ns
     returning f.id`,
    columns(rows, {
      id: 'uuid',
      status: 'text',
      kind: 'text',
      ...sealedColumns(tx.vault()),
      metadata: 'json',
      updatedAtNs: 'bigint',
      deletedAtNs: 'bigint',
      versionNs: 'bigint',
      reason: 'text',
    }),
  );
  if (updated.length < rows.length) throw new StaleRead('a fiat account');
}

/** Fiat accounts by id, of all customers, including deleted ones: the rules decide who may do what. */
export const fiatAccountTable: Table<FiatAccount> = {
  name: 'fiat_accounts',
  async load(tx, ids) {
    const rows = await tx.query<FiatAccount>(
      `select ${COLUMNS} from fiat_accounts f where f.id = any ($1::uuid[])`,
      [plainArray(ids)],
    );
    return new Map(rows.map((row) => [row.id, opened(tx.vault(), row)]));
  },
  async write(tx, rows) {
    const fresh = rows.filter((row) => row.versionNs === null);
    const changed = rows.filter((row) => row.versionNs !== null);
    await Promise.all([
      fresh.length > 0 ? insert(tx, fresh) : undefined,
      changed.length > 0 ? update(tx, changed) : undefined,
    ]);
  },
};

/**
 * The same rows, locked until commit: a review, change or deletion waits for this transaction, and then finds what it wrote
 * because of the account.
 */
export const heldFiatAccounts: Table<FiatAccount> = {
  name: 'fiat_accounts (held)',
  async load(tx, ids) {
    const rows = await tx.query<FiatAccount>(
      `select ${COLUMNS} from fiat_accounts f where f.id = any ($1::uuid[]) order by f.id for share`,
      [plainArray(ids)],
    );
    return new Map(rows.map((row) => [row.id, opened(tx.vault(), row)]));
  },
};

/** A fiat account of that customer, deleted or not; undefined for another customer's account. */
export async function findFiatAccount(
  database: Queryable,
  customerId: string,
  id: string,
): Promise<FiatAccount | undefined> {
  const [account] = await database.query<FiatAccount>(
    `select ${COLUMNS} from fiat_accounts f where f.id = $1 and f.customer_id = $2`,
    [id, customerId],
  );
  return account && opened(database.vault(), account);
}

/** The kind of an account of any customer, deleted or not: it never changes. */
export async function kindOfFiatAccount(database: Queryable, id: string): Promise<FiatKind | undefined> {
  const [row] = await database.query<{ kind: FiatKind }>('select kind from fiat_accounts where id = $1', [
    id,
  ]);
  return row?.kind;
}
