import { expect } from 'vitest';
import { canonicalText } from '../../src/kernel/canonical.ts';
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

/** No operation shows one alone: these are compared with their table. */
const OF_TABLES: Readonly<Record<string, string>> = {
  customer: `select jsonb_build_object('id', id, 'name', name) as now from customers where id::text = $1`,
  destination: `select jsonb_build_object('id', id) as now from policy_destinations where id::text = $1 and listed`,
  deposit_address:
    "select jsonb_build_object('id', id, 'address', address) as now from deposit_addresses where id::text = $1",
  suspense_deposit: `select jsonb_build_object('id', id) as now from suspense_deposits where id::text = $1`,
  guaranteed_fee: `select jsonb_build_object('id', id) as now from guaranteed_fees where id::text = $1`,
  reconciliation_statement: `select jsonb_build_object('id', id) as now from reconciliation_statements where id::text = $1`,
  reconciliation_match: `select jsonb_build_object('id', id) as now from reconciliation_matches where id::text = $1`,
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
    } else if (OF_TABLES[type] !== undefined) {
      const [row] = await service.database.query<{ now: object }>(OF_TABLES[type], [id]);
      if (row !== undefined) compared.add(type);
      expect({ key, after }).toEqual({ key, after: row && expect.objectContaining(row.now) });
    }
  }
  return compared;
}
