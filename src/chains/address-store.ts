import { CLOCK_NS } from '../database/clock.ts';
import type { Database, Queryable, Transaction } from '../database/database.ts';

/** Addresses for deposits. */
export type OwnAddress = { readonly number: bigint; readonly address: string; readonly path: string };

export type Derived = { readonly address: string; readonly path: string };

async function findAddress(database: Queryable, network: string, id: string): Promise<string | undefined> {
  const [row] = await database.query<{ address: string }>(
    'select address from chain_addresses where network = $1 and id = $2',
    [network, id],
  );
  return row?.address;
}

/** What addresses are derived from, before the first one is. */
export async function openAccount(database: Queryable, network: string, xpub: string): Promise<void> {
  await database.query(
    'insert into chain_accounts (network, xpub) values ($1, $2) on conflict (network) do nothing',
    [network, xpub],
  );
}

/** The same id always gets the same address. Numbers have gaps only after a restore (`skipAddresses`). */
export async function allocateAddress(
  database: Database,
  network: string,
  id: string,
  xpub: string,
  derive: (number: bigint) => Derived | Promise<Derived>,
): Promise<string> {
  const known = await findAddress(database, network, id);
  if (known !== undefined) return known;
  return database.transaction(async (tx) => {
    await openAccount(tx, network, xpub);
    const [account] = await tx.query<{ xpub: string; number: bigint }>(
      'select xpub, next_number as number from chain_accounts where network = $1 for update',
      [network],
    );
    if (account!.xpub !== xpub)
      throw new Error(`the addresses of ${network} were derived from another xpub than the configured one`);
    const meanwhile = await findAddress(tx, network, id);
    if (meanwhile !== undefined) return meanwhile;
    const { address, path } = await derive(account!.number);
    await tx.query(
      `insert into chain_addresses (network, number, id, address, path, created_at_ns) values ($1, $2, $3, $4, $5, ${CLOCK_NS})`,
      [network, account!.number, id, address, path],
    );
    await tx.query('update chain_accounts set next_number = next_number + 1 where network = $1', [network]);
    return address;
  });
}

/** How many were handed out. */
export async function addressCount(database: Queryable, network: string): Promise<number> {
  const [row] = await database.query<{ count: number }>(
    'select next_number::integer as count from chain_accounts where network = $1',
    [network],
  );
  return row?.count ?? 0;
}

/** In the order of their numbers, from one on. */
export function addressesFrom(
  database: Queryable,
  network: string,
  from: bigint,
  max: number,
): Promise<OwnAddress[]> {
  return database.query<OwnAddress>(
    'select number, address, path from chain_addresses where network = $1 and number >= $2 order by number limit $3',
    [network, from, max],
  );
}

/** Numbers below `atLeast` are not handed out: somebody has them already. Returns the next number; undefined without an account. */
export async function passAddresses(
  database: Queryable,
  network: string,
  atLeast: bigint,
): Promise<bigint | undefined> {
  const [row] = await database.query<{ next: bigint }>(
    `update chain_accounts set next_number = greatest(next_number, $2) where network = $1 returning next_number as next`,
    [network, atLeast],
  );
  return row?.next;
}

/**
 * After a restore: addresses that were handed out since the backup must not go to somebody else. Counts from the last one that the
 * database knows, so a second run skips no more.
 */
export async function skipAddresses(
  tx: Transaction,
  network: string,
  count: number,
): Promise<bigint | undefined> {
  const [row] = await tx.query<{ next: bigint }>(
    'select coalesce(max(number) + 1, 0)::bigint as next from chain_addresses where network = $1',
    [network],
  );
  return passAddresses(tx, network, row!.next + BigInt(count));
}
