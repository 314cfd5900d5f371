import { expect } from 'vitest';
import { customerChange } from '../../src/auth/changes.ts';
import { customerById } from '../../src/auth/store.ts';
import type { Database } from '../../src/database/database.ts';
import { presentGuaranteedFee } from '../../src/fees/guaranteed-fee.ts';
import { guaranteedFeeTable } from '../../src/fees/store.ts';
import { canonicalText } from '../../src/kernel/canonical.ts';
import { presentMatch, presentStatement } from '../../src/reconciliation/reconcile.ts';
import type { Match, StoredStatement } from '../../src/reconciliation/store.ts';
import { assets } from '../support/ledger.ts';
import type { TestCustomer, TestService } from '../support/service.ts';

/** The end of the log beside the present: the last `after` of a resource is what the API shows of it now. */

/** The operation that shows a resource, and the fields of its answer that the log does not have. */
type Shown = {
  path(id: string, isOperators: boolean): string;
  readonly beside?: readonly string[];
  readonly byOperator?: boolean;
};

const SHOWN: Readonly<Record<string, Shown>> = {
  account: { path: (id) => `/v2/identity/accounts/${id}`, beside: ['members'] },
  approval: { path: (id) => `/v2/operator/approvals/${id}`, byOperator: true },
  client: { path: (id) => `/v2/operator/clients/${id}`, beside: ['credentials'], byOperator: true },
  fiat_account: { path: (id) => `/v2/transfer/fiat-accounts/${id}` },
  fiat_deposit_instructions: { path: (id) => `/v2/transfer/fiat-deposit-instructions/${id}` },
  freeze: { path: (id) => `/v2/operator/freezes/${id}`, byOperator: true },
  identity: { path: (id) => `/v2/identity/identities/${id}` },
  journal: { path: (id) => `/v2/operator/journal-entries/${id}`, byOperator: true },
  person: { path: (id) => `/v2/people/${id}`, beside: ['name', 'email'] },
  policy: { path: (id, isOperators) => (isOperators ? `/v2/operator/policies/${id}` : `/v2/policies/${id}`) },
  profile: { path: (id) => `/v2/profiles/${id}` },
  settlement: { path: (id) => `/v2/settlement/transactions/${id}` },
  transfer: { path: (id) => `/v2/transfer/transfers/${id}` },
  webhook_endpoint: { path: (id) => `/v2/events/webhooks/${id}` },
};

/** No operation shows one of these alone: it is found in its list. */
type Listed = { readonly list: string; readonly byOperator?: boolean };
const LISTED: Readonly<Record<string, Listed>> = {
  destination: { list: '/v2/destinations?limit=100' },
  deposit_address: { list: '/v2/transfer/deposit-addresses?limit=100' },
  suspense_deposit: { list: '/v2/operator/suspense-deposits?limit=100', byOperator: true },
};

/** No operation shows these at all: they are read from their tables. */
const STORED: Readonly<Record<string, (database: Database, id: string) => Promise<object | undefined>>> = {
  async customer(database, id) {
    const row = await customerById(database, id);
    return row && customerChange('read', row).after!;
  },
  async guaranteed_fee(database, id) {
    const rows = await database.transaction((tx) => guaranteedFeeTable.load!(tx, [id]));
    const row = rows.get(id);
    return (
      row && { ...presentGuaranteedFee(row, assets), ...(row.usedBy !== null && { used_by: row.usedBy }) }
    );
  },
  async reconciliation_statement(database, id) {
    const [row] = await database.query<StoredStatement>(
      `select id, account, statement_id as "statementId", asset, format, digest, line_count as "lineCount", actor
       from reconciliation_statements where id = $1`,
      [id],
    );
    return row && presentStatement(row);
  },
  async reconciliation_match(database, id) {
    const [row] = await database.query<Match>(
      `select id, account, actor, reason, created_at_ns as "createdAtNs", removed_by as "removedBy",
              removed_because as "removedBecause", removed_at_ns as "removedAtNs"
       from reconciliation_matches where id = $1`,
      [id],
    );
    return row && presentMatch(row);
  },
};

export type Last = {
  readonly resource_type: string;
  readonly resource_id: string;
  readonly customer_id?: string;
  readonly after?: any;
};

async function shownNow(
  { path, beside = [], byOperator = false }: Shown,
  { resource_id: id, customer_id: owner }: Last,
  callers: readonly TestCustomer[],
): Promise<any> {
  const [operator] = callers;
  const caller = byOperator || owner === undefined ? operator : callers.find((one) => one.id === owner);
  if (caller === undefined) return undefined;
  const { status, body } = await caller.call('GET', path(id, owner === undefined));
  if (status === 404) return null;
  return Object.fromEntries(Object.entries(body).filter(([name]) => !beside.includes(name)));
}

/** Undefined if it is not listed any more, or belongs to nobody who can ask. */
async function listedNow(
  { list, byOperator = false }: Listed,
  { resource_id: id, customer_id: owner }: Last,
  callers: readonly TestCustomer[],
): Promise<object | undefined> {
  const caller = byOperator ? callers[0] : callers.find((one) => one.id === owner);
  const answer = await caller?.call('GET', list);
  return answer?.body.items.find((one: { id: string }) => one.id === id);
}

/** Returns the types that were compared. The first of the callers is the operator. */
export async function expectPresent(
  service: TestService,
  last: Iterable<Last>,
  callers: readonly TestCustomer[],
): Promise<ReadonlySet<string>> {
  const compared = new Set<string>();
  const digestOf = service.vault.digester('audit_log');
  for (const entry of last) {
    const { resource_type: type, resource_id: id, after } = entry;
    const key = `${type} ${id}`;
    if (SHOWN[type] !== undefined) {
      const now = await shownNow(SHOWN[type], entry, callers);
      if (now === undefined) continue;
      compared.add(type);
      // What was deleted has no `after`, and is not found.
      const isSealed = after?.sealed_digest !== undefined;
      const present =
        isSealed && now !== null ? { sealed_digest: digestOf(canonicalText(now)) } : (now ?? undefined);
      expect({ key, after }).toEqual({ key, after: present });
    } else {
      const now = await (LISTED[type] === undefined
        ? STORED[type]?.(service.database, id)
        : listedNow(LISTED[type], entry, callers));
      if (now !== undefined) compared.add(type);
      else if (STORED[type] === undefined) continue;
      expect({ key, after }).toEqual({ key, after: now });
    }
  }
  return compared;
}
