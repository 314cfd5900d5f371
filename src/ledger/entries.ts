import type { Queryable } from '../database/database.ts';
import { withHiddenLimits } from '../database/select.ts';
import type { Instant } from '../kernel/instant.ts';
import type { Found, Page } from '../kernel/paging.ts';
import { instantsOf } from '../kernel/stretch.ts';

/** An entry of the ledger, as it is read. */
export type LedgerEntry = {
  /** What orders entries of the same instant: see `isLine` and `isSystemKey`. */
  readonly id: string;
  readonly createdAtNs: Instant;
  readonly ownerId: string;
  readonly account: string;
  readonly asset: string;
  readonly causeId: string;
  readonly delta: bigint;
  /** Null for accounts of the service. */
  readonly balanceAfter: bigint | null;
};

export type ProfileAccountName = 'available' | 'held';
export const PROFILE_ACCOUNTS: readonly ProfileAccountName[] = ['available', 'held'];

const LINE_MAX = 32_767;
const LINE = /^[0-9]{1,5}$/;

/** Entries of one profile and asset: an instant belongs to one command, in which every line is used once. */
export function isLine(text: string | undefined): text is string {
  return text !== undefined && LINE.test(text) && Number(text) <= LINE_MAX;
}

const SYSTEM_KEY = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([0-9]{1,5})$/;

/** Entries of an account of the service: commands of several profiles can have the same instant. */
export function isSystemKey(text: string | undefined): text is string {
  const [, , line] = SYSTEM_KEY.exec(text ?? '') ?? [];
  return isLine(line);
}

const COLUMNS = `e.at_ns as "createdAtNs", e.owner_id as "ownerId", e.account, e.asset, e.cause_id as "causeId", e.delta,
  e.balance_after as "balanceAfter"`;

/** Hidden from the planner, which would otherwise sort all entries of an account that it believes to be small. */
const LIMIT = 'limit (select $7::bigint)';

/**
 * Entries of a profile and asset. The primary key has the entries of each account in order: a page costs its own rows, however
 * long the history is. The texts are few, so that the statements stay prepared.
 */
export async function entriesOf(
  database: Queryable,
  profileId: string,
  asset: string,
  accounts: readonly ProfileAccountName[],
  page: Page,
): Promise<Found<LedgerEntry>> {
  const { first, last } = instantsOf(page);
  const { descending, after } = page;
  const start = after ?? (descending ? { ns: last, id: String(LINE_MAX + 1) } : { ns: first, id: '-1' });
  const order = descending ? 'desc' : 'asc';
  const within = descending
    ? '(e.at_ns, e.line) < ($3::bigint, $4::integer) and e.at_ns >= $5 and $6::bigint is not null'
    : '(e.at_ns, e.line) > ($3::bigint, $4::integer) and e.at_ns <= $6 and $5::bigint is not null';
  const branch = (account: ProfileAccountName): string =>
    `(select * from entries e where e.owner_id = $1 and e.asset = $2 and e.account = '${account}' and ${within}
      order by e.at_ns ${order}, e.line ${order} ${LIMIT})`;
  const rows = await database.query<LedgerEntry>(
    withHiddenLimits(
      `select ${COLUMNS}, e.owner_id as "profileId", e.line::text as id from (${accounts.map(branch).join(' union all ')}) e
       order by e.at_ns ${order}, e.line ${order} ${LIMIT}`,
    ),
    [profileId, asset, start.ns, Number(start.id), first, last, page.limit + 1],
  );
  return { rows };
}

/** The same of an account of the service. Its index orders by time; entries of the same instant are sorted. */
export async function systemEntriesOf(
  database: Queryable,
  account: string,
  asset: string,
  page: Page,
): Promise<Found<LedgerEntry>> {
  const { first, last } = instantsOf(page);
  const { descending, after } = page;
  const [, owner, line] = SYSTEM_KEY.exec(after?.id ?? '') ?? [];
  const order = descending ? 'desc' : 'asc';
  const rows = await database.query<LedgerEntry>(
    withHiddenLimits(
      `select ${COLUMNS}, e.owner_id || '.' || e.line as id from entries e
       where e.account = $1 and e.asset = $2 and e.balance_after is null and e.at_ns >= $3 and e.at_ns <= $4
         and ($5::uuid is null or (e.at_ns, e.owner_id, e.line) ${descending ? '<' : '>'} ($${descending ? 4 : 3}, $5, $6::integer))
       order by e.at_ns ${order}, e.owner_id ${order}, e.line ${order} ${LIMIT}`,
    ),
    [
      account,
      asset,
      after !== undefined && !descending ? after.ns : first,
      after !== undefined && descending ? after.ns : last,
      owner ?? null,
      line === undefined ? null : Number(line),
      page.limit + 1,
    ],
  );
  return { rows };
}

/** What one cause moved on an account of the service at one instant. */
export type SystemMovement = { readonly causeId: string; readonly atNs: Instant; readonly units: bigint };

/**
 * The next movements of an account of the service in `(after, to]`, and up to which instant these are all: an instant is never
 * divided.
 */
export async function systemMovements(
  database: Queryable,
  account: { readonly account: string; readonly asset: string },
  { after, to, rowsMax }: { readonly after: Instant; readonly to: Instant; readonly rowsMax: number },
): Promise<{ readonly movements: SystemMovement[]; readonly until: Instant }> {
  const own = 'e.account = $1 and e.asset = $2 and e.balance_after is null and e.at_ns > $3';
  const [place] = await database.query<{ until: Instant }>(
    `select coalesce((select e.at_ns from entries e where ${own} and e.at_ns <= $4 order by e.at_ns offset $5 limit 1), $4)
       as until`,
    [account.account, account.asset, after, to, rowsMax],
  );
  const { until } = place!;
  const movements = await database.query<SystemMovement>(
    `select e.cause_id as "causeId", e.at_ns as "atNs", sum(e.delta) as units from entries e
     where ${own} and e.at_ns <= $4 group by e.cause_id, e.at_ns having sum(e.delta) <> 0`,
    [account.account, account.asset, after, until],
  );
  return { movements, until };
}
