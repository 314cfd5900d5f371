import type { Queryable } from './queryable.ts';

/** Every advisory lock of the service. The numbers are arbitrary, but must be distinct. */
export const ADVISORY_LOCKS = {
  /** Nodes that start together migrate once. */
  migrations: 7_177_001,
  /** Shared by every connection that may write; exclusive for a migration that older releases cannot run on. */
  schema: 7_177_007,
  /** On the embedded server: held by the one service that uses its data directory. */
  dataDirectory: 7_177_002,
  /** On the embedded server: shared by all processes that use it. The process that gets it exclusively is the last user. */
  embeddedUsers: 7_177_005,
  /** Nodes that start together on a new sandbox seed it once. */
  demoData: 7_177_003,
  /** Changes of the signing key run one at a time. */
  signingKeys: 7_177_004,
  /** Nodes that start together on a new database create one data key; rewrapping goes one after the other. */
  dataKeys: 7_177_008,
  /** Batches with journal entries commit one after another, so that each sees what earlier ones corrected. */
  journal: 7_177_009,
  /** With a hash: withdrawals that could together exceed a limit commit one after another. */
  policyMeters: 7_177_010,
  /** Freezes are made and lifted one after another. */
  freezes: 7_177_011,
  /** Policies are changed one after another. */
  policyChanges: 7_177_012,
  /** One background audit at a time. */
  audit: 7_177_006,
  /** Held by the leader, the node that finds the settlements that windows, other nodes or a crash left to do. */
  settlementLead: 7_177_050,
} as const;

/** For the session. False if another session holds it. */
export async function tryAdvisoryLock(connection: Queryable, lock: number): Promise<boolean> {
  const [row] = await connection.query<{ locked: boolean }>(`select pg_try_advisory_lock(${lock}) as locked`);
  return row!.locked;
}
