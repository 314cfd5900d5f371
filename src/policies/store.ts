import { ADVISORY_LOCKS } from '../database/advisory-locks.ts';
import { plainArray, textArray } from '../database/array.ts';
import { CLOCK_NS } from '../database/clock.ts';
import { columns } from '../database/columns.ts';
import type { Parameter, Queryable, Transaction } from '../database/database.ts';
import { createParameters, selectPage } from '../database/select.ts';
import { change } from '../events/outbox.ts';
import type { Found, Page } from '../kernel/paging.ts';
import type { Table } from '../ledger/command.ts';
import { type Meter, meterOfKey } from './evaluate.ts';
import { OPERATOR, type Policy, type PolicySet, presentPolicy } from './policy.ts';

const COLUMNS = `p.id, p.customer_id as "customerId", p.name, v.version, v.enabled, v.document, v.changed_by as "changedBy",
  v.reason, p.created_at_ns as "createdAtNs", v.created_at_ns as "updatedAtNs"`;
const CURRENT = 'policies p join policy_versions v on v.policy_id = p.id and v.version = p.version';

/** The epochs of owners that never had a policy are 0. */
export const policyEpochs: Table<bigint> = {
  name: 'policy epochs',
  async load(tx, owners) {
    const rows = await tx.query<{ owner: string; epoch: bigint }>(
      'select owner, epoch from policy_epochs where owner = any ($1::text[])',
      [textArray(owners)],
    );
    return new Map(rows.map(({ owner, epoch }) => [owner, epoch]));
  },
};

/** What is in force for the customer. One statement, so that epochs and policies belong together. */
export async function policySetOf(database: Queryable, customerId: string): Promise<PolicySet> {
  const [row] = await database.query<{
    operator: bigint;
    customer: bigint;
    policies: readonly StoredPolicy[] | null;
  }>(
    `select coalesce((select epoch from policy_epochs where owner = '${OPERATOR}'), 0) as operator,
       coalesce((select epoch from policy_epochs where owner = $1::text), 0) as customer,
       (select json_agg(to_json(one) order by one.id) from (
          select p.id, p.customer_id as "customerId", p.name, p.version, v.document from ${CURRENT}
          where p.enabled and (p.customer_id is null or p.customer_id = $1::uuid)) as one) as policies`,
    [customerId],
  );
  const { operator: operatorEpoch, customer: customerEpoch, policies } = row!;
  return { customerId, operatorEpoch, customerEpoch, policies: (policies ?? []).map(inForce) };
}

type StoredPolicy = Pick<Policy, 'id' | 'customerId' | 'name' | 'version' | 'document'>;

/** Who changed it, and when, decides nothing. */
const inForce = (stored: StoredPolicy): Policy => ({
  ...stored,
  enabled: true,
  changedBy: '',
  reason: '',
  createdAtNs: 0n,
  updatedAtNs: 0n,
});

/** The policies of an owner, by name, as far as a change of one needs to know them. */
export type OwnedPolicies = {
  readonly policies: ReadonlyMap<string, Pick<Policy, 'id' | 'version' | 'createdAtNs' | 'updatedAtNs'>>;
  /** Versions that the commands of the batch have appended, in order. */
  readonly changed: readonly Policy[];
};

type Owned = Pick<Policy, 'id' | 'name' | 'version' | 'createdAtNs' | 'updatedAtNs'> & {
  readonly owner: string;
};

/** By owner: 'operator', or the id of a customer. A change appends a version, and increments the epoch of the owner. */
export const ownedPolicies: Table<OwnedPolicies> = {
  name: 'policies',
  async load(tx, owners) {
    // One after another, because the row of a new policy cannot be locked before it exists.
    await tx.query(`select pg_advisory_xact_lock(${ADVISORY_LOCKS.policyChanges})`);
    const rows = await tx.query<Owned>(
      `select coalesce(p.customer_id::text, '${OPERATOR}') as owner, p.id, p.name, p.version,
              p.created_at_ns as "createdAtNs", p.updated_at_ns as "updatedAtNs"
       from policies p
       where p.customer_id = any (array (select owner::uuid from unnest($1::text[]) as o (owner) where owner <> '${OPERATOR}'))
          or (p.customer_id is null and '${OPERATOR}' = any ($1::text[]))`,
      [textArray(owners)],
    );
    const of = Map.groupBy(rows, ({ owner }) => owner);
    return new Map(
      owners.map((owner) => [
        owner,
        { policies: new Map((of.get(owner) ?? []).map((row) => [row.name, row])), changed: [] },
      ]),
    );
  },
  async write(tx, rows) {
    for (const policy of rows.flatMap(({ changed }) => changed)) await appendVersion(tx, policy);
  },
  record({ changed }) {
    const policy = changed.at(-1)!;
    return [
      change({
        action: 'policy.changed',
        customerId: policy.customerId,
        resourceId: policy.id,
        at: policy.updatedAtNs,
        after: presentPolicy(policy),
      }),
    ];
  },
};

async function appendVersion(tx: Transaction, policy: Policy): Promise<void> {
  const { id, customerId, name, version, enabled, document, changedBy, reason, createdAtNs, updatedAtNs } =
    policy;
  await tx.query(
    `insert into policy_epochs as e (owner, epoch) values ($1, 1) on conflict (owner) do update set epoch = e.epoch + 1`,
    [customerId ?? OPERATOR],
  );
  await tx.query(
    `insert into policies (id, customer_id, name, version, enabled, created_at_ns, updated_at_ns)
     values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (id) do update
     set version = excluded.version, enabled = excluded.enabled, updated_at_ns = excluded.updated_at_ns`,
    [id, customerId, name, version, enabled, createdAtNs, updatedAtNs],
  );
  await tx.query(
    `insert into policy_versions (policy_id, version, document, enabled, changed_by, reason, created_at_ns)
     values ($1, $2, $3::jsonb, $4, $5, $6, $7)`,
    [id, version, JSON.stringify(document), enabled, changedBy, reason, updatedAtNs],
  );
}

/** The present version of the policy of that name; 0 if there is none. */
export async function versionOf(
  database: Queryable,
  customerId: string | null,
  name: string,
): Promise<number> {
  const [row] = await database.query<{ version: number }>(
    'select p.version from policies p where p.customer_id is not distinct from $1 and p.name = $2',
    [customerId, name],
  );
  return row?.version ?? 0;
}

/** For operators. */
export async function findPolicy(database: Queryable, id: string): Promise<Policy | undefined> {
  const [row] = await database.query<Policy>(`select ${COLUMNS} from ${CURRENT} where p.id = $1`, [id]);
  return row;
}

/** A policy of that customer. */
export async function findOwnPolicy(
  database: Queryable,
  customerId: string,
  id: string,
): Promise<Policy | undefined> {
  const [row] = await database.query<Policy>(
    `select ${COLUMNS} from ${CURRENT} where p.id = $1 and p.customer_id = $2`,
    [id, customerId],
  );
  return row;
}

/** All versions, newest first. */
export function versionsOf(database: Queryable, id: string): Promise<Policy[]> {
  return database.query<Policy>(
    `select ${COLUMNS} from policies p join policy_versions v on v.policy_id = p.id
     where p.id = $1 order by v.version desc limit 1000`,
    [id],
  );
}

/** Those of one customer, or those of the operator and of all customers. */
export function listPolicies(
  database: Queryable,
  customerId: string | undefined,
  ids: readonly string[] | undefined,
  page: Page,
): Promise<Found<Policy>> {
  const parameters = createParameters();
  const own = customerId === undefined ? 'true' : `p.customer_id = ${parameters.add(customerId)}`;
  const where = ids === undefined ? own : `${own} and ${parameters.anyOf('p.id', 'uuid', ids)}`;
  return selectPage(database, page, {
    table: 'policies',
    alias: 'p',
    columns: COLUMNS,
    ...(customerId !== undefined && { owner: 'p.customer_id as "customerId"' }),
    join: 'join policy_versions v on v.policy_id = p.id and v.version = p.version',
    parameters,
    branches: [{ where }],
    filters: [],
  });
}

export type Use = {
  readonly transferId: string;
  readonly customerId: string;
  readonly profileId: string;
  readonly rail: string;
  readonly asset: string;
  readonly units: bigint;
  readonly destination: string;
  readonly atNs: bigint;
};

/** What new withdrawals use, whatever policies there are: a policy of tomorrow counts the withdrawals of today. */
export const newUses: Table<Use> = {
  name: 'withdrawal_uses',
  isLog: true,
  write: (tx, rows) =>
    tx.query(
      `insert into withdrawal_uses (transfer_id, customer_id, profile_id, rail, asset, units, destination, at_ns)
       select * from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::numeric[], $7::text[], $8::bigint[])`,
      columns(rows, {
        transferId: 'uuid',
        customerId: 'uuid',
        profileId: 'uuid',
        rail: 'text',
        asset: 'text',
        units: 'numeric',
        destination: 'text',
        atNs: 'bigint',
      }),
    ),
};

/** Withdrawals that have FAILED use nothing. */
export const releasedUses: Table<{ readonly transferId: string }> = {
  name: 'withdrawal_uses (released)',
  isLog: true,
  write: (tx, rows) =>
    tx.query(
      `update withdrawal_uses set released = true
       where transfer_id = any (array (select id from unnest($1::uuid[]) as ended (id) order by id))`,
      [plainArray(rows.map(({ transferId }) => transferId))],
    ),
};

/** Uses that count for a meter now. */
function usedBy(meter: Meter): { readonly text: string; readonly values: Parameter[] } {
  const parameters = createParameters();
  const { customerId, profileId, rails, profileIds, customerIds } = meter;
  const conditions = [
    'not u.released',
    `u.asset = ${parameters.add(meter.asset)}`,
    `u.at_ns > ${CLOCK_NS} - ${parameters.add(meter.windowNs)}::bigint`,
    ...(customerId === undefined ? [] : [`u.customer_id = ${parameters.add(customerId)}`]),
    ...(profileId === undefined ? [] : [`u.profile_id = ${parameters.add(profileId)}`]),
    ...(rails === undefined ? [] : [parameters.anyOf('u.rail', 'text', rails)]),
    ...(profileIds === undefined ? [] : [parameters.anyOf('u.profile_id', 'uuid', profileIds)]),
    ...(customerIds === undefined ? [] : [parameters.anyOf('u.customer_id', 'uuid', customerIds)]),
  ];
  return {
    text: `select coalesce(sum(u.units), 0)::numeric as units from withdrawal_uses u where ${conditions.join(' and ')}`,
    values: [...parameters.values],
  };
}

export async function usedNow(database: Queryable, meter: Meter): Promise<bigint> {
  const { text, values } = usedBy(meter);
  const [row] = await database.query<{ units: bigint }>(text, values);
  return row!.units;
}

/**
 * What the window of each meter has used, by `meterKey`. Loading locks the meters until commit, in one order for all nodes: of two
 * withdrawals that could together exceed a limit, the second one sees the first. Writing changes only what later commands of
 * the batch see: the uses are rows of their own.
 */
export const meters: Table<bigint> = {
  name: 'policy meters',
  async load(tx, keys) {
    await tx.query(
      `select pg_advisory_xact_lock(${ADVISORY_LOCKS.policyMeters}, hash)
       from (select distinct hashtext(key) as hash from unnest($1::text[]) as wanted (key) order by 1 offset 0) as locks`,
      [textArray(keys)],
    );
    return new Map(
      await Promise.all(keys.map(async (key) => [key, await usedNow(tx, meterOfKey(key))] as const)),
    );
  },
  write: async () => undefined,
};

/** Uses of the last days, newest first, for dry runs. */
export function recentUses(
  database: Queryable,
  customerId: string | undefined,
  sinceNs: bigint,
  max: number,
): Promise<Use[]> {
  return database.query<Use>(
    `select u.transfer_id as "transferId", u.customer_id as "customerId", u.profile_id as "profileId", u.rail, u.asset,
            u.units, u.destination, u.at_ns as "atNs"
     from withdrawal_uses u where u.at_ns > $1 and ($2::uuid is null or u.customer_id = $2)
     order by u.at_ns desc, u.transfer_id desc limit $3`,
    [sinceNs, customerId ?? null, max],
  );
}

/** Deletes what no window and no dry run reads any more. Returns how many rows. */
export async function forgetUses(database: Queryable, keptNs: bigint, max: number): Promise<number> {
  const rows = await database.query(
    `delete from withdrawal_uses where transfer_id = any (array (
       select transfer_id from withdrawal_uses where at_ns < ${CLOCK_NS} - $1::bigint order by at_ns limit $2))
     returning transfer_id`,
    [keptNs, max],
  );
  return rows.length;
}
