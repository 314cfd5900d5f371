/** What a failed statement means for its caller. */
export type Failure =
  /**
   * The database cannot be used at the moment: the connection is lost or was refused, or the server is read-only, shutting
   * down, or out of disk or memory. The work itself is not at fault. If the connection was lost during a commit, the
   * outcome of that commit is unknown.
   */
  | 'unavailable'
  /** The server rolled the transaction back because of a concurrent one. An immediate retry may succeed. */
  | 'conflict'
  /** A lock or a statement timed out: another transaction holds a row for longer than any batch does. */
  | 'timeout'
  /** The server rejected the work itself, or it is a bug. A retry fails in the same way. */
  | 'rejected';

export class DatabaseUnavailable extends Error {
  /** The log prints the cause after the message, so the message does not repeat it. */
  constructor(cause: unknown) {
    super('the database is unavailable', {
      cause: cause instanceof DatabaseUnavailable ? cause.cause : cause,
    });
    this.name = 'DatabaseUnavailable';
  }
}

/** The server did not answer in time, and the connection was closed. */
export class NoAnswer extends Error {
  constructor() {
    super('the server does not answer');
    this.name = 'NoAnswer';
  }
}

/**
 * Another node changed a row between this node's read and its write. When the write of a table throws this, the batch is
 * retried on the current rows, as after a serialization failure of the server, whose code it carries.
 */
export class StaleRead extends Error {
  readonly code = '40001';

  constructor(what: string) {
    super(`${what} changed between reading and writing`);
    this.name = 'StaleRead';
  }
}

const CONFLICTS = new Set(['40001', '40P01']);
const TIMEOUTS = new Set(['55P03', '57014']);
/**
 * Out of resources (53: disk, memory, connections), stopped by an operator (57P), system errors (58), and a server that
 * accepts no writes (25006: a standby, or a server that was set read-only).
 */
const UNAVAILABLE = /^(53|57P|58|25006)/;

export function failureOf(error: unknown): Failure {
  if (error instanceof DatabaseUnavailable) return 'unavailable';
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code !== 'string') return 'rejected';
  if (CONFLICTS.has(code)) return 'conflict';
  if (TIMEOUTS.has(code)) return 'timeout';
  return UNAVAILABLE.test(code) ? 'unavailable' : 'rejected';
}
