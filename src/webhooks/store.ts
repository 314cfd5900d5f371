import { plainArray } from '../database/array.ts';
import { CLOCK_NS } from '../database/clock.ts';
import { columns } from '../database/columns.ts';
import type { Queryable } from '../database/database.ts';
import { createParameters, selectPage } from '../database/select.ts';
import { LINE_MAX } from '../events/event.ts';
import { change } from '../events/outbox.ts';
import type { Instant } from '../kernel/instant.ts';
import type { Found, Page } from '../kernel/paging.ts';
import type { Vault } from '../kernel/vault.ts';
import type { Table } from '../ledger/command.ts';
import { type Endpoint, presentEndpoint, type Standing } from './endpoint.ts';

export const ENDPOINT_COLUMNS = `w.id, w.customer_id as "customerId", w.url, w.event_types as "eventTypes",
  w.description, w.ref_id as "refId", w.enabled, w.disabled_reason as "disabledReason", w.secret,
  w.previous_secret as "previousSecret", w.previous_until_ns as "previousUntilNs",
  w.created_at_ns as "createdAtNs", w.updated_at_ns as "updatedAtNs", w.deleted_at_ns as "deletedAtNs"`;

type Secrets = Pick<Endpoint, 'id' | 'secret' | 'previousSecret'>;

const secretPlace = (id: string): string => `webhook_endpoints.secret:${id}`;
const previousPlace = (id: string): string => `webhook_endpoints.previous_secret:${id}`;

/** The columns of the secrets, sealed. */
export const sealedSecrets = (vault: Vault) => ({
  secret: ({ id, secret }: Secrets) => secret && vault.seal(secret, secretPlace(id)),
  previousSecret: ({ id, previousSecret: secret }: Secrets) =>
    secret && vault.seal(secret, previousPlace(id)),
});

/** An endpoint as it was read, with its secrets opened. */
export function openedEndpoint<Row extends Secrets>(vault: Vault, row: Row): Row {
  const { id, secret, previousSecret } = row;
  return {
    ...row,
    secret: secret && vault.open(secret, secretPlace(id)),
    previousSecret: previousSecret && vault.open(previousSecret, previousPlace(id)),
  };
}

/** Event types contain no commas. */
function typesText(endpoint: Endpoint): string {
  return endpoint.eventTypes.join(',');
}

function endpointChange(what: string, endpoint: Endpoint, at: Instant) {
  const { id: resourceId, customerId } = endpoint;
  const after = presentEndpoint(endpoint);
  return change({ action: `webhook_endpoint.${what}`, customerId, resourceId, at, after });
}

/** New endpoints. They start at the current end of the feed. */
export const newEndpoints: Table<Endpoint> = {
  name: 'webhook_endpoints (new)',
  record: (row) => [endpointChange('created', row, row.createdAtNs)],
  write: (tx, rows) =>
    tx.query(
      `with made as (
         insert into webhook_endpoints (id, customer_id, url, event_types, description, ref_id, enabled, secret,
                                        created_at_ns, updated_at_ns)
         select id, customer_id, url, string_to_array(event_types, ','), description, ref_id, true, secret,
                created_at_ns, created_at_ns
         from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[])
              as row (id, customer_id, url, event_types, description, ref_id, secret, created_at_ns)
         returning id, customer_id)
       insert into webhook_progress (endpoint_id, customer_id, position, line)
       select made.id, made.customer_id, s.position, ${LINE_MAX} from made, event_sequence s`,
      columns(rows, {
        id: 'uuid',
        customerId: 'uuid',
        url: 'text',
        eventTypes: typesText,
        description: 'text',
        refId: 'text',
        secret: sealedSecrets(tx.vault()).secret,
        createdAtNs: 'bigint',
      }),
    ),
};

/** The number of endpoints of a customer. Two nodes may count at the same time, so the limit is approximate. */
export const endpointCounts: Table<number> = {
  name: 'webhook_endpoints (counts)',
  async load(tx, customerIds) {
    const rows = await tx.query<{ customer_id: string; count: number }>(
      `select customer_id, count(*)::integer as count from webhook_endpoints
       where customer_id = any ($1::uuid[]) and deleted_at_ns is null group by customer_id`,
      [plainArray(customerIds)],
    );
    return new Map(rows.map((row) => [row.customer_id, row.count]));
  },
  write: async () => undefined,
};

/**
 * Endpoints that change, locked until commit. The node that delivers to the endpoint notices the new generation, and loads
 * the endpoint again. An endpoint that is enabled is tried at once.
 */
export const endpoints: Table<Endpoint> = {
  name: 'webhook_endpoints',
  record: (row, { recordedAt }) => [
    endpointChange(row.deletedAtNs === null ? 'updated' : 'deleted', row, recordedAt),
  ],
  async load(tx, ids) {
    const rows = await tx.query<Endpoint>(
      `select ${ENDPOINT_COLUMNS} from webhook_endpoints w where w.id = any ($1::uuid[]) order by w.id for update`,
      [plainArray(ids)],
    );
    return new Map(rows.map((row) => [row.id, openedEndpoint(tx.vault(), row)]));
  },
  write: (tx, rows) =>
    tx.query(
      `with changed as (
         update webhook_endpoints w
         set url = row.url, event_types = string_to_array(row.event_types, ','), description = row.description,
             enabled = row.enabled, disabled_reason = row.disabled_reason, secret = row.secret,
             previous_secret = row.previous_secret, previous_until_ns = row.previous_until_ns,
             updated_at_ns = row.updated_at_ns, deleted_at_ns = row.deleted_at_ns
         from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::boolean[], $6::text[], $7::text[], $8::text[],
                     $9::bigint[], $10::bigint[], $11::bigint[])
              as row (id, url, event_types, description, enabled, disabled_reason, secret, previous_secret,
                      previous_until_ns, updated_at_ns, deleted_at_ns)
         where w.id = row.id returning w.id, w.enabled)
       update webhook_progress p
       set generation = p.generation + 1,
           failures = case when changed.enabled then 0 else p.failures end,
           failing_since_ms = case when changed.enabled then null else p.failing_since_ms end,
           probe_at_ms = case when changed.enabled then null else p.probe_at_ms end
       from changed where p.endpoint_id = changed.id`,
      columns(rows, {
        id: 'uuid',
        url: 'text',
        eventTypes: typesText,
        description: 'text',
        enabled: 'boolean',
        disabledReason: 'text',
        ...sealedSecrets(tx.vault()),
        previousUntilNs: 'bigint',
        updatedAtNs: 'bigint',
        deletedAtNs: 'bigint',
      }),
    ),
};

/** Includes deleted endpoints, for replays of their creation. */
export async function findAnyEndpoint(
  database: Queryable,
  customerId: string,
  id: string,
): Promise<Endpoint | undefined> {
  const [endpoint] = await database.query<Endpoint>(
    `select ${ENDPOINT_COLUMNS} from webhook_endpoints w where w.id = $1 and w.customer_id = $2`,
    [id, customerId],
  );
  return endpoint && openedEndpoint(database.vault(), endpoint);
}

/**
 * The health of failing endpoints; healthy ones are missing. The next attempt is the probe, or else the delivery that is
 * due first; an overdue one is tried now. A disabled endpoint has no next attempt.
 */
export async function findStandings(
  database: Queryable,
  ids: readonly string[],
): Promise<Map<string, Standing>> {
  const rows = await database.query<Standing & { id: string }>(
    `select p.endpoint_id as id, p.customer_id as "customerId", p.failing_since_ms as "failingSinceMs",
            case when w.enabled and next.ms is not null then greatest(next.ms, ${CLOCK_NS} / 1000000) end as "nextTryMs"
     from webhook_progress p join webhook_endpoints w on w.id = p.endpoint_id, lateral (
       select coalesce(p.probe_at_ms, (select min(d.due_at_ms) from webhook_deliveries d
                                       where d.endpoint_id = p.endpoint_id and d.status = 'PENDING')) as ms) as next
     where p.endpoint_id = any ($1::uuid[]) and p.failing_since_ms is not null`,
    [plainArray(ids)],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** A customer has few endpoints, however many it has deleted. */
export async function listEndpoints(
  database: Queryable,
  customerId: string,
  filters: { readonly ids?: readonly string[] },
  page: Page,
): Promise<Found<Endpoint>> {
  const parameters = createParameters();
  const { ids } = filters;
  const own = `w.customer_id = ${parameters.add(customerId)} and w.deleted_at_ns is null`;
  const found = await selectPage<Endpoint>(database, page, {
    table: 'webhook_endpoints',
    alias: 'w',
    columns: ENDPOINT_COLUMNS,
    owner: 'w.customer_id as "customerId"',
    parameters,
    branches: [{ where: own, few: true }],
    filters: ids === undefined ? [] : [({ anyOf }) => anyOf('w.id', 'uuid', ids)],
  });
  return { ...found, rows: found.rows.map((row) => openedEndpoint(database.vault(), row)) };
}
