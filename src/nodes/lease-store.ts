import { CLOCK_NS } from '../database/clock.ts';
import type { Queryable } from '../database/database.ts';
import { NS_PER_MS } from '../kernel/instant.ts';

/** A node, and where its link listens. */
export type DecidingNode = {
  /** New with each start. */
  readonly nodeId: string;
  readonly address: string;
};

/** The node whose lease has not ended. A lease that ends later than any could was made by a wrong clock. */
export async function findDecidingNode(
  database: Queryable,
  leaseMs: number,
): Promise<DecidingNode | undefined> {
  const [row] = await database.query<DecidingNode>(
    `select node_id as "nodeId", address from deciding_node
     where until_ns >= ${CLOCK_NS} and until_ns <= ${CLOCK_NS} + 2 * $1::bigint`,
    [BigInt(leaseMs) * NS_PER_MS],
  );
  return row;
}

/** Takes the lease if it is free, or renews it. */
export async function holdDecidingLease(
  database: Queryable,
  { nodeId, address }: DecidingNode,
  leaseMs: number,
): Promise<boolean> {
  const rows = await database.query(
    `insert into deciding_node as d (node_id, address, until_ns) values ($1, $2, ${CLOCK_NS} + $3::bigint)
     on conflict (only_row) do update
     set node_id = excluded.node_id, address = excluded.address, until_ns = excluded.until_ns
     where d.node_id = excluded.node_id or d.until_ns < ${CLOCK_NS} or d.until_ns > ${CLOCK_NS} + 2 * $3::bigint
     returning node_id`,
    [nodeId, address, BigInt(leaseMs) * NS_PER_MS],
  );
  return rows.length > 0;
}

export async function endDecidingLease(database: Queryable, nodeId: string): Promise<void> {
  await database.query('update deciding_node set until_ns = 0 where node_id = $1', [nodeId]);
}
