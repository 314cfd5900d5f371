/** What a failed statement means for whoever sent it. */
export type Failure =
  /**
   * The database cannot be used at the moment: the connection is lost or was refused, the server is read-only, shutting
   * down, or out of disk or memory. The work itself is not at fault. If the connection is lost, a commit is in doubt.
   */
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

/** The server did not answer in time, and its connection was given up. */
export class NoAnswer extends Error {
  constructor() {
    super('the server does not answer');
    this.name = 'NoAnswer';
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
/**
 * Out of resources (53: disk, memory, connections), stopped by an operator (57P), errors of the system below (58), and a
 * server that takes no writes (25006: a standby, or one that was set read-only).
 */
const UNAVAILABLE = /^(53|57P|58|25006)/;

export function failureOf(error: unknown): Failure {
  if (error instanceof DatabaseAway) return 'away';
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code !== 'string') return 'rejected';
  if (CONFLICTS.has(code)) return 'conflict';
  if (STUCK.has(code)) return 'stuck';
  return UNAVAILABLE.test(code) ? 'away' : 'rejected';
}
