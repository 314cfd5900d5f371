/** What a failed statement means for whoever sent it. */
export type Failure =
  /** The connection is gone or was never there: the database is away. A commit under way is in doubt. */
  | 'away'
  /** The server undid the transaction for reasons of timing; the same work may succeed at once. */
  | 'conflict'
  /** A lock or a statement took too long: somebody holds a row for longer than batches ever do. */
  | 'stuck'
  /** The server refused the work itself, or the fault is ours; it will be so again. */
  | 'rejected';

export class DatabaseAway extends Error {
  /** What happened is the cause, which the log shows behind the message: in both, it would stand there twice. */
  constructor(cause: unknown) {
    super('the database is away', { cause: cause instanceof DatabaseAway ? cause.cause : cause });
    this.name = 'DatabaseAway';
  }
}

/**
 * What was read is no longer so: another node changed it before this one wrote. Thrown by a table's write, it makes
 * the batch start anew on what is there now, as a serialization failure of the server would, whose code it carries.
 */
export class StaleRead extends Error {
  readonly code = '40001';

  constructor(what: string) {
    super(`${what} changed between reading and writing`);
    this.name = 'StaleRead';
  }
}

const CONFLICTS = new Set(['40001', '40P01']);
const STUCK = new Set(['55P03', '57014']);

export function failureOf(error: unknown): Failure {
  if (error instanceof DatabaseAway) return 'away';
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code !== 'string') return 'rejected';
  if (CONFLICTS.has(code)) return 'conflict';
  return STUCK.has(code) ? 'stuck' : 'rejected';
}
