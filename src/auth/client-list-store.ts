import type { Queryable } from '../database/database.ts';
import { createParameters, selectPage } from '../database/select.ts';
import type { Found, Page } from '../kernel/paging.ts';
import type { Client } from './store.ts';

/** The list of API clients, for operators. */

export type ClientFilters = {
  readonly customer_id?: string;
  readonly statuses?: readonly ('ACTIVE' | 'DISABLED')[];
};

/** Cursors contain UUIDs, and ids of clients are those of their issuer: the list goes by their hash. */
export type ListedClient = Client & { readonly clientId: string };

const CLIENTS = `(select md5(id)::uuid as id, id as client_id, customer_id, name, scopes, allowed_addresses, owner_person_id,
  created_at_ns, disabled_at_ns from clients)`;

const COLUMNS = `c.id, c.client_id as "clientId", c.customer_id as "customerId", c.name, c.scopes,
  c.allowed_addresses as "allowedAddresses", c.owner_person_id as "ownerPersonId", c.created_at_ns as "createdAtNs",
  c.disabled_at_ns as "disabledAtNs"`;

/** Clients are few: a page may read all of them. */
export function listClients(
  database: Queryable,
  { customer_id: customerId, statuses }: ClientFilters,
  page: Page,
): Promise<Found<ListedClient>> {
  const parameters = createParameters();
  const status = `case when c.disabled_at_ns is null then 'ACTIVE' else 'DISABLED' end`;
  const conditions = [
    'true',
    ...(customerId === undefined ? [] : [`c.customer_id = ${parameters.add(customerId)}`]),
    ...(statuses === undefined ? [] : [parameters.anyOf(status, 'text', statuses)]),
  ];
  return selectPage(database, page, {
    table: CLIENTS,
    alias: 'c',
    columns: COLUMNS,
    parameters,
    branches: [{ where: conditions.join(' and ') }],
    filters: [],
  });
}
