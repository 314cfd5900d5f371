import { plainArray } from '../database/array.ts';
import { binaryArray } from '../database/binary.ts';
import { CLOCK_NS } from '../database/clock.ts';
import { columns } from '../database/columns.ts';
import type { Queryable, Transaction } from '../database/database.ts';
import { StaleRead } from '../database/failure.ts';
import { selectList, type Wanted } from '../database/list.ts';
import { createParameters } from '../database/select.ts';
import { recordChange } from '../events/append.ts';
import { change } from '../events/outbox.ts';
import type { Actor } from '../kernel/actor.ts';
import type { Instant } from '../kernel/instant.ts';
import { type Found, oneOrSeveral, type Page } from '../kernel/paging.ts';
import type { ProfileFacts } from '../kernel/profile-facts.ts';
import type { Table } from '../ledger/command.ts';
import { nicknameKey, type Profile, presentProfile } from './profile.ts';

const COLUMNS = `p.id, p.customer_id as "customerId", p.nickname, p.type, p.description,
  p.account_id as "accountId", p.status, p.accepted_profile_ids as "acceptedProfileIds",
  p.created_at_ns as "createdAtNs", coalesce(p.changed_at_ns, p.created_at_ns) as "updatedAtNs"`;
const NEXT_CHANGE = `greatest(coalesce(p.changed_at_ns, p.created_at_ns) + 1, ${CLOCK_NS})`;
/** Frozen profiles are looked up only if there is a freeze at all. */
const STATUS = `case when p.status = 'ACTIVE' and exists (select from freezes_in_force)
    and (select f.id from frozen_profiles f where f.id = p.id) is not null then 'FROZEN' else p.status end`;
const FACTS = `p.id, p.customer_id as "customerId", ${STATUS} as status,
  p.accepted_profile_ids as "acceptedProfileIds"`;

/** Profiles by id, of all customers: rules decide who may use them. */
export const profileTable: Table<ProfileFacts> = {
  name: 'profiles',
  async load(tx, ids) {
    const rows = await tx.query<ProfileFacts>(
      `select ${FACTS} from profiles p where p.id = any ($1::uuid[])`,
      [binaryArray('uuid', ids)],
    );
    return new Map(rows.map((row) => [row.id, row]));
  },
  // Only these two and freezes can change, and profiles are never deleted. Hardly any profile lists whom it accepts.
  canCache: (profile) => profile.status === 'ACTIVE' && profile.acceptedProfileIds === null,
  confirm: (tx, ids) =>
    tx.query(
      `select confirm(not exists (select from profiles where id = any ($1::uuid[])
         and (status <> 'ACTIVE' or accepted_profile_ids is not null))
       and (not exists (select from freezes_in_force)
            or not exists (select from frozen_profiles where id = any ($1::uuid[]))), 'a profile')`,
      [binaryArray('uuid', ids)],
    ),
};

/**
 * The same rows, locked until commit, so that their status cannot change. A later change of the status then sees
 * everything that this transaction wrote because of it.
 */
export const heldProfiles: Table<ProfileFacts> = {
  name: 'profiles (held)',
  async load(tx, ids) {
    const rows = await tx.query<ProfileFacts>(
      `select ${FACTS} from profiles p where p.id = any ($1::uuid[]) order by p.id for share of p`,
      [plainArray(ids)],
    );
    return new Map(rows.map((row) => [row.id, row]));
  },
};

/** The ids of those profiles that are disabled or frozen. */
export async function disabledProfiles(
  database: Queryable,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await database.query<{ id: string }>(
    `select id from profiles where id = any ($1::uuid[]) and status = 'DISABLED'
     union select id from frozen_profiles where id = any ($1::uuid[])`,
    [plainArray(ids)],
  );
  return new Set(rows.map((row) => row.id));
}

const UUID_LENGTH = 36;

/**
 * Profiles by `nicknameKey`; new ones are written through this table. Nothing is locked: if another node takes the
 * nickname, or creates the customer's default profile, between the read and the write, the insert skips the row, and the
 * batch is retried on the current rows.
 */
export const newProfiles: Table<Profile> = {
  name: 'profiles by nickname',
  record: (profile) => [
    change({
      action: 'profile.created',
      customerId: profile.customerId,
      resourceId: profile.id,
      at: profile.createdAtNs,
      after: presentProfile(profile),
    }),
  ],
  async load(tx, keys) {
    const wanted = keys.map((key) => ({
      customerId: key.slice(0, UUID_LENGTH),
      nickname: key.slice(UUID_LENGTH + 1),
    }));
    const rows = await tx.query<Profile>(
      `select ${COLUMNS} from unnest($1::uuid[], $2::text[]) as wanted (customer_id, nickname)
       join profiles p using (customer_id, nickname)`,
      columns(wanted, { customerId: 'uuid', nickname: 'text' }),
    );
    return new Map(rows.map((row) => [nicknameKey(row.customerId, row.nickname), row]));
  },
  async write(tx, profiles) {
    const rows = await tx.query(
      `insert into profiles (id, customer_id, nickname, type, description, account_id, status, created_at_ns)
       select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::uuid[], $7::text[],
                            $8::bigint[])
       on conflict do nothing
       returning id`,
      columns(profiles, {
        id: 'uuid',
        customerId: 'uuid',
        nickname: 'text',
        type: 'text',
        description: 'text',
        accountId: 'uuid',
        status: 'text',
        createdAtNs: 'bigint',
      }),
    );
    if (rows.length < profiles.length) throw new StaleRead('a nickname');
  },
};

/** Customers that have a default profile. A write changes only what later commands of the batch see: the row is the profile's. */
export const defaultProfiles: Table<true> = {
  name: 'default profiles',
  async load(tx, customerIds) {
    const rows = await tx.query<{ customer_id: string }>(
      `select customer_id from profiles where customer_id = any ($1::uuid[]) and type = 'DEFAULT'`,
      [plainArray(customerIds)],
    );
    return new Map(rows.map((row) => [row.customer_id, true]));
  },
  write: async () => undefined,
};

/** A profile of that customer; undefined for a profile of another customer. */
export async function findProfile(
  database: Queryable,
  customerId: string,
  id: string,
): Promise<Profile | undefined> {
  const [profile] = await database.query<Profile>(
    `select ${COLUMNS} from profiles p where p.id = $1 and p.customer_id = $2`,
    [id, customerId],
  );
  return profile;
}

/** False if there is no such profile. Nodes that cached it as active notice, because each transaction confirms its cache. */
export async function setProfileStatus(
  tx: Transaction,
  id: string,
  status: Profile['status'],
  actor: Actor,
): Promise<boolean> {
  const [profile] = await tx.query<Profile>(
    `update profiles p
     set status = $2, changed_at_ns = case when status = $2 then changed_at_ns else ${NEXT_CHANGE} end
     where p.id = $1 returning ${COLUMNS}`,
    [id, status],
  );
  if (profile === undefined) return false;
  await recordProfile(tx, actor, status === 'ACTIVE' ? 'enabled' : 'disabled', profile);
  return true;
}

async function recordProfile(tx: Transaction, actor: Actor, what: string, profile: Profile): Promise<void> {
  const { customerId, id: resourceId } = profile;
  const after = presentProfile(profile);
  await recordChange(tx, actor, { action: `profile.${what}`, customerId, resourceId, after });
}

/** Undefined if the customer has no such profile. Nodes that cached it as accepting anyone notice, as above. */
export async function setAcceptedProfiles(
  tx: Transaction,
  customerId: string,
  id: string,
  accepted: readonly string[] | null,
  actor: Actor,
): Promise<Profile | undefined> {
  const [profile] = await tx.query<Profile>(
    `update profiles p set accepted_profile_ids = $3::uuid[], changed_at_ns = ${NEXT_CHANGE} where p.id = $1 and p.customer_id = $2
     returning ${COLUMNS}`,
    [id, customerId, accepted === null ? null : plainArray(accepted)],
  );
  if (profile !== undefined) await recordProfile(tx, actor, 'changed', profile);
  return profile;
}

/** Whether a statement failed because another profile of the customer has the nickname. */
export const isNicknameTaken = (error: unknown): boolean =>
  (error as { code?: unknown } | null)?.code === UNIQUE_VIOLATION;
const UNIQUE_VIOLATION = '23505';

/** Locked until commit; undefined if the customer has no such profile. */
export async function lockProfile(
  tx: Transaction,
  customerId: string,
  id: string,
): Promise<Profile | undefined> {
  const [profile] = await tx.query<Profile>(
    `select ${COLUMNS} from profiles p where p.id = $1 and p.customer_id = $2 for update of p`,
    [id, customerId],
  );
  return profile;
}

/** The changed profile, or the one that has the nickname already. */
export async function changeProfile(
  tx: Transaction,
  { id, customerId, nickname, description, status }: Profile,
): Promise<{ readonly changed: Profile } | { readonly taken: Profile }> {
  const [taken] = await tx.query<Profile>(
    `select ${COLUMNS} from profiles p where p.customer_id = $1 and p.nickname = $2 and p.id <> $3`,
    [customerId, nickname, id],
  );
  if (taken !== undefined) return { taken };
  const [changed] = await tx.query<Profile>(
    `update profiles p set nickname = $2, description = $3, status = $4, changed_at_ns = ${NEXT_CHANGE}
     where p.id = $1 returning ${COLUMNS}`,
    [id, nickname, description, status],
  );
  return { changed: changed! };
}

/** With the time of its last change as a column, for which there are indexes. */
const LISTED = '(select *, coalesce(changed_at_ns, created_at_ns) as updated_at_ns from profiles)';

const FILTERS = {
  ids: { column: 'p.id', type: 'uuid', few: true },
  nicknames: { column: 'p.nickname', type: 'text' },
  account_ids: { column: 'p.account_id', type: 'uuid' },
} as const;
type FilterName = keyof typeof FILTERS;
export type ProfileFilters = Wanted<FilterName> & { readonly nickname?: string | undefined };

export function listProfiles(
  database: Queryable,
  customerId: string,
  { nickname, ...filters }: ProfileFilters,
  page: Page,
): Promise<Found<Profile>> {
  const parameters = createParameters();
  return selectList<Profile, FilterName>(database, page, {
    table: LISTED,
    alias: 'p',
    columns: COLUMNS,
    owner: 'p.customer_id as "customerId"',
    parameters,
    own: `p.customer_id = ${parameters.add(customerId)}`,
    filters: FILTERS,
    wanted: { ...filters, nicknames: oneOrSeveral(nickname, filters.nicknames) },
  });
}

/** The clock that entries get their times from. The estimate of this node may be behind it. */
export async function databaseNow(database: Queryable): Promise<Instant> {
  const [row] = await database.query<{ nowNs: Instant }>(
    `select ${CLOCK_NS} as "nowNs", true as "isNobodys"`,
  );
  return row!.nowNs;
}
