/** What a failed statement means for whoever sent it. */
export type Failure =
  /** The connection is gone or was never there: the database is away. A commit under way is in doubt. */
  | 'away'
  /** The server undid the transaction for reasons of timing; the same work may succeed at once. */
  | 'conflict'
  /** A lock or a statement took too long: somebody holds a row for longer than batches ever do. */
  | 'stuck'
  /** The server refused the work itself; it will refuse it again. */
  | 'rejected';

const CONFLICTS = new Set(['40001', '40P01']);
const STUCK = new Set(['55P03', '57014']);
/** Server codes that end the connection: shutdown, crash of another backend, start-up, too many connections. */
const ENDS_CONNECTION = /^(08...|57P0.|53300|25P03|25P04)$/;

export function failureOf(error: unknown): Failure {
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code !== 'string') return 'rejected';
  if (CONFLICTS.has(code)) return 'conflict';
  if (STUCK.has(code)) return 'stuck';
  // SQLSTATEs have five characters; the driver's and the socket's own codes have names.
  if (code.length !== 5 || ENDS_CONNECTION.test(code) || code === 'EPIPE') return 'away';
  return 'rejected';
}
