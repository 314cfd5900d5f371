import type { Database } from '../../src/database/database.ts';
import { unpackEvents } from '../../src/events/pack.ts';

/**
 * What was written to the database, row by row, from its own log (logical decoding). Unlike counts or hashes of the tables,
 * this costs nothing for rows that stay as they are, and misses nothing: also a row that was written and deleted again is in
 * it. Transactions that were rolled back are not.
 */
export type Written = {
  readonly table: string;
  readonly verb: string;
  /** The columns with their values. */
  readonly row: string;
};

export type WriteLog = {
  /** Everything that was committed since the last call. */
  take(): Promise<Written[]>;
};

const SLOT = 'hostile';

/** The server must run with `wal_level = logical`. */
export async function openWriteLog(database: Database): Promise<WriteLog> {
  await database.query(`select pg_create_logical_replication_slot('${SLOT}', 'test_decoding')`);
  return {
    async take() {
      const rows = await database.query<{ data: string }>(
        `select data from pg_logical_slot_get_changes('${SLOT}', null, null, 'include-xids', '0', 'skip-empty-xacts', '1')`,
      );
      return decodeChanges(rows.map(({ data }) => data));
    },
  };
}

export function decodeChanges(lines: readonly string[]): Written[] {
  return lines
    .filter((line) => line.startsWith('table '))
    .map((line) => {
      const [, table, verb, row] = /^table public\.([^:]+): ([A-Z]+): (.*)$/s.exec(line) ?? [];
      if (table === undefined) throw new Error(`the log of the database has the line ${line.slice(0, 200)}`);
      return { table, verb: verb!, row: row! };
    });
}

/**
 * Written by background work whatever requests do, with the reason. Everything else has to be explained by a request that
 * was accepted.
 */
export const BACKGROUND: Readonly<Record<string, string>> = {
  'event_groups UPDATE':
    'the sequencer gives committed events their positions, and erases deleted personal data',
  'event_sequence UPDATE': 'the sequencer counts the positions',
  'event_marks INSERT': 'the sequencer marks the feed once a minute',
  'event_erasures DELETE': 'personal data of a deleted account has been erased from its events',
  'system_deltas DELETE': 'changes of the accounts of the service are added up',
  'system_balances INSERT': 'changes of the accounts of the service are added up',
  'system_balances UPDATE': 'changes of the accounts of the service are added up',
  'sealing_progress INSERT': 'rows of earlier releases are sealed',
  'sealing_progress UPDATE': 'rows of earlier releases are sealed',
  'audit_checkpoints INSERT': 'the audit continues from its last checkpoint',
  'webhook_progress UPDATE': 'the dispatcher moves along the feed',
  'webhook_deliveries UPDATE': 'the dispatcher records attempts and retries',
  'webhook_deliveries DELETE': 'deliveries of deleted endpoints are removed once a minute',
  'reconciled_accounts UPDATE': 'what the ledger has booked since is copied when somebody looks',
  'reconciliation_items INSERT': 'what the ledger has booked since is copied when somebody looks',
  'reconciliation_references INSERT': 'with their references',
  'reconciliation_items UPDATE': 'copied items are matched',
  'reconciliation_matches INSERT': 'copied items are matched',
  'fiat_account_views INSERT': 'an operator who reads an account leaves a record',
  'used_assertions DELETE': 'expired assertions are deleted',
  'revoked_tokens DELETE': 'expired tokens are deleted',
};

/**
 * Written some time after a request that was accepted: the dispatcher reads the feed for an endpoint that was created, changed
 * or replayed. Whether a refused request writes them is found out by repeating it.
 */
const LATER: ReadonlySet<string> = new Set(['webhook_deliveries INSERT']);

export const isLater = (written: readonly Written[]): boolean =>
  written.every(({ table, verb }) => LATER.has(`${table} ${verb}`));

/**
 * The audit log gets refused attempts at privileged actions a moment after the answer. Such a group has no events, and no record of
 * anything but refused attempts.
 */
export function isRefusedAttempt({ table, verb, row }: Written): boolean {
  if (table !== 'event_groups' || verb !== 'INSERT' || !/(^| )lines\[integer\]:0 /.test(row)) return false;
  const [, hex = ''] = /(?:^| )records\[bytea\]:'\\x([0-9a-f]*)'/.exec(row) ?? [];
  const records = [...unpackEvents(Buffer.from(hex, 'hex'))];
  return records.length > 0 && records.every(({ type }) => type.endsWith('.refused'));
}

/** What only a request can have written. */
export function byRequests(written: readonly Written[]): Written[] {
  return written.filter(
    (one) => BACKGROUND[`${one.table} ${one.verb}`] === undefined && !isRefusedAttempt(one),
  );
}

export function describeWrites(written: readonly Written[]): string {
  const shown = written.slice(0, 5).map(({ table, verb, row }) => `${verb} ${table} ${row.slice(0, 200)}`);
  return [
    ...shown,
    ...(written.length > shown.length ? [`and ${written.length - shown.length} more`] : []),
  ].join('; ');
}
