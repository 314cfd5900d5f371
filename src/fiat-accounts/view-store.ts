import { CLOCK_NS } from '../database/clock.ts';
import type { Queryable } from '../database/database.ts';
import { createParameters, selectPage } from '../database/select.ts';
import { newId } from '../kernel/id.ts';
import type { Instant } from '../kernel/instant.ts';
import type { Found, Page } from '../kernel/paging.ts';
import type { FiatAccount } from './fiat-account.ts';
import { COLUMNS, opened } from './store.ts';

/** Who was shown the whole number of an account, and which version of the account. */
export type AccountView = {
  readonly id: string;
  /** Of the reviewer. */
  readonly customerId: string;
  readonly clientId: string;
  readonly digest: string;
  readonly createdAtNs: Instant;
};

/** An account of any customer, deleted or not. For operators only. */
export async function findForReview(database: Queryable, id: string): Promise<FiatAccount | undefined> {
  const [account] = await database.query<FiatAccount>(
    `select ${COLUMNS} from fiat_accounts f where f.id = $1`,
    [id],
  );
  return account && opened(database.vault(), account);
}

export async function recordView(
  database: Queryable,
  fiatAccountId: string,
  { customerId, clientId, digest }: Pick<AccountView, 'customerId' | 'clientId' | 'digest'>,
): Promise<void> {
  await database.query(
    `insert into fiat_account_views (id, fiat_account_id, customer_id, client_id, digest, created_at_ns)
     values ($1, $2, $3, $4, $5, ${CLOCK_NS})`,
    [newId(), fiatAccountId, customerId, clientId, digest],
  );
}

/** One page of the views of an account. */
export function listViews(
  database: Queryable,
  fiatAccountId: string,
  page: Page,
): Promise<Found<AccountView>> {
  const parameters = createParameters();
  const columns = `v.id, v.customer_id as "customerId", v.client_id as "clientId", v.digest,
    v.created_at_ns as "createdAtNs"`;
  const branches = [{ where: `v.fiat_account_id = ${parameters.add(fiatAccountId)}` }];
  return selectPage<AccountView>(database, page, {
    table: 'fiat_account_views',
    alias: 'v',
    columns,
    parameters,
    branches,
    filters: [],
  });
}
